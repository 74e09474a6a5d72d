//! The bytes of RenLib's library files (`.lib`): a tree of moves, with texts at its nodes.
//!
//! A node is a point and flags, as RenLib 3.4 reads them. The nodes stand in pre-order; flags mark
//! the end of a branch, and a node that has a sibling.

use anyhow::{Result, bail};
use encoding_rs::GB18030;

const MAGIC: [u8; 8] = *b"\xffRenLib\xff";
const HEADER: usize = 20;
/// The board size of a library.
pub(crate) const SIZE: usize = 15;

const DOWN: u8 = 0x80;
const RIGHT: u8 = 0x40;
const OLD_COMMENT: u8 = 0x20;
const MARK: u8 = 0x10;
const COMMENT: u8 = 0x08;
const NO_MOVE: u8 = 0x02;
const EXTENSION: u8 = 0x01;
/// A flag in the first of the two bytes of an extension.
const BOARD_TEXT: u8 = 0x01;

/// A node of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LibraryNode {
    /// Cell `row * 15 + column` from the lower left; `None` for the root, and for a pass.
    pub(crate) cell: Option<u16>,
    /// Index of the parent node; the root has none.
    pub(crate) parent: Option<usize>,
    /// Whether the node is a move.
    pub(crate) is_move: bool,
    pub(crate) is_marked: bool,
    /// The comment as stored; the file does not name its encoding.
    pub(crate) comment: Vec<u8>,
    pub(crate) board_text: Vec<u8>,
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Library {
    /// The nodes, beginning with a root, even where the file has none.
    pub(crate) nodes: Vec<LibraryNode>,
    pub(crate) has_root: bool,
    /// Whether the file ends before the tree does: nodes, or a part of the last text, are missing.
    pub(crate) is_cut: bool,
    /// The number of unknown bytes after the tree.
    pub(crate) behind: u64,
}

/// Reads the tree of a file, up to the point where a truncated file ends.
///
/// # Errors
/// If the file is no library, or a point is off the board.
pub(crate) fn read(bytes: &[u8]) -> Result<Library> {
    let is_headed = bytes.starts_with(&MAGIC);
    if !is_headed && bytes.first() != Some(&0x78) {
        bail!("it does not begin as a library of RenLib does");
    }
    if is_headed && bytes.len() < HEADER {
        bail!("its header is cut off");
    }
    if let [major, minor] = bytes[8.min(bytes.len())..]
        .get(..2)
        .filter(|_| is_headed)
        .unwrap_or(&[3, 0])
        && 100 * u32::from(*major) + u32::from(*minor) > 304
    {
        bail!("it has version {major}.{minor} of the format; 3.4 is the latest that is known");
    }
    let mut rest = if is_headed { &bytes[HEADER..] } else { bytes };
    let mut nodes = vec![LibraryNode::default()];
    let (mut at, mut waiting) = (0, Vec::new());
    let (mut is_first, mut has_root) = (true, false);
    // A file without nodes is complete.
    let mut is_cut = !rest.is_empty();
    // RenLib saves a position as a line without an end.
    let mut is_line = true;
    while let [point, flags, after @ ..] = rest {
        let place = bytes.len() - rest.len();
        rest = after;
        (is_cut, is_line) = (true, is_line && flags & RIGHT == 0);
        let mut node = LibraryNode {
            parent: Some(at),
            is_move: flags & NO_MOVE == 0,
            ..LibraryNode::default()
        };
        node.is_marked = flags & MARK != 0;
        let (column, row) = (usize::from(point & 15), usize::from(point >> 4));
        if *point != 0 {
            if column == 0 || row >= SIZE {
                bail!("byte {place}: the point {point:#04x} is off the board of 15x15");
            }
            node.cell = Some(((SIZE - 1 - row) * SIZE + column - 1) as u16);
        }
        let mut has_text = false;
        if flags & EXTENSION != 0 {
            let Some(([_, low], after)) = rest.split_first_chunk() else {
                is_line = false;
                break;
            };
            has_text = low & BOARD_TEXT != 0;
            rest = after;
        }
        let mut is_whole = true;
        if flags & OLD_COMMENT != 0 {
            (node.comment, is_whole) = old_text(&mut rest);
        } else if flags & COMMENT != 0 {
            (node.comment, is_whole) = text(&mut rest);
        }
        if has_text && is_whole {
            (node.board_text, is_whole) = text(&mut rest);
            // Half a text may mean something else than the whole.
            node.board_text
                .truncate(if is_whole { usize::MAX } else { 0 });
        }
        is_line &= is_whole;
        // A point of zero at the beginning is the root, in all versions.
        if is_first && *point == 0 {
            nodes[0] = LibraryNode {
                parent: None,
                ..node
            };
            (at, has_root) = (0, true);
        } else {
            nodes.push(node);
            at = nodes.len() - 1;
        }
        is_first = false;
        if flags & DOWN != 0 {
            waiting.push(at);
        }
        if flags & RIGHT != 0 {
            let Some(next) = waiting.pop() else {
                is_cut = !is_whole;
                break;
            };
            at = nodes[next].parent.unwrap_or(0);
        }
    }
    is_cut &= !is_line || !rest.is_empty();
    let behind = if is_cut { 0 } else { rest.len() as u64 };
    Ok(Library {
        nodes,
        has_root,
        is_cut,
        behind,
    })
}

/// Reads pairs of bytes up to one with a zero. Returns whether there is one.
fn text(rest: &mut &[u8]) -> (Vec<u8>, bool) {
    let mut text = Vec::new();
    while let [first, second, after @ ..] = *rest {
        *rest = after;
        if *first == 0 {
            return (text, true);
        }
        text.push(*first);
        if *second == 0 {
            return (text, true);
        }
        text.push(*second);
    }
    (text, false)
}

