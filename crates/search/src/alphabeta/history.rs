use kagetsu_game::Move;

/// Greatest magnitude of a move's history value.
const MAX_HISTORY: i32 = 4_096;

/// Statistics of one thread about good moves: how often each move cut off (Schaeffer, "The history
/// heuristic", 1983), the last moves that cut off at each ply, and the best reply to each move.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// By side to move and move. The last slot stands for no move.
    values: [Vec<i16>; 2],
    /// Best replies, by the move before.
    counters: [Vec<Move>; 2],
    /// By ply, the latest first.
    killers: Vec<[Move; 2]>,
    /// Values after the move one ply and two plies before, by side to move, that move and move.
    continuations: Option<[Vec<i16>; 2]>,
}

impl History {
    /// Returns empty statistics for lines of at most `plies` plies and move codes below `codes`,
    /// with values after the moves before if they are wanted.
    pub(crate) fn new(plies: usize, codes: usize, has_continuations: bool) -> Self {
        let (values, counters) = (vec![0; codes + 1], vec![Move::NONE; codes + 1]);
        let killers = vec![[Move::NONE; 2]; plies];
        Self {
            values: [values.clone(), values],
            counters: [counters.clone(), counters],
            killers,
            // Not cloned, so that the system provides only the pages in use.
            continuations: has_continuations
                .then(|| [(); 2].map(|()| vec![0; 2 * (codes + 1) * (codes + 1)])),
        }
    }

    fn slot(&self, m: Move) -> usize {
        m.index().min(self.values[0].len() - 1)
    }

    /// Returns the history value of a move, within ±4,096.
    #[inline]
    pub(crate) fn value(&self, side: usize, m: Move) -> i32 {
        self.values[side][self.slot(m)].into()
    }

    /// Returns the sum of a move's value after the move one ply before and half of that after the
    /// move two plies before; 0 without such values.
    #[inline]
    pub(crate) fn continuation(&self, side: usize, before: [Move; 2], m: Move) -> i32 {
        let Some([after_one, after_two]) = &self.continuations else {
            return 0;
        };
        let [one, two] = before.map(|before| self.pair(side, before, m));
        i32::from(after_one[one]) + i32::from(after_two[two]) / 2
    }

    /// The place of a move after an earlier one.
    fn pair(&self, side: usize, before: Move, m: Move) -> usize {
        let slots = self.values[0].len();
        (side * slots + self.slot(before)) * slots + self.slot(m)
    }

    /// Whether the move is a killer at this ply or the counter move to `before`.
    #[inline]
    pub(crate) fn is_killer(&self, side: usize, ply: usize, before: Move, m: Move) -> bool {
        self.killers[ply].contains(&m) || self.counters[side][self.slot(before)] == m
    }

    /// Rewards the last searched move, which cut off, and penalises the others.
    pub(crate) fn learn(
        &mut self,
        side: usize,
        ply: usize,
        before: [Move; 2],
        searched: &[Move],
        depth: i32,
    ) {
        let bonus = (depth * depth * 8 + depth * 32).min(1_024);
        let Some((&best, others)) = searched.split_last() else {
            return;
        };
        self.change(side, before, best, bonus);
        others
            .iter()
            .for_each(|&m| self.change(side, before, m, -bonus));
        let last = self.slot(before[0]);
        self.counters[side][last] = best;
        let killers = &mut self.killers[ply];
        if killers[0] != best {
            *killers = [best, killers[0]];
        }
    }

    fn change(&mut self, side: usize, before: [Move; 2], m: Move, bonus: i32) {
        let slot = self.slot(m);
        approach(&mut self.values[side][slot], bonus);
        let pairs = before.map(|before| self.pair(side, before, m));
        if let Some(continuations) = &mut self.continuations {
            for (values, pair) in continuations.iter_mut().zip(pairs) {
                approach(&mut values[pair], bonus);
            }
        }
    }
}

/// Moves a value towards its bound, more slowly the nearer it is.
fn approach(value: &mut i16, bonus: i32) {
    let now = i32::from(*value);
    *value = (now + bonus - now * bonus.abs() / MAX_HISTORY) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutoffs_raise_history_within_bounds() {
        let mut history = History::new(4, 225, true);
        let (good, bad) = (Move::new(7), Move::new(9));
        let before = [Move::new(3), Move::new(5)];
        for _ in 0..1_000 {
            history.learn(0, 2, before, &[bad, good], 20);
        }
        assert!(history.value(0, good) > 3_000 && history.value(0, good) <= MAX_HISTORY);
        assert!(history.value(0, bad) < -3_000 && history.value(0, bad) >= -MAX_HISTORY);
        assert_eq!(history.value(1, good), 0);
        assert!(history.continuation(0, before, good) > 4_500);
        assert!(history.continuation(0, before, bad) < -4_500);
        let other = [Move::NONE, Move::new(5)];
        assert!((1_500..2_100).contains(&history.continuation(0, other, good)));
        assert_eq!(history.continuation(1, before, good), 0);
        assert_eq!(History::new(4, 225, false).continuation(0, before, good), 0);
        assert!(
            history.is_killer(0, 2, Move::NONE, good)
                && history.is_killer(0, 1, Move::new(3), good)
        );
        assert!(!history.is_killer(0, 1, Move::NONE, good));
    }
}
