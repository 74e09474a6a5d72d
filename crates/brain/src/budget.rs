use std::time::Duration;

use kagetsu_game::Move;

/// Most time kept back from every limit for the transfer of a line through two pipes.
pub(crate) const OVERHEAD: Duration = Duration::from_millis(15);
/// Divisor of a limit that gives the most that is kept back of it.
const OVERHEAD_DIVISOR: u32 = 20;
/// The minimum time for a move.
const MIN_MOVE_TIME: Duration = Duration::from_millis(1);
/// The assumed number of remaining moves, if the manager does not say.
const ASSUMED_MOVES_TO_GO: u32 = 25;
/// Even shares of a clock that one move may take.
const MAX_SHARES: u32 = 3;

/// The time for one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MoveTime {
    /// The time after which the search ends.
    pub(crate) most: Duration,
    /// The even share of a clock, which a [`Pace`] spends; `None` where another limit comes first.
    pub(crate) share: Option<Duration>,
}

/// Returns the time for one move. A share is an equal part of the time `left` for each move to
/// come, and most of the increment. The move takes at most [`MAX_SHARES`] of them, three eighths of
/// what is left, or the share if that is more, and `turn`, reduced by a 20th and
/// by [`OVERHEAD`] at most.
pub(crate) fn budget(
    left: Option<Duration>,
    increment: Duration,
    moves_to_go: Option<u32>,
    turn: Option<Duration>,
) -> Option<MoveTime> {
    let clock = left.map(|left| {
        let moves = moves_to_go
            .unwrap_or(ASSUMED_MOVES_TO_GO)
            .clamp(1, ASSUMED_MOVES_TO_GO);
        // The last move before more time is added may take all of it.
        let limit = if moves_to_go == Some(1) {
            left
        } else {
            left * 3 / 4
        };
        let share = (left / moves + increment * 3 / 4).min(limit);
        (share, (share * MAX_SHARES).min(left * 3 / 8).max(share))
    });
    let share = clock.map(|(share, _)| share);
    let most = match (clock, turn) {
        (Some((_, most)), Some(turn)) => most.min(turn),
        (Some((_, time)), None) | (None, Some(time)) => time,
        (None, None) => return None,
    };
    Some(MoveTime {
        most: (most - OVERHEAD.min(most / OVERHEAD_DIVISOR)).max(MIN_MOVE_TIME),
        share: share.filter(|share| turn.is_none_or(|turn| *share < turn)),
    })
}

/// Decides after each iteration of a search by the clock whether another is worth its time: sooner
/// where the best move stays, later where it changes or its value falls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    share: Duration,
    /// The best move and its value in centi-units after the last iteration.
    best: Option<(Move, i32)>,
    /// Iterations since the best move changed.
    stays: u32,
}

impl Pace {
    pub(crate) const fn new(share: Duration) -> Self {
        Self {
            share,
            best: None,
            stays: 0,
        }
    }

    /// Whether the search may end after an iteration with this result.
    pub(crate) fn is_enough(&mut self, elapsed: Duration, best: Move, value: i32) -> bool {
        let mut percent = 70;
        if let Some((last, before)) = self.best {
            self.stays = if last == best { self.stays + 1 } else { 0 };
            percent = match self.stays {
                0 => 105,
                1..4 => 70,
                _ => 45,
            };
            if value < before - 20 {
                percent = percent * 7 / 5;
            }
        }
        self.best = Some((best, value));
        elapsed > self.share * percent / 100
    }
}

#[cfg(test)]
mod tests {
    use proptest::option::of;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_more_is_spent_than_there_is(
            left in of(0u64..10_000_000), increment in 0u64..100_000, moves in of(0u32..100), turn in of(0u64..1_000_000),
        ) {
            let [left, turn] = [left, turn].map(|ms| ms.map(Duration::from_millis));
            let time = budget(left, Duration::from_millis(increment), moves, turn);
            prop_assert_eq!(time.is_some(), left.is_some() || turn.is_some());
            for limit in [left, turn].into_iter().flatten() {
                let time = time.expect("limited").most;
                let kept = OVERHEAD.min(time / OVERHEAD_DIVISOR);
                prop_assert!(time + kept <= limit || time == MIN_MOVE_TIME, "{time:?} of {limit:?}");
            }
        }
    }

    #[test]
    fn clock_is_shared_by_the_moves_to_come() {
        let seconds = Duration::from_secs;
        let time = |most: Duration, share: Option<u64>| {
            Some(MoveTime {
                most: most - OVERHEAD,
                share: share.map(seconds),
            })
        };
        let zero = Duration::ZERO;
        assert_eq!(
            budget(Some(seconds(60)), zero, Some(10), None),
            time(seconds(18), Some(6))
        );
        assert_eq!(
            budget(Some(seconds(50)), seconds(4), None, None),
            time(seconds(15), Some(5))
        );
        assert_eq!(
            budget(Some(seconds(60)), zero, Some(2), None),
            time(seconds(30), Some(30))
        );
        let turn = Some(seconds(1));
        assert_eq!(
            budget(Some(seconds(50)), zero, None, turn),
            time(seconds(1), None)
        );
        assert_eq!(budget(None, zero, None, turn), time(seconds(1), None));
        assert_eq!(
            budget(Some(seconds(1)), zero, Some(1), None),
            time(seconds(1), Some(1))
        );
    }

    #[test]
    fn open_choices_take_more_time() {
        let moves = [1, 2].map(Move::new);
        let ends = |iterations: &[(Move, i32)], percent: u32| {
            let mut pace = Pace::new(Duration::from_secs(100));
            let mut ends = false;
            for &(best, value) in iterations {
                ends = pace.is_enough(Duration::from_secs(percent.into()), best, value);
            }
            ends
        };
        let stable = [(moves[0], 50); 6];
        assert!(ends(&stable, 50) && !ends(&stable, 40));
        assert!(ends(&stable[..3], 75) && !ends(&stable[..3], 60));
        let changed = [(moves[0], 50), (moves[1], 60)];
        assert!(ends(&changed, 110) && !ends(&changed, 100));
        let falling = [(moves[0], 50), (moves[0], 10)];
        assert!(ends(&falling, 100) && !ends(&falling, 90));
    }
}
