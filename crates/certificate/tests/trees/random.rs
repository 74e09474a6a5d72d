//! Random trees on small boards that are full of closed rows, against a checker that plays every
//! reply. One checker by zones sees many positions with the same stones of the winner, so that it
//! carries wins over from one to the next.

use std::fs;
use std::process::Command;

use kagetsu_certificate::{Node, ProofDag, Reference, ZoneChecker};
use kagetsu_game::gomoku::{Lines, Point, forbidden};
use kagetsu_game::{Claim, Move, Position, RuleName, Side, Symmetry, Variant};

use super::forgeries::python;
use super::text;
use super::zones::Numbers;

/// Verdicts of the test that always runs, and of the long one.
const VERDICTS: usize = 12_000;
const MANY_VERDICTS: usize = 1_000_000;

/// Rules from which boards take theirs.
pub(crate) const GOMOKU: &[RuleName] =
    &[RuleName::Freestyle, RuleName::Standard, RuleName::Standard];
const RENJU: &[RuleName] = &[RuleName::Renju];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Empty,
    Winner,
    Loser,
}

impl Cell {
    fn letter(self) -> char {
        match self {
            Self::Empty => '.',
            Self::Winner => 'X',
            Self::Loser => 'O',
        }
    }
}

/// A board, with rules of its own.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) size: usize,
    pub(crate) rule: RuleName,
    pub(crate) cells: Vec<Cell>,
}

impl Field {
    fn stones(&self, side: Cell) -> Vec<usize> {
        let points = 0..self.cells.len();
        points.filter(|at| self.cells[*at] == side).collect()
    }

    fn empty(&self) -> Vec<usize> {
        self.stones(Cell::Empty)
    }

    /// Puts a stone of the loser so many columns and rows from a point, where that is empty.
    fn put_beside(&mut self, at: usize, [right, up]: [isize; 2]) {
        let limit = 0..self.size as isize;
        let column = (at % self.size) as isize + right;
        let row = (at / self.size) as isize + up;
        if limit.contains(&column) && limit.contains(&row) {
            let cell = &mut self.cells[row as usize * self.size + column as usize];
            if *cell == Cell::Empty {
                *cell = Cell::Loser;
            }
        }
    }

    /// Whether a stone of a side on a point stands in a five.
    fn is_five(&self, at: usize, side: Cell) -> bool {
        let (column, row) = (at % self.size, at / self.size);
        [(1, 0), (0, 1), (1, 1), (1, -1)].iter().any(|(right, up)| {
            let run = |sign: isize| {
                let (mut column, mut row, mut length) = (column, row, 0);
                loop {
                    // Beyond the first line is beyond the last one, too.
                    column = column.wrapping_add_signed(sign * right);
                    row = row.wrapping_add_signed(sign * up);
                    let is_on = column < self.size && row < self.size;
                    if !is_on || self.cells[row * self.size + column] != side {
                        break length;
                    }
                    length += 1;
                }
            };
            let length = 1 + run(1) + run(-1);
            let is_exact = match self.rule {
                RuleName::Freestyle => false,
                RuleName::Renju => side == Cell::Winner,
                _ => true,
            };
            length == 5 || length > 5 && !is_exact
        })
    }

    /// Whether renju forbids the winner, who is Black, an empty point.
    fn is_forbidden(&self, at: usize) -> bool {
        if self.rule != RuleName::Renju {
            return false;
        }
        let place = |at: usize| Point::of(Move::new(at as u16), self.size as u8);
        let lines = |side: Cell| {
            let mut lines = Lines::NONE;
            let points = self.stones(side).into_iter();
            points.for_each(|at| lines.flip(place(at)));
            lines
        };
        let [black, empty] = [Cell::Winner, Cell::Empty].map(lines);
        forbidden(&black, &empty, place(at)).is_some()
    }

    pub(crate) fn has_five(&self, side: Cell) -> bool {
        let stones = self.stones(side);
        stones.into_iter().any(|at| self.is_five(at, side))
    }

    /// The empty points on which a side makes a five.
    fn fives(&self, side: Cell) -> Vec<usize> {
        let mut fives = self.empty();
        fives.retain(|at| self.is_five(*at, side));
        fives
    }

    fn with(&self, at: usize, side: Cell) -> Self {
        let mut field = self.clone();
        field.cells[at] = side;
        field
    }

