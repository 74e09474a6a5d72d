use std::collections::HashMap;
use std::fmt::Display;
use std::io::{BufRead, Read};
use std::str::FromStr;

use kagetsu_game::{Claim, Game, Move, Packed, Position, Score, Symmetry, Variant, with_game};

use crate::TreeFault;
use crate::tree::{MAGIC, Node, Reference, Tree};

/// Bytes of the longest line that is read.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// A line reader that counts.
struct LineReader<'a> {
    source: &'a mut dyn BufRead,
    line: String,
    number: u64,
}

impl LineReader<'_> {
    /// Reads the next line and returns it without its end.
    fn next(&mut self) -> Result<&str, TreeFault> {
        self.number += 1;
        self.line.clear();
        let read = Read::take(&mut *self.source, MAX_LINE_BYTES).read_line(&mut self.line);
        match read {
            Err(error) => Err(TreeFault::unreadable(self.number, &error)),
            Ok(0) => Err(self.wrong("the file ends here, before its tree does")),
            Ok(_) if !self.line.ends_with('\n') => Err(TreeFault::at(
                self.number,
                "the line does not end: the file was cut off, or is none of ours",
            )),
            Ok(_) => {
                self.line.pop();
                Ok(&self.line)
            }
        }
    }

    /// Reads the next line and returns the rest after its first word.
    fn after(&mut self, word: &str) -> Result<&str, TreeFault> {
        self.next()?;
        self.rest(word)
    }

    fn rest(&self, word: &str) -> Result<&str, TreeFault> {
        let rest = match self.line.strip_prefix(word) {
            Some("") => Some(""),
            Some(rest) => rest.strip_prefix(' ').filter(|rest| !rest.is_empty()),
            None => None,
        };
        rest.ok_or_else(|| self.wrong(format!("'{word}', a blank and a value are expected")))
    }

    fn wrong(&self, what: impl Display) -> TreeFault {
        TreeFault::at(self.number, what.to_string())
    }
}

impl Tree {
    /// Reads a tree from text.
    ///
    /// # Errors
    /// The first wrong line: not a node, or a reference to a later node, or a node that no other
    /// refers to.
    pub fn read(source: &mut dyn BufRead) -> Result<Self, TreeFault> {
        let mut lines = LineReader {
            source,
            line: String::new(),
            number: 0,
        };
        if lines.next()? != MAGIC {
            return Err(lines.wrong(format!(
                "a win tree begins with '{MAGIC}'; this is none, or of a newer version"
            )));
        }
        let text = lines.after("variant")?.to_owned();
        let variant: Variant = text.parse().map_err(|error| lines.wrong(error))?;
        if variant.to_string() != text {
            return Err(lines.wrong(format!("the variant is written {variant}")));
        }
        let position = read_position(&mut lines, variant)?;
        let (claim, plies) = read_claim(&mut lines)?;
        let mut reader = NodeReader {
            position,
            nodes: Vec::new(),
            is_used: Vec::new(),
            moves: HashMap::new(),
        };
        let first_line = lines.number + 1;
        loop {
            lines.next()?;
            if lines.line.starts_with("end") {
                let count = lines.rest("end")?;
                let nodes = reader.nodes.len();
                if read_number(count) != Some(nodes) {
                    return Err(lines.wrong(format!("there are {nodes} nodes, not {count}")));
                }
                break;
            }
            let read = reader.read_node(&lines.line);
            reader.add(read.map_err(|what| lines.wrong(what))?);
        }
        if !lines.source.fill_buf().is_ok_and(<[u8]>::is_empty) {
            return Err(TreeFault::at(
                lines.number + 1,
                "the tree has ended, but the file goes on",
            ));
        }
        let referred = reader.is_used.split_last();
        let unused = referred.and_then(|(_, used)| used.iter().position(|is_used| !is_used));
        if let Some(at) = unused {
            return Err(TreeFault::at(
                first_line + at as u64,
                format!("no node refers to node {}", at + 1),
            ));
        }
        match reader.nodes.last() {
            None => Err(TreeFault::at(first_line, "a tree has at least one node")),
            Some(root) if root.at.is_some() != (claim == Claim::Win) => {
                let last = first_line + reader.nodes.len() as u64 - 1;
                Err(TreeFault::at(
                    last,
                    "the root has a move where a win is claimed, and '-' where a loss is",
                ))
            }
            Some(_) => Ok(Self {
                position: reader.position,
                claim,
                plies,
                nodes: reader.nodes,
                first_line,
            }),
        }
    }
}

fn read_position(lines: &mut LineReader, variant: Variant) -> Result<Position, TreeFault> {
    lines.next()?;
    let start = match lines.rest("setup") {
        Err(_) => Position::start(variant),
        Ok(hex) => {
            let packed = from_hex(hex).ok_or_else(|| {
                lines.wrong("a setup is bytes as two hex digits each, in lower case")
            })?;
            let start =
                Position::unpack(variant, Packed(packed)).map_err(|error| lines.wrong(error))?;
            lines.next()?;
            start
        }
    };
    let moves = lines.rest("position")?;
    let moves = moves.split(' ').filter(|_| !moves.is_empty());
    moves.into_iter().try_fold(start, |position, text| {
        let m = read_move(variant, text).map_err(|what| lines.wrong(what))?;
        position.play(m).map_err(|error| lines.wrong(error))
    })
}

