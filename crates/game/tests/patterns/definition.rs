//! The patterns of a line by definition alone: by what one more stone can make of them. Faster
//! classifiers are compared with this one on every window.

use std::collections::HashMap;

/// A point of a line, as one side sees it. Points beyond the edge are blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Spot {
    Own,
    Empty,
    Blocked,
}

/// The pattern that a stone belongs to on one line, in order of strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Pattern {
    /// It cannot become anything.
    Dead,
    /// One more stone makes at best a sleep two.
    SleepOne,
    /// One more stone can make an open two.
    OpenOne,
    /// One more stone makes at best a sleep three.
    SleepTwo,
    /// One more stone can make an open three.
    OpenTwo,
    /// One more stone makes at best a closed four.
    SleepThree,
    /// One more stone can make an open four.
    OpenThree,
    /// One point makes a five.
    ClosedFour,
    /// Two points make a five.
    OpenFour,
    /// A row that wins.
    Five,
}

/// Returns the length of the unbroken row through the own stone at `at`.
pub(crate) fn run(line: &[Spot], at: usize) -> usize {
    let own = |spot: &&Spot| **spot == Spot::Own;
    let up = line[at..].iter().take_while(own).count();
    let down = line[..at].iter().rev().take_while(own).count();
    up + down
}

/// Whether the four or three through `at` has a gap: `OO_OO`, `O_OO`.
pub(crate) fn is_jump(line: &[Spot], at: usize, pattern: Pattern) -> bool {
    match pattern {
        Pattern::OpenFour | Pattern::ClosedFour => run(line, at) < 4,
        Pattern::OpenThree => run(line, at) < 3,
        _ => false,
    }
}

/// Whether it forces an answer: a four or an open three.
pub(crate) fn is_initiative(pattern: Pattern) -> bool {
    pattern >= Pattern::OpenThree
}

/// Whether the patterns of a stone's four lines are a double threat: 3-3, 4-3 or 4-4.
pub(crate) fn is_killer(lines: [Pattern; 4]) -> bool {
    lines
        .into_iter()
        .filter(|&pattern| is_initiative(pattern))
        .count()
        >= 2
}

/// Whether an unbroken row of this length is a five.
pub(crate) type IsFive = fn(usize) -> bool;

/// Classifies stones, given the length of a five.
pub(crate) struct Definition {
    is_five: IsFive,
    /// Cached results.
    known: HashMap<(Vec<Spot>, usize), Pattern>,
}

impl Definition {
    pub(crate) fn new(is_five: IsFive) -> Self {
        Self {
            is_five,
            known: HashMap::new(),
        }
    }

    /// Returns the pattern of the own stone at `at`.
    pub(crate) fn pattern(&mut self, line: &[Spot], at: usize) -> Pattern {
        assert_eq!(line[at], Spot::Own, "only a stone is part of a pattern");
        let question = (line.to_vec(), at);
        if let Some(pattern) = self.known.get(&question) {
            return *pattern;
        }
        let pattern = self.define(line, at);
        self.known.insert(question, pattern);
        pattern
    }

    fn define(&mut self, line: &[Spot], at: usize) -> Pattern {
        if (self.is_five)(run(line, at)) {
            return Pattern::Five;
        }
        let next = self.next_patterns(line, at);
        match next
            .iter()
            .filter(|&&pattern| pattern == Pattern::Five)
            .count()
        {
            0 => {}
            1 => return Pattern::ClosedFour,
            _ => return Pattern::OpenFour,
        }
        match next.into_iter().max() {
            Some(Pattern::OpenFour) => Pattern::OpenThree,
            Some(Pattern::ClosedFour) => Pattern::SleepThree,
            Some(Pattern::OpenThree) => Pattern::OpenTwo,
            Some(Pattern::SleepThree) => Pattern::SleepTwo,
            Some(Pattern::OpenTwo) => Pattern::OpenOne,
            Some(Pattern::SleepTwo) => Pattern::SleepOne,
            _ => Pattern::Dead,
        }
    }

    /// Returns the pattern of the stone at `at` after one more stone on each empty point in turn.
    fn next_patterns(&mut self, line: &[Spot], at: usize) -> Vec<Pattern> {
        let empties = (0..line.len()).filter(|&index| line[index] == Spot::Empty);
        let mut next = Vec::new();
        for index in empties {
            let mut then = line.to_vec();
            then[index] = Spot::Own;
            next.push(self.pattern(&then, at));
        }
        next
    }
}

/// Returns all windows with an own stone in the middle and `reach` points on either side.
pub(crate) fn windows(reach: u32) -> impl Iterator<Item = Vec<Spot>> {
    (0..3_usize.pow(2 * reach)).map(move |number| {
        let mut line: Vec<Spot> = (0..2 * reach)
            .map(|digit| [Spot::Empty, Spot::Own, Spot::Blocked][number / 3_usize.pow(digit) % 3])
            .collect();
        line.insert(reach as usize, Spot::Own);
        line
    })
}