    pub(crate) fn variant(&self) -> Variant {
        Variant::Gomoku {
            rule: self.rule,
            size: self.size as u8,
        }
    }

    /// The position, the winner as the first side; `None` if it is over.
    pub(crate) fn position(&self, to_move: Side) -> Option<Position> {
        let rows = self.cells.chunks(self.size).rev();
        let rows: Vec<String> = rows
            .map(|row| row.iter().map(|cell| cell.letter()).collect())
            .collect();
        let position = Position::from_board(self.variant(), &rows.join("\n"), Some(to_move));
        position
            .ok()
            .filter(|position| position.outcome().is_none())
    }
}

/// Whether a node wins for the winner, who is to move, by every reply.
pub(crate) fn wins(dag: &ProofDag, at: Reference, field: &Field) -> bool {
    let variant = field.variant();
    let node = dag.node(at.node);
    let image = |m: Move| variant.image(m, at.turn).index();
    let Some(point) = node.at.map(image) else {
        return false;
    };
    if field.cells.get(point) != Some(&Cell::Empty) {
        return false;
    }
    if field.is_five(point, Cell::Winner) {
        return true;
    }
    if field.is_forbidden(point) {
        return false;
    }
    let mut after = field.with(point, Cell::Winner);
    let replies = after.empty();
    !replies.is_empty()
        && replies.into_iter().all(|reply| {
            let named = node.replies.iter().find(|(m, _)| image(*m) == reply);
            let next = named.map_or(node.otherwise, |(_, next)| Some(*next));
            after.cells[reply] = Cell::Loser;
            let is_won = !after.is_five(reply, Cell::Loser)
                && next.is_some_and(|next| wins(dag, next.turned(at.turn), &after));
            after.cells[reply] = Cell::Empty;
            is_won
        })
}

/// Builds trees by a naive search for threats.
struct Grower<'a> {
    dag: &'a mut ProofDag,
    numbers: &'a mut Numbers,
    /// Nodes that may still be tried.
    left: usize,
}

impl Grower<'_> {
    fn add(&mut self, at: usize, named: Vec<(usize, u32)>, otherwise: Option<u32>) -> u32 {
        let reply = |(at, next): (usize, u32)| (Move::new(at as u16), Reference::to(next));
        let mut replies: Vec<_> = named.into_iter().map(reply).collect();
        replies.sort_unstable();
        self.dag.add(Node {
            at: Some(Move::new(at as u16)),
            replies,
            otherwise: otherwise.map(Reference::to),
        })
    }

    fn shuffled(&mut self, mut points: Vec<usize>) -> Vec<usize> {
        for at in (1..points.len()).rev() {
            points.swap(at, self.numbers.below(at + 1));
        }
        points
    }

    /// Wins by at most so many fours and one five.
    fn by_fours(&mut self, field: &Field, fours: usize) -> Option<u32> {
        if let Some(five) = field.fives(Cell::Winner).first() {
            return Some(self.add(*five, Vec::new(), None));
        }
        self.left = self.left.checked_sub(1)?;
        let threats = field.fives(Cell::Loser);
        let moves = match threats[..] {
            [] => self.shuffled(field.empty()),
            [only] => vec![only],
            _ => return None,
        };
        if fours == 0 {
            return None;
        }
        for at in moves {
            let after = field.with(at, Cell::Winner);
            // There was no five, so it is in a row with the stone. The loser has no five left.
            let mut fives = after.empty();
            fives.retain(|five| {
                let [right, up] = [1, field.size]
                    .map(|by| (five / by % field.size).abs_diff(at / by % field.size));
                let is_row = right == 0 || up == 0 || right == up;
                is_row && right.max(up) < 5 && after.is_five(*five, Cell::Winner)
            });
            if fives.is_empty() || field.is_forbidden(at) {
                continue;
            }
            let five = self.add(fives[0], Vec::new(), None);
            let answer = self.by_fours(&after.with(fives[0], Cell::Loser), fours - 1);
            if let Some(answer) = answer {
                return Some(self.add(at, vec![(fives[0], answer)], Some(five)));
            }
        }
        None
    }

    /// Wins by at most so many moves that are no fours, and by fours.
    fn by_quiet_moves(&mut self, field: &Field, quiet: usize) -> Option<u32> {
        if let Some(found) = self.by_fours(field, 3) {
            return Some(found);
        }
        if quiet == 0 || field.fives(Cell::Loser).len() > 1 {
            return None;
        }
        for at in self.shuffled(field.empty()).into_iter().take(6) {
            let after = field.with(at, Cell::Winner);
            if field.is_forbidden(at) || !after.fives(Cell::Loser).is_empty() {
                continue;
            }
            let Some(most) = self.by_quiet_moves(&after, quiet - 1) else {
                continue;
            };
            let mut named = Vec::new();
            let is_won = after.empty().into_iter().all(|reply| {
                let field = after.with(reply, Cell::Loser);
                wins(self.dag, Reference::to(most), &field)
                    || self
                        .by_quiet_moves(&field, quiet - 1)
                        .is_some_and(|answer| {
                            named.push((reply, answer));
                            true
                        })
            });
            if is_won && self.numbers.below(4) == 0 {
                let other = |reply: &usize| named.iter().all(|(known, _)| known != reply);
                let others: Vec<_> = after.empty().into_iter().filter(other).collect();
                named.extend(others.into_iter().map(|reply| (reply, most)));
                return Some(self.add(at, named, None));
            }
            if is_won {
                return Some(self.add(at, named, Some(most)));
            }
        }
        None
    }
}