/// Reads bytes up to one with bit 7, padded to an even number. Returns whether there is one.
fn old_text(rest: &mut &[u8]) -> (Vec<u8>, bool) {
    let last = rest.iter().position(|byte| byte & 0x80 != 0);
    let end = last.map_or(rest.len(), |last| last + 1);
    let text = rest[..end].iter().map(|byte| byte & 0x7f).collect();
    *rest = rest.get(end + end % 2..).unwrap_or_default();
    (text, last.is_some())
}

/// A node to write, with its children in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LibraryBranch {
    /// The cell; none for the root, and for a pass.
    pub(crate) cell: Option<u16>,
    pub(crate) is_marked: bool,
    pub(crate) comment: String,
    pub(crate) board_text: String,
    pub(crate) children: Vec<usize>,
}

/// Writes a tree. The first branch is the root. Chinese texts are in GB18030, as the program has
/// them in China, and others in UTF-8.
pub(crate) fn write(branches: &[LibraryBranch]) -> Vec<u8> {
    let texts = || {
        branches
            .iter()
            .flat_map(|branch| [&branch.comment, &branch.board_text])
    };
    let has = |from: char, to: char| {
        let is_one = move |letter: char| (from..=to).contains(&letter);
        texts().any(|text| text.contains(is_one))
    };
    let is_chinese = has('\u{4e00}', '\u{9fff}') && !has('\u{3040}', '\u{30ff}');
    let encoded = |text: &str| match is_chinese {
        true => GB18030.encode(text).0.into_owned(),
        false => text.as_bytes().to_vec(),
    };
    let mut bytes = [&MAGIC[..], &[3, 4], &[0xff; 10]].concat();
    let mut left = vec![(0, false)];
    while let Some((number, is_followed)) = left.pop() {
        let branch = &branches[number];
        let point = branch.cell.map_or(0, |cell| {
            let (column, row) = (usize::from(cell) % SIZE, usize::from(cell) / SIZE);
            ((SIZE - 1 - row) << 4 | (column + 1)) as u8
        });
        let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        let flags = flag(DOWN, is_followed)
            | flag(RIGHT, branch.children.is_empty())
            | flag(MARK, branch.is_marked)
            | flag(COMMENT, !branch.comment.is_empty())
            | flag(EXTENSION, !branch.board_text.is_empty());
        bytes.extend([point, flags]);
        if !branch.board_text.is_empty() {
            bytes.extend([0, BOARD_TEXT]);
        }
        for text in [&branch.comment, &branch.board_text] {
            if !text.is_empty() {
                let mut text = encoded(text);
                text.retain(|byte| *byte != 0);
                text.extend(vec![0; 2 - text.len() % 2]);
                bytes.extend(text);
            }
        }
        let last = branch.children.last();
        left.extend(
            branch
                .children
                .iter()
                .rev()
                .map(|child| (*child, Some(child) != last)),
        );
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns trees; each branch after the root hangs on an earlier one.
    fn trees() -> impl Strategy<Value = Vec<LibraryBranch>> {
        let node = (
            any::<prop::sample::Index>(),
            proptest::option::weighted(0.9, 0u16..225),
            "[a-z]{0,5}",
            "[A-Z]{0,4}",
        );
        proptest::collection::vec(node, 0..40).prop_map(|nodes| {
            let mut branches = vec![LibraryBranch::default()];
            for (parent, cell, comment, board_text) in nodes {
                let (parent, number) = (parent.index(branches.len()), branches.len());
                branches[parent].children.push(number);
                branches.push(LibraryBranch {
                    cell,
                    is_marked: cell.is_some_and(|cell| cell % 3 == 0),
                    comment,
                    board_text,
                    children: Vec::new(),
                });
            }
            branches
        })
    }

    /// Returns the nodes in the order of the file.
    fn expected(branches: &[LibraryBranch]) -> Vec<LibraryNode> {
        let (mut nodes, mut left) = (Vec::new(), vec![(0, None)]);
        while let Some((number, parent)) = left.pop() {
            let LibraryBranch {
                cell,
                is_marked,
                comment,
                board_text,
                children,
            } = &branches[number];
            nodes.push(LibraryNode {
                cell: *cell,
                parent,
                is_move: true,
                is_marked: *is_marked,
                comment: comment.as_bytes().to_vec(),
                board_text: board_text.as_bytes().to_vec(),
            });
            let at = nodes.len() - 1;
            left.extend(children.iter().rev().map(|child| (*child, Some(at))));
        }
        nodes
    }

    proptest! {
        #[test]
        fn written_files_are_read_back(branches in trees()) {
            let bytes = write(&branches);
            let whole = Library { nodes: expected(&branches), has_root: true, is_cut: false, behind: 0 };
            prop_assert_eq!(read(&bytes).expect("just written"), whole);
            for end in HEADER + 1..bytes.len() {
                let part = read(&bytes[..end]).expect("a part of it");
                // A line of moves may have been saved alone.
                let is_line = part.nodes.iter().skip(1).enumerate().all(|(at, node)| node.parent == Some(at));
                prop_assert!(part.is_cut || is_line, "{} of {} bytes", end, bytes.len());
            }
            prop_assert_eq!(read(&[&bytes[..], b"??"].concat()).expect("just written").behind, 2);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let headed = [&MAGIC[..], &[3, 4], &[0xff; 10], &bytes].concat();
            for bytes in [&bytes, &headed] {
                if let Ok(library) = read(bytes) {
                    prop_assert!(library.nodes.len() <= bytes.len() / 2 + 1);
                }
            }
        }
    }
}
