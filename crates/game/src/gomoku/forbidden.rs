use alloc::vec;

use super::{Around, Lines, Point};

/// The reason why Black may not play a point in renju; the first one that applies, in this order.
///
/// The definitions are those of the Renju International Federation (rules, sections 2, 3 and 9):
/// - a *five* is an unbroken row of exactly five; a move that makes one is never forbidden;
/// - an *overline* is an unbroken row of six or more;
/// - a *four* is a row of four stones that one more makes a five; a *straight four* is an unbroken
///   one that can become a five at both ends;
/// - a *three* is a row of three stones that one more makes a straight four, by a move that makes
///   no five at the same time and is not forbidden itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Forbidden {
    /// Six or more in an unbroken row.
    Overline,
    /// The stone belongs to two or more fours, perhaps on one line: `X_XXX_X`, `XX_XX_XX`.
    DoubleFour,
    /// The stone belongs to two or more threes.
    DoubleThree,
}

crate::names!(Forbidden {
    Overline = "overline",
    DoubleFour = "double-four",
    DoubleThree = "double-three",
});

/// Returns why Black may not play the empty `point`. `black` holds the black stones, `empty` the
/// empty points.
///
/// Most points cost four shifts and counts. The recursion of the definition starts only where two
/// lines could become a straight four.
#[must_use]
pub fn forbidden(black: &Lines, empty: &Lines, point: Point) -> Option<Forbidden> {
    forbidden_by(black, empty, point, |_| {})
}

/// Returns points on which White may get no stone, and points on which it may lose none, so that
/// Black may still play an empty point that makes no five. `None` if it is forbidden now.
///
/// Where no further point decides, more stones of White forbid nothing:
/// `docs/development/zones.md` has the proof.
#[must_use]
pub fn allowed(black: &Lines, white: &Lines, size: u8, point: Point) -> Option<[Lines; 2]> {
    let judge = |empty: &Lines| {
        let mut judged = vec![point];
        let reason = forbidden_by(black, empty, point, |at| judged.push(at));
        reason.is_none().then_some(judged)
    };
    let mut empty = Lines::full(size);
    black.points().for_each(|at| empty.flip(at));
    if judge(&empty).is_some_and(|judged| judged.len() == 1) {
        return Some([Lines::NONE, Lines::NONE]);
    }
    white.points().for_each(|at| empty.flip(at));
    let judged = judge(&empty)?;
    let near = |set: &Lines| {
        let near = |at: &Point| judged.iter().any(|point| point.is_near(*at));
        set.points().filter(near).collect()
    };
    let free = if judged.len() == 1 {
        Lines::NONE
    } else {
        near(&empty)
    };
    Some([free, near(white)])
}

/// The same as [`forbidden`]. `read` is called with each further point whose own lines decide.
fn forbidden_by(
    black: &Lines,
    empty: &Lines,
    point: Point,
    read: impl FnMut(Point),
) -> Option<Forbidden> {
    match made(black.around(point), empty.around(point)) {
        Made::Five => None,
        Made::Forbidden(reason) => Some(reason),
        Made::Threes(fours) => {
            let double = fours.directions() >= 2
                && Judge {
                    black: black.clone(),
                    empty: empty.clone(),
                    read,
                }
                .has_double_three(point, fours);
            double.then_some(Forbidden::DoubleThree)
        }
    }
}

/// The effect of a black stone, as far as its own lines tell.
enum Made {
    Five,
    Forbidden(Forbidden),
    /// Neither. Holds the points where one more stone would make a straight four.
    Threes(Around),
}

/// Judges a black stone at the centre, given the position before it.
fn made(black: Around, empty: Around) -> Made {
    if !black.is_crowded() {
        return Made::Threes(Around::NONE);
    }
    let (black, empty) = (black.with_centre(), empty.without_centre());
    let runs = [0, 1, 2, 3].map(|direction| black.run(direction));
    if runs.contains(&5) {
        Made::Five
    } else if runs.iter().any(|&run| run > 5) {
        Made::Forbidden(Forbidden::Overline)
    } else if black.fours(empty) >= 2 {
        Made::Forbidden(Forbidden::DoubleFour)
    } else {
        Made::Threes(black.straight_fours(empty))
    }
}

/// A board for trying black stones. Every method leaves it unchanged.
struct Judge<F> {
    black: Lines,
    empty: Lines,
    read: F,
}

impl<F: FnMut(Point)> Judge<F> {
    /// Whether a black stone on the empty `point` makes two threes. `fours` are the points where
    /// one more stone makes a straight four with it.
    fn has_double_three(&mut self, point: Point, fours: Around) -> bool {
        self.flip(point);
        let is_three = |&direction: &usize| {
            fours
                .steps(direction)
                .any(|steps| self.is_free(point.along(direction, steps)))
        };
        let double = (0..4).filter(is_three).take(2).count() == 2;
        self.flip(point);
        double
    }

    /// Whether Black may play the empty `point` without making a five.
    fn is_free(&mut self, point: Point) -> bool {
        (self.read)(point);
        match made(self.black.around(point), self.empty.around(point)) {
            Made::Five | Made::Forbidden(_) => false,
            Made::Threes(fours) => fours.directions() < 2 || !self.has_double_three(point, fours),
        }
    }

    /// Puts a black stone on an empty point, or takes it off again.
    fn flip(&mut self, point: Point) {
        self.black.flip(point);
        self.empty.flip(point);
    }
}