/// A random board with many stones of the loser, mostly in rows that are closed.
fn field(numbers: &mut Numbers, rules: &[RuleName]) -> Field {
    let size = 5 + numbers.below(5);
    let mut field = Field {
        size,
        rule: rules[numbers.below(rules.len())],
        cells: vec![Cell::Empty; size * size],
    };
    for _ in 0..3 + numbers.below(4) {
        draw_row(&mut field, Cell::Winner, numbers);
    }
    for _ in 0..1 + numbers.below(5) {
        draw_row(&mut field, Cell::Loser, numbers);
    }
    // Some of the smallest boards are nearly full.
    let left = 1 + numbers.below(10);
    while size < 7 && left < 8 && field.empty().len() > left {
        let side = [Cell::Winner, Cell::Loser][numbers.below(2)];
        draw_row(&mut field, side, numbers);
    }
    field
}

/// Puts some stones of a side on a line, with gaps, over what is empty.
fn draw_row(field: &mut Field, side: Cell, numbers: &mut Numbers) {
    let size = field.size as isize;
    let (right, up) = [(1, 0), (0, 1), (1, 1), (1, -1)][numbers.below(4)];
    let (mut column, mut row) = (
        numbers.below(field.size) as isize,
        numbers.below(field.size) as isize,
    );
    let length = if side == Cell::Loser {
        2 + numbers.below(6)
    } else {
        1 + numbers.below(3)
    };
    for _ in 0..length {
        if !(0..size).contains(&column) || !(0..size).contains(&row) {
            break;
        }
        let at = (row * size + column) as usize;
        if field.cells[at] == Cell::Empty && numbers.below(8) != 0 {
            field.cells[at] = side;
        }
        (column, row) = (column + right, row + up);
    }
}

/// The board with other stones of the loser.
pub(crate) fn changed(field: &Field, numbers: &mut Numbers) -> Field {
    let mut field = field.clone();
    for _ in 0..numbers.below(4) {
        match numbers.below(6) {
            0 => draw_row(&mut field, Cell::Loser, numbers),
            // A stone gives way to others in a row with it.
            5 => {
                let stones = field.stones(Cell::Loser);
                if !stones.is_empty() {
                    let at = stones[numbers.below(stones.len())];
                    let [right, up] = [[1, 0], [0, 1], [1, 1], [1, -1]][numbers.below(4)];
                    for _ in 0..1 + numbers.below(2) {
                        let step = numbers.below(9) as isize - 4;
                        field.put_beside(at, [step * right, step * up]);
                    }
                    field.cells[at] = Cell::Empty;
                }
            }
            1 | 2 => {
                let at = numbers.below(field.cells.len());
                if field.cells[at] == Cell::Empty {
                    field.cells[at] = Cell::Loser;
                }
            }
            _ => {
                let stones = field.stones(Cell::Loser);
                if !stones.is_empty() {
                    field.cells[stones[numbers.below(stones.len())]] = Cell::Empty;
                }
            }
        }
    }
    field
}

