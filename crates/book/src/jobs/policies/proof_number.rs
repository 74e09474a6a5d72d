//! Proof numbers: how hard it looks to prove that the attacker wins a position.
//!
//! They follow Allis, van der Meulen and van den Herik: "Proof-number search", 1994, in the weak
//! form of Ueda, Hashimoto, Hashimoto and Iida, 2008: a position of the defender has the greatest
//! number of a reply and one more for each doubling of the open ones, not their sum. A position
//! without a record has the number that the search for the attacker's last move makes likely.

use kagetsu_game::Verdict;

/// The number of a position that cannot be proven.
pub(super) const INFINITE: u32 = u32::MAX / 4;

/// The number after a move that a search calls a win, and after one that it calls a loss.
const CLAIMED_WIN: u32 = 1;
const CLAIMED_LOSS: u32 = 400;

/// Least centi-units of a value that claims a win: a coordinator cuts unproven wins to this.
const WIN: f64 = 10_000.0;

/// The number that a move without any chance to win has more than one that wins for certain.
const HOPELESS: f64 = 40.0;

/// Centi-units of a value at which the side wins about 73 % of its games.
const LOGIT: f64 = 200.0;

/// Centi-units by which an opinion without a search must be worse to add 1, and the greatest number
/// of such a move: that of one that threatens nothing.
const CENTI_UNITS_PER_NUMBER: u32 = 20;
const THREATLESS: u32 = 20;

/// The number of a reply that is not searched, after a move of which there is no search either, and
/// at least at a root and after its moves: easy replies come first, and show what beats the others.
pub(super) const NEW_REPLY: u32 = 4;

/// Fruitless positions behind a move of the attacker that add 1 to its number. Without this a
/// search can spend thousands of positions on forcing moves that leave one reply each, while a
/// quiet move would win at once.
const FRUITLESS_PER_NUMBER: u32 = 40;

/// Excess over the last named move at which the attacker's next move is asked for, and the same
/// where a search claims that the last one wins.
const DOUBT: u32 = 3;
const DOUBT_OF_CLAIM: u32 = 25;

/// The same at a root, where other first moves seldom are much better.
const DOUBT_AT_ROOT: u32 = 10;

/// The number at which a search is asked for a move where it has named none yet.
const FIRST_DOUBT: u32 = 3;

/// Open replies from which a move of the attacker counts as one that threatens nothing.
const MANY_REPLIES: u32 = 130;

/// Returns the number that the attacker's opinion of a move makes likely for the position behind
/// it.
fn guess(verdict: &Verdict) -> u32 {
    let value = f64::from(verdict.score.raw());
    if verdict.depth == 0 {
        let loss = u32::from(verdict.score.raw().min(0).unsigned_abs());
        THREATLESS.min(1 + loss / CENTI_UNITS_PER_NUMBER)
    } else if value >= WIN {
        CLAIMED_WIN
    } else if value <= -WIN {
        CLAIMED_LOSS
    } else {
        let loss = 1.0 / (1.0 + (value / LOGIT).exp());
        2 + (HOPELESS * loss) as u32
    }
}

/// The proof number of a position as far as it does not depend on the move that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProofNumber {
    /// The number of the attacker's best move, or of the hardest reply; 0 if it is proven.
    searched: u32,
    /// Whether the position or one of its replies is not searched, so that the guess for the move
    /// before it counts.
    is_guess: bool,
    /// Open replies beside the hardest one, now and when they were searched first.
    siblings: u32,
    listed: u32,
    /// Positions searched on all paths that are still open; a position that is reached by several
    /// paths counts for each.
    effort: u32,
}

impl ProofNumber {
    pub(super) const PROVEN: Self = Self {
        searched: 0,
        is_guess: false,
        siblings: 0,
        listed: 0,
        effort: 0,
    };
    pub(super) const IMPOSSIBLE: Self = Self {
        searched: INFINITE,
        ..Self::PROVEN
    };
    pub(super) const NEW: Self = Self {
        is_guess: true,
        ..Self::PROVEN
    };

    /// Returns the number of a position of the attacker, from those of his known moves and of a
    /// question for one more.
    pub(super) fn of_attacker(moves: &[AttackingMove], next: Option<u32>) -> Self {
        let numbers = moves.iter().map(AttackingMove::number);
        Self {
            searched: numbers.chain(next).min().unwrap_or(INFINITE),
            effort: moves
                .iter()
                .fold(1, |sum, known| u32::saturating_add(sum, known.after.effort)),
            ..Self::PROVEN
        }
    }

    /// Returns the number of a position of the defender, from those after its replies.
    pub(super) fn of_defender(replies: impl Iterator<Item = Self>) -> Self {
        let (mut open, mut listed) = (0_u32, 0);
        let mut all = Self {
            effort: 1,
            ..Self::PROVEN
        };
        for number in replies {
            listed += 1;
            if number == Self::PROVEN {
                continue;
            }
            open += 1;
            all.searched = all.searched.max(number.searched);
            all.is_guess |= number.is_guess;
            all.effort = all.effort.saturating_add(number.effort);
        }
        (all.siblings, all.listed) = (open.saturating_sub(1), listed);
        if open == 0 { Self::IMPOSSIBLE } else { all }
    }

    /// Returns the number, where `guess` is the one for the attacker's last move.
    pub(super) fn with_guess(self, guess: u32) -> u32 {
        let hardest = if self.is_guess {
            self.searched.max(guess)
        } else {
            self.searched
        };
        (hardest + (self.siblings + 1).ilog2()).min(INFINITE)
    }
}

