//! The syntax of SGF: bytes as branches and nodes.

use std::borrow::Cow;

use anyhow::{Result, bail};

use crate::input::encoding::decode;

/// The properties of a node: names, with their values as stored.
pub(super) type Node = Vec<(String, Vec<Vec<u8>>)>;

/// A syntactic element of a file.
pub(super) enum SgfStep {
    Open,
    Close,
    Node(Node),
}

/// Decodes a file by the encoding that it names, or by the one in which it has most moves: the
/// second byte of a Chinese character may look like a bracket.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    let named = bytes.windows(3).position(|part| part == b"CA[");
    let label = named.and_then(|at| bytes[at + 3..].split(|byte| *byte == b']').next());
    let is_move = |(name, _): &&(String, Vec<Vec<u8>>)| matches!(name.as_str(), "B" | "W");
    let moves = |step: &SgfStep| match step {
        SgfStep::Node(node) => node.iter().filter(is_move).count(),
        _ => 0,
    };
    decode(bytes, label, |text| {
        let steps = steps(text.as_bytes());
        steps.map_or(0, |(steps, _)| steps.iter().map(moves).sum())
    })
}

/// Splits a file into its elements, from the first game on. Branches left open are closed at the
/// end, and the result says so.
pub(super) fn steps(bytes: &[u8]) -> Result<(Vec<SgfStep>, bool)> {
    let (mut steps, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    let Some(begin) = bytes.iter().position(|byte| *byte == b'(') else {
        bail!("it has no game of SGF")
    };
    at += begin;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'(' => {
                depth += 1;
                steps.push(SgfStep::Open);
            }
            b')' if depth > 0 => {
                depth -= 1;
                steps.push(SgfStep::Close);
            }
            b';' if depth > 0 => {
                let (node, end) = node(bytes, at);
                steps.push(SgfStep::Node(node));
                at = end;
            }
            _ => {}
        }
    }
    steps.extend((0..depth).map(|_| SgfStep::Close));
    Ok((steps, depth > 0))
}

/// Reads a node after its semicolon. Returns the node and its end.
fn node(bytes: &[u8], mut at: usize) -> (Node, usize) {
    let mut node: Node = Vec::new();
    let mut name = String::new();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' | b')' | b';' => break,
            b'[' => {
                // A truncated value may have another meaning than the whole one.
                let Some((value, end)) = value(bytes, at + 1) else {
                    return (node, bytes.len());
                };
                if !name.is_empty() {
                    node.push((std::mem::take(&mut name), Vec::new()));
                }
                if let Some((_, values)) = node.last_mut() {
                    values.push(value);
                }
                at = end;
                continue;
            }
            byte if byte.is_ascii_uppercase() => name.push(char::from(byte)),
            // A bracket behind a value is one too many.
            _ => {}
        }
        at += 1;
    }
    (node, at)
}

/// Reads a value in brackets. Returns the value and its end, or `None` if the bracket stays open.
/// Some programs write brackets in a text without a mark: `PB[Anna[3d]]`.
fn value(bytes: &[u8], mut at: usize) -> Option<(Vec<u8>, usize)> {
    let (mut value, mut inner) = (Vec::new(), 0_usize);
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        match byte {
            b']' if is_end(&bytes[at..]) || inner == 0 && !is_text(&bytes[at..]) => {
                return Some((value, at));
            }
            b'\\' => {
                value.push(*bytes.get(at)?);
                at += 1;
                continue;
            }
            b'[' => inner += 1,
            b']' => inner = inner.saturating_sub(1),
            _ => {}
        }
        value.push(byte);
    }
}

/// Whether the bytes behind a bracket go on with the next value, property, node or branch.
fn is_end(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic());
    let name = &rest[..letters.count()];
    match rest.get(name.len()) {
        None => true,
        Some(b'[') => name.is_empty() || name.iter().any(u8::is_ascii_uppercase),
        Some(byte) => name.is_empty() && b";()".contains(byte),
    }
}

/// Whether text of the same value stands behind a bracket: more than another bracket.
fn is_text(rest: &[u8]) -> bool {
    let next = rest.iter().position(|byte| b"[]".contains(byte));
    next.is_some_and(|next| next > 0)
}
