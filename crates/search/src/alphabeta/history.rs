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
}

impl History {
    /// Returns empty statistics for lines of at most `plies` plies and move codes below `codes`.
    pub(crate) fn new(plies: usize, codes: usize) -> Self {
        let (values, counters) = (vec![0; codes + 1], vec![Move::NONE; codes + 1]);
        let killers = vec![[Move::NONE; 2]; plies];
        Self {
            values: [values.clone(), values],
            counters: [counters.clone(), counters],
            killers,
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
        before: Move,
        searched: &[Move],
        depth: i32,
    ) {
        let bonus = (depth * depth * 8 + depth * 32).min(1_024);
        let Some((&best, others)) = searched.split_last() else {
            return;
        };
        self.change(side, best, bonus);
        others.iter().for_each(|&m| self.change(side, m, -bonus));
        let before = self.slot(before);
        self.counters[side][before] = best;
        let killers = &mut self.killers[ply];
        if killers[0] != best {
            *killers = [best, killers[0]];
        }
    }

    /// Moves a value towards its bound, more slowly the nearer it is.
    fn change(&mut self, side: usize, m: Move, bonus: i32) {
        let slot = self.slot(m);
        let value = &mut self.values[side][slot];
        let now = i32::from(*value);
        *value = (now + bonus - now * bonus.abs() / MAX_HISTORY) as i16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutoffs_raise_history_within_bounds() {
        let mut history = History::new(4, 225);
        let (good, bad) = (Move::new(7), Move::new(9));
        for _ in 0..1_000 {
            history.learn(0, 2, Move::new(3), &[bad, good], 20);
        }
        assert!(history.value(0, good) > 3_000 && history.value(0, good) <= MAX_HISTORY);
        assert!(history.value(0, bad) < -3_000 && history.value(0, bad) >= -MAX_HISTORY);
        assert_eq!(history.value(1, good), 0);
        assert!(
            history.is_killer(0, 2, Move::NONE, good)
                && history.is_killer(0, 1, Move::new(3), good)
        );
        assert!(!history.is_killer(0, 1, Move::NONE, good));
    }
}