/// Reads a move as it is written: in lower case, and without leading zeros.
fn read_move(variant: Variant, text: &str) -> Result<Move, String> {
    let m = with_game!(variant, G => G::start(variant).parse_move(text))
        .map_err(|error| error.to_string())?;
    let written = with_game!(variant, G => G::write_move(variant, m));
    if written == text {
        Ok(m)
    } else {
        Err(format!("'{text}' is written {written}"))
    }
}

/// Reads a number without sign or leading zeros.
fn read_number<N: FromStr>(text: &str) -> Option<N> {
    let is_plain = text.bytes().all(|digit| digit.is_ascii_digit());
    let is_short = text == "0" || !text.starts_with('0');
    (is_plain && is_short).then(|| text.parse().ok())?
}

fn read_claim(lines: &mut LineReader) -> Result<(Claim, u16), TreeFault> {
    let text = lines.after("claim")?;
    let claim = match text.split_once(' ') {
        Some(("win", plies)) => read_number(plies).map(|plies| (Claim::Win, plies)),
        Some(("loss", plies)) => read_number(plies).map(|plies| (Claim::Loss, plies)),
        _ => None,
    };
    let claim = claim.filter(|(_, plies)| *plies <= Score::MAX_PLIES);
    claim.ok_or_else(|| {
        lines.wrong(format!(
            "a claim is 'win' or 'loss' and at most {} plies",
            Score::MAX_PLIES
        ))
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'f' => char::from(byte).to_digit(16),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? << 4 | digit(*low)?) as u8);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

struct NodeReader {
    position: Position,
    nodes: Vec<Node>,
    is_used: Vec<bool>,
    /// The moves that were read, by their text.
    moves: HashMap<String, Move>,
}

impl NodeReader {
    fn add(&mut self, node: Node) {
        node.references()
            .for_each(|next| self.is_used[next.node as usize] = true);
        self.nodes.push(node);
        self.is_used.push(false);
    }

    /// Reads a node, as in `12 h8 g7,g9>3 i9>4/2 *>11`.
    fn read_node(&mut self, line: &str) -> Result<Node, String> {
        let mut words = line.split(' ');
        let number = words.next().unwrap_or_default();
        let expected = self.nodes.len() + 1;
        if read_number(number) != Some(expected) {
            return Err(format!("node {expected} is expected, not '{number}'"));
        }
        let at = match words.next() {
            None => return Err("a node has a move".into()),
            Some("-") => None,
            Some(text) => Some(self.read_move(text)?),
        };
        let mut node = Node {
            at,
            ..Node::default()
        };
        for word in words {
            let (moves, next) = word
                .split_once('>')
                .ok_or_else(|| format!("'{word}' is no answer, as in g7,g9>3 or *>11"))?;
            let next = self.read_reference(next)?;
            if moves == "*" {
                if node.otherwise.replace(next).is_some() {
                    return Err("two answers to all other replies".into());
                }
                continue;
            }
            for text in moves.split(',') {
                node.replies.push((self.read_move(text)?, next));
            }
        }
        node.replies.sort_unstable();
        if let Some(pair) = node.replies.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let m = self.position.write_move(pair[0].0);
            return Err(format!("two answers to {m}"));
        }
        Ok(node)
    }

    fn read_move(&mut self, text: &str) -> Result<Move, String> {
        if let Some(known) = self.moves.get(text) {
            return Ok(*known);
        }
        let m = read_move(self.position.variant(), text)?;
        self.moves.insert(text.into(), m);
        Ok(m)
    }

    fn read_reference(&self, text: &str) -> Result<Reference, String> {
        let (node, turn) = match text.split_once('/') {
            Some((node, turn)) => (node, Some(turn)),
            None => (text, None),
        };
        let number: Option<usize> =
            read_number(node).filter(|number| (1..=self.nodes.len()).contains(number));
        let number = number.ok_or_else(|| format!("'{node}' is no node before this one"))?;
        if self.nodes[number - 1].at.is_none() {
            return Err(format!("node {number} has no move"));
        }
        let variant = self.position.variant();
        let turns = variant.symmetries().filter(|_| variant.is_square());
        let turns = turns.count().max(1);
        let turn: Option<u8> = match turn {
            Some(turn) => read_number(turn).filter(|turn| (1..turns).contains(&usize::from(*turn))),
            None => Some(0),
        };
        let turn = turn.ok_or_else(|| format!("'{text}': the game has no such symmetry"))?;
        Ok(Reference {
            node: number as u32 - 1,
            turn: Symmetry::new(turn),
        })
    }
}