/// A graph in which one answer of the tree is another one or is missing, or in which a stone of the
/// loser is answered.
pub(crate) fn damaged(
    dag: &ProofDag,
    root: u32,
    field: &Field,
    numbers: &mut Numbers,
) -> (ProofDag, u32) {
    let (mut new, mut moved) = (ProofDag::default(), Vec::new());
    let at = numbers.below(root as usize + 1);
    for number in 0..=root {
        let mut node = dag.node(number).clone();
        let mut turn = Symmetry::IDENTITY;
        if number as usize == at {
            let replies = node.replies.len();
            match numbers.below(6) {
                0 if replies > 0 => drop(node.replies.remove(numbers.below(replies))),
                1 if replies > 0 && number > 0 => {
                    node.replies[numbers.below(replies)].1.node =
                        numbers.below(number as usize) as u32;
                }
                2 if number > 0 => {
                    node.otherwise = Some(Reference::to(numbers.below(number as usize) as u32));
                }
                3 => turn = Symmetry::new(1 + numbers.below(7) as u8),
                4 if number > 0 => {
                    let stones = field.stones(Cell::Loser);
                    let stone = Move::new(stones[numbers.below(stones.len())] as u16);
                    let next = Reference::to(numbers.below(number as usize) as u32);
                    node.replies.retain(|(m, _)| *m != stone);
                    node.replies.push((stone, next));
                    node.replies.sort_unstable();
                }
                _ => node.otherwise = None,
            }
        }
        let follow = |next: Reference| Reference {
            node: moved[next.node as usize],
            turn: next.turn,
        };
        node.replies
            .iter_mut()
            .for_each(|(_, next)| *next = follow(*next));
        node.otherwise = node.otherwise.map(follow).map(|next| next.turned(turn));
        moved.push(new.add(node));
    }
    let root = moved[root as usize];
    (new, root)
}

/// Counts of verdicts.
#[derive(Debug, Default)]
struct Verdicts {
    won: usize,
    lost: usize,
    /// Wins that were known, so that no position was visited.
    carried: usize,
}

/// A random board and a tree that wins on it for the side to move, or nearly so.
pub(crate) fn random_tree(numbers: &mut Numbers, rules: &[RuleName]) -> (Field, ProofDag, u32) {
    loop {
        let field = field(numbers, rules);
        let is_over = field.has_five(Cell::Winner) || field.has_five(Cell::Loser);
        if is_over || field.stones(Cell::Loser).is_empty() {
            continue;
        }
        let mut dag = ProofDag::default();
        let mut grower = Grower {
            dag: &mut dag,
            numbers,
            left: 300,
        };
        let Some(root) = grower.by_quiet_moves(&field, 2) else {
            continue;
        };
        if dag.plies(root) > 3 || numbers.below(8) == 0 {
            return (field, dag, root);
        }
    }
}

fn compare(verdicts: usize, seed: u64, rules: &[RuleName]) -> Verdicts {
    let (mut numbers, mut counts) = (Numbers(seed), Verdicts::default());
    while counts.won + counts.lost < verdicts {
        let (field, dag, root) = random_tree(&mut numbers, rules);
        for way in 0..4 {
            let (dag, root) = if way == 0 {
                (dag.clone(), root)
            } else {
                damaged(&dag, root, &field, &mut numbers)
            };
            let mut zones = ZoneChecker::new(field.variant()).expect("zones");
            for _ in 0..40 {
                let field = changed(&field, &mut numbers);
                if field.has_five(Cell::Loser) {
                    continue;
                }
                let Some(position) = field.position(Side::First) else {
                    continue;
                };
                let root = Reference::to(root);
                let is_won = zones.wins(&dag, &position, root, u64::MAX);
                let expected = wins(&dag, root, &field);
                assert_eq!(is_won, expected, "seed {seed}: {}", position.draw());
                counts.carried += usize::from(is_won && zones.visited() == 0);
                *(if is_won {
                    &mut counts.won
                } else {
                    &mut counts.lost
                }) += 1;
            }
        }
    }
    counts
}

#[test]
fn zones_agree_with_every_reply_on_random_trees() {
    for rules in [GOMOKU, RENJU] {
        let counts = compare(VERDICTS, seed(30), rules);
        let Verdicts { won, lost, carried } = counts;
        assert!(
            won > VERDICTS / 10 && lost > VERDICTS / 10 && carried > VERDICTS / 20,
            "{rules:?}: {counts:?}"
        );
    }
}

