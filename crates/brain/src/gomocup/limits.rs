use std::time::Duration;

use kagetsu_engines::gomocup::RULES;
use kagetsu_game::{Effort, RuleName};

use crate::budget::{MoveTime, budget};

/// Most threads that can be asked for.
pub(super) const MAX_THREADS: u64 = 1_024;

/// The limits that `INFO` has set.
#[derive(Clone, Debug)]
pub(super) struct GomocupLimits {
    /// The rule, or why it cannot be played.
    pub(super) rule: Result<RuleName, String>,
    /// Time for one move; `None` until the manager sets it.
    turn: Option<Duration>,
    /// For all moves of a game.
    whole: Option<Duration>,
    /// Time left of it, if the manager counts.
    left: Option<Duration>,
    /// Time that the moves of this game have taken.
    pub(super) spent: Duration,
    depth: Option<u8>,
    nodes: Option<u64>,
    /// Bytes; none: no limit.
    memory: Option<u64>,
    pub(super) threads: Option<usize>,
    /// Whether each iteration is reported in Yixin's format.
    pub(super) is_detailed: bool,
    /// Whether moves come from the book.
    pub(super) uses_book: bool,
}

/// Memory that the engine needs beside its table.
const BESIDE_TABLE: u64 = 64 << 20;

/// Time for a move without any limit.
const TURN: Duration = Duration::from_secs(5);
/// The number of a manager without a limit.
const ENDLESS: i64 = i32::MAX as i64;

impl Default for GomocupLimits {
    fn default() -> Self {
        Self {
            rule: Ok(RuleName::Freestyle),
            turn: None,
            whole: None,
            left: None,
            spent: Duration::ZERO,
            depth: None,
            nodes: None,
            memory: None,
            threads: None,
            is_detailed: false,
            uses_book: true,
        }
    }
}

impl GomocupLimits {
    /// Reads one setting. An unknown key, or a value that is no number, changes nothing: the
    /// protocol has no answer.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        let Ok(number) = value.parse::<i64>() else {
            return;
        };
        let positive = u64::try_from(number).ok().filter(|number| *number > 0);
        let time = Duration::from_millis(u64::try_from(number).unwrap_or(0));
        match key {
            "rule" => self.rule = rule(number),
            "timeout_turn" => self.turn = Some(time),
            "timeout_match" => self.whole = positive.map(Duration::from_millis),
            "time_left" => self.left = Some(time).filter(|_| number < ENDLESS),
            "max_memory" => self.memory = positive,
            "max_depth" => {
                self.depth = positive.map(|depth| depth.min(Effort::MAX_DEPTH.into()) as u8)
            }
            "max_node" => self.nodes = positive,
            "thread_num" => {
                self.threads = positive.map(|threads| threads.min(MAX_THREADS) as usize)
            }
            "usedatabase" => self.uses_book = number != 0,
            "show_detail" => self.is_detailed = number >= 2,
            _ => {}
        }
    }

    /// Returns the mebibytes of the table, where the user has `given` some or not: half of the
    /// manager's memory if it is limited, and never more than it has beside the engine.
    pub(super) fn table_mib(&self, given: Option<u64>) -> Option<u64> {
        self.memory.map_or(given, |bytes| {
            let room = bytes.saturating_sub(BESIDE_TABLE) >> 20;
            Some(given.unwrap_or(bytes >> 21).min(room).max(1))
        })
    }

    /// Starts the time of a new game.
    pub(super) fn begin(&mut self) {
        self.spent = Duration::ZERO;
        self.left = None;
    }

    /// Returns the effort for the next move.
    pub(super) fn effort(&self) -> Effort {
        Effort {
            depth: self.depth,
            nodes: self.nodes,
            time: self.time().map(|time| time.most),
        }
    }

    /// Returns the time for the next move, if anything limits it.
    pub(super) fn time(&self) -> Option<MoveTime> {
        let left = self
            .left
            .or_else(|| self.whole.map(|whole| whole.saturating_sub(self.spent)));
        let is_limited = left.is_some() || self.depth.is_some() || self.nodes.is_some();
        let turn = self.turn.or_else(|| (!is_limited).then_some(TURN));
        budget(left, Duration::ZERO, None, turn)
    }
}

/// The rule of a sum of 1 (exactly five), 2 (a game goes on after a win), 4 (renju) and 8 (caro).
fn rule(sum: i64) -> Result<RuleName, String> {
    let rule = RULES.into_iter().find(|(number, _)| *number == sum);
    rule.map(|(_, rule)| rule).ok_or_else(|| {
        let rules = RULES.map(|(number, rule)| format!("{number} ({rule})"));
        let reason = match sum & 2 {
            0 => "unknown",
            _ => "of a game that goes on after a win, which is not played here",
        };
        format!("rule {sum} is {reason}; there are {}", rules.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_takes_half_of_the_memory_or_what_is_given() {
        let mut limits = GomocupLimits::default();
        assert_eq!(
            [None, Some(8)].map(|given| limits.table_mib(given)),
            [None, Some(8)]
        );
        for (memory, free, given) in [(350_u64, 175, 286), (2_048, 1_024, 1_984), (100, 36, 36)] {
            limits.set("max_memory", &(memory << 20).to_string());
            let sizes = [None, Some(8), Some(1 << 20)].map(|given| limits.table_mib(given));
            assert_eq!(sizes, [Some(free), Some(8), Some(given)], "{memory}");
        }
    }

    #[test]
    fn smallest_limit_counts() {
        let mut limits = GomocupLimits::default();
        assert!(limits.effort().time.is_some_and(|time| time < TURN));
        limits.set("max_depth", "400");
        assert_eq!(limits.effort(), Effort::depth(Effort::MAX_DEPTH));
        limits.set("timeout_turn", "1000");
        limits.set("timeout_match", "60000");
        let whole = limits.effort().time.expect("limited");
        assert!(whole < Duration::from_secs(1));
        limits.set("time_left", "300");
        assert!(
            limits
                .effort()
                .time
                .is_some_and(|time| time < Duration::from_millis(300))
        );
        limits.set("time_left", "-50");
        assert_eq!(limits.effort().time, Some(Duration::from_millis(1)));
        limits.set("time_left", "2147483647");
        assert_eq!(limits.effort().time, Some(whole));
        limits.set("timeout_turn", "0");
        assert_eq!(limits.effort().time, Some(Duration::from_millis(1)));
    }

    #[test]
    fn invalid_setting_changes_nothing() {
        let mut limits = GomocupLimits::default();
        for (key, value) in [
            ("rule", "x"),
            ("folder", "/tmp"),
            ("max_memory", "-3"),
            ("max_node", ""),
            ("pondering", "1"),
            ("strength", "100"),
            ("x", "1"),
        ] {
            limits.set(key, value);
        }
        assert_eq!(
            format!("{limits:?}"),
            format!("{:?}", GomocupLimits::default())
        );
        for (number, rule) in RULES {
            limits.set("rule", &number.to_string());
            assert_eq!(limits.rule, Ok(rule));
        }
        for number in ["2", "3", "6", "10", "-1", "16"] {
            limits.set("rule", number);
            let error = limits.rule.clone().expect_err("unknown");
            assert!(error.starts_with(&format!("rule {number} is ")), "{error}");
        }
    }
}