/// A known move of the attacker.
pub(super) struct AttackingMove {
    guess: u32,
    /// Whether a search has named it.
    is_searched: bool,
    is_at_root: bool,
    after: ProofNumber,
}

impl AttackingMove {
    /// Returns a move with the number of the position behind it. At a root the number of replies
    /// does not count: a first move seldom threatens anything.
    pub(super) fn new(verdict: &Verdict, after: ProofNumber, is_at_root: bool) -> Self {
        let (siblings, listed) = if is_at_root {
            (0, 0)
        } else {
            (after.siblings, after.listed)
        };
        Self {
            guess: guess(verdict),
            is_searched: verdict.depth > 0,
            is_at_root,
            after: ProofNumber {
                siblings,
                listed,
                ..after
            },
        }
    }

    /// Returns the guess for a position behind it that is not searched.
    pub(super) fn guess(&self) -> u32 {
        if self.after == ProofNumber::NEW {
            self.guess
        } else if !self.is_searched {
            NEW_REPLY
        } else if self.is_at_root {
            self.guess.max(NEW_REPLY)
        } else {
            self.guess
        }
    }

    pub(super) fn number(&self) -> u32 {
        let number = self.after.with_guess(self.guess());
        (number + self.after.effort / FRUITLESS_PER_NUMBER).min(INFINITE)
    }

    /// Returns the number at which the next move is asked for where this is the last one.
    fn doubt(&self) -> u32 {
        let listed = self.after.listed;
        match self.guess {
            CLAIMED_WIN => CLAIMED_WIN + DOUBT_OF_CLAIM,
            guess if self.is_at_root => guess.max(NEW_REPLY) + DOUBT_AT_ROOT,
            guess if listed < MANY_REPLIES => guess + (listed + 1).ilog2() + DOUBT,
            guess => guess + DOUBT,
        }
    }

    /// Returns the number of a question for one more move where all known ones are these.
    pub(super) fn next(known: &[Self]) -> u32 {
        let searched = known.iter().filter(|known| known.is_searched);
        searched.map(Self::doubt).max().unwrap_or(FIRST_DOUBT)
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Bound, Move, Provenance, Score};

    use super::*;

    fn opinion(depth: u8, centi: i32) -> Verdict {
        Verdict {
            score: Score::opinion(centi),
            bound: Bound::Exact,
            depth,
            nodes: 1,
            line: vec![Move::new(0)],
            proof: None,
            by: Provenance {
                engine: "test".into(),
                day: 0,
            },
        }
    }

    fn number(searched: u32) -> ProofNumber {
        ProofNumber {
            searched,
            effort: 1,
            ..ProofNumber::PROVEN
        }
    }

    #[test]
    fn better_opinion_has_no_greater_number() {
        for depth in [0, 10] {
            let guesses = (-300..=300).map(|value| guess(&opinion(depth, 100 * value)));
            assert!(guesses.is_sorted_by(|worse, better| worse >= better));
        }
        assert_eq!(guess(&opinion(10, 10_000)), CLAIMED_WIN);
        assert_eq!(guess(&opinion(0, -2_000)), THREATLESS);
    }

    #[test]
    fn attacker_has_least_and_defender_greatest() {
        let moves = [5, 3, 9].map(|n| AttackingMove::new(&opinion(10, 0), number(n), false));
        let of = |next| ProofNumber::of_attacker(&moves, next).with_guess(1);
        assert_eq!([of(None), of(Some(4)), of(Some(2))], [3, 3, 2]);
        assert_eq!(ProofNumber::of_attacker(&[], None).with_guess(1), INFINITE);
        let of = |replies: &[ProofNumber]| ProofNumber::of_defender(replies.iter().copied());
        let few = of(&[number(5), number(3), ProofNumber::PROVEN]);
        assert_eq!(few.with_guess(1), 6);
        assert_eq!(of(&[number(5); 64]).with_guess(1), 11);
        let hopeless = of(&[number(5), ProofNumber::IMPOSSIBLE]);
        assert_eq!(hopeless.with_guess(1), INFINITE);
    }

    #[test]
    fn new_reply_counts_as_the_move_before_it() {
        let some = ProofNumber::of_defender([number(5), ProofNumber::NEW].into_iter());
        assert_eq!([1, 7].map(|guess| some.with_guess(guess)), [6, 8]);
        assert_eq!(ProofNumber::NEW.with_guess(7), 7);
    }

    #[test]
    fn next_move_is_asked_for_when_the_last_disappoints() {
        let named = |depth, centi| AttackingMove::new(&opinion(depth, centi), number(1), false);
        assert_eq!(AttackingMove::next(&[named(0, -10)]), FIRST_DOUBT);
        let [good, bad, claim] = [400, -400, 20_000].map(|centi| named(10, centi));
        let after = |known: &[AttackingMove]| AttackingMove::next(known);
        let (good, bad, claim) = (after(&[good]), after(&[bad]), after(&[claim]));
        assert!(good < bad && bad > claim && claim > good);
        assert_eq!(claim, CLAIMED_WIN + DOUBT_OF_CLAIM);
    }

    #[test]
    fn fruitless_positions_make_a_move_dearer() {
        let after = ProofNumber {
            effort: 2 * FRUITLESS_PER_NUMBER,
            ..number(3)
        };
        let known = AttackingMove::new(&opinion(10, 0), after, false);
        assert_eq!(known.number(), 5);
    }
}