#[test]
#[ignore = "takes minutes"]
fn zones_agree_on_a_million_random_trees() {
    for number in 1..=4 {
        let rules = [GOMOKU, RENJU][number as usize % 2];
        let counts = compare(MANY_VERDICTS / 4, seed(number), rules);
        println!("seed {number}, {rules:?}: {counts:?}");
    }
}

pub(crate) fn seed(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Reads trees and boards, and prints for each board whether the root wins there. All boards of a
/// tree have one checker.
const DRIVER: &str = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
import kagetsu_proof as proof
sys.setrecursionlimit(10_000)
for line in open(sys.argv[2], encoding="utf-8"):
    case = json.loads(line)
    tree = proof.Tree(iter(case["text"].splitlines(keepends=True)))
    checker, verdicts = proof.Checker(tree), []
    for board in case["boards"]:
        stones = [
            sum(1 << at for at, letter in zip(tree.board.points, board) if letter == side)
            for side in "XO"
        ]
        checker.line.clear()
        try:
            checker.node(len(tree.nodes) - 1, 0, *stones)
            verdicts.append(True)
        except proof.Fault:
            verdicts.append(False)
    print(json.dumps(verdicts))
"#;

/// A tree, and boards with the verdict of every reply.
struct Case {
    text: String,
    boards: Vec<(String, bool)>,
}

fn cases(count: usize, seed: u64, rules: &[RuleName]) -> Vec<Case> {
    let (mut numbers, mut found) = (Numbers(seed), Vec::new());
    while found.len() < count {
        let (begin, dag, root) = random_tree(&mut numbers, rules);
        let (dag, root) = if found.len().is_multiple_of(2) {
            (dag, root)
        } else {
            damaged(&dag, root, &begin, &mut numbers)
        };
        let Some(position) = begin.position(Side::First) else {
            continue;
        };
        let fields: Vec<Field> = (0..40).map(|_| changed(&begin, &mut numbers)).collect();
        let fields = fields.iter().filter(|field| !field.has_five(Cell::Loser));
        let board = |field: &Field| {
            let letters = field.cells.iter().map(|cell| cell.letter());
            (letters.collect(), wins(&dag, Reference::to(root), field))
        };
        found.push(Case {
            text: text(&dag.tree(root, position, Claim::Win)),
            boards: fields.map(board).collect(),
        });
    }
    found
}

fn check_in_python(count: usize, seed: u64, rules: &[RuleName]) {
    let Some(script) = python() else { return };
    let cases = cases(count, seed, rules);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cases");
    let line = |case: &Case| {
        let boards: Vec<_> = case
            .boards
            .iter()
            .map(|(board, _)| format!("{board:?}"))
            .collect();
        format!(
            "{{\"text\": {:?}, \"boards\": [{}]}}\n",
            case.text,
            boards.join(", ")
        )
    };
    fs::write(&path, cases.iter().map(line).collect::<String>()).expect("room");
    let output = Command::new("python3")
        .args(["-c", DRIVER])
        .arg(script.parent().expect("a folder"))
        .arg(&path)
        .output()
        .expect("python3 runs");
    let verdicts = String::from_utf8(output.stdout).expect("text");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(verdicts.lines().count(), cases.len(), "{errors}");
    let (mut won, mut lost) = (0, 0);
    for (case, verdicts) in cases.iter().zip(verdicts.lines()) {
        let known: Vec<_> = case
            .boards
            .iter()
            .map(|(_, is_won)| is_won.to_string())
            .collect();
        assert_eq!(verdicts, format!("[{}]", known.join(", ")), "{}", case.text);
        won += case.boards.iter().filter(|(_, is_won)| *is_won).count();
        lost += case.boards.iter().filter(|(_, is_won)| !is_won).count();
    }
    assert!(won > count && lost > count, "{won} won, {lost} lost");
}

#[test]
fn python_agrees_with_every_reply_on_random_trees() {
    check_in_python(50, seed(30), GOMOKU);
    check_in_python(50, seed(30), RENJU);
}

#[test]
#[ignore = "takes minutes"]
fn python_agrees_on_many_random_trees() {
    for rules in [GOMOKU, RENJU] {
        (1..=10).for_each(|number| check_in_python(1_250, seed(number), rules));
    }
}
