use std::time::Duration;

/// Time kept back from every limit for the transfer of a line through two pipes.
pub(crate) const OVERHEAD: Duration = Duration::from_millis(15);
/// The minimum time for a move.
const MIN_MOVE_TIME: Duration = Duration::from_millis(1);
/// The assumed number of remaining moves, if the manager does not say.
const ASSUMED_MOVES_TO_GO: u32 = 30;

/// Returns the time for one move: an equal share of the time `left` for each move to come, and most
/// of the increment. The time is at most three quarters of what is left, at most `turn`, and
/// reduced by [`OVERHEAD`].
pub(crate) fn budget(
    left: Option<Duration>,
    increment: Duration,
    moves_to_go: Option<u32>,
    turn: Option<Duration>,
) -> Option<Duration> {
    let share = left.map(|left| {
        let moves = moves_to_go
            .unwrap_or(ASSUMED_MOVES_TO_GO)
            .clamp(1, ASSUMED_MOVES_TO_GO);
        let share = left / moves + increment * 3 / 4;
        // The last move before more time is added may take all of it.
        let most = if moves_to_go == Some(1) {
            left
        } else {
            left * 3 / 4
        };
        share.min(most)
    });
    let time = match (share, turn) {
        (Some(share), Some(turn)) => share.min(turn),
        (Some(time), None) | (None, Some(time)) => time,
        (None, None) => return None,
    };
    Some(time.saturating_sub(OVERHEAD).max(MIN_MOVE_TIME))
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
                let time = time.expect("limited");
                prop_assert!(time + OVERHEAD <= limit || time == MIN_MOVE_TIME, "{time:?} of {limit:?}");
            }
        }
    }

    #[test]
    fn the_clock_is_shared_by_the_moves_to_come() {
        let seconds = Duration::from_secs;
        assert_eq!(
            budget(Some(seconds(60)), Duration::ZERO, Some(10), None),
            Some(seconds(6) - OVERHEAD)
        );
        assert_eq!(
            budget(Some(seconds(60)), seconds(4), None, None),
            Some(seconds(5) - OVERHEAD)
        );
        assert_eq!(
            budget(Some(seconds(60)), Duration::ZERO, None, Some(seconds(1))),
            Some(seconds(1) - OVERHEAD)
        );
        assert_eq!(
            budget(Some(seconds(1)), Duration::ZERO, Some(1), None),
            Some(seconds(1) - OVERHEAD)
        );
    }
}
