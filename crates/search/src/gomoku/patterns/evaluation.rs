use std::fmt;

use kagetsu_game::{RuleName, Side};

use super::fitted::Fitted;
use super::network::Network;
use super::order::MoveOrder;
use super::weights::CellWeights;
use crate::networks::weights::weight_names;

/// The weights of the gomoku evaluation and of the move order for one rule. An engine that has them
/// among its options uses them in place of its own, so that two sets of weights can play each
/// other.
///
/// The weights stay in memory until the process ends.
#[derive(Clone, Copy)]
pub struct Evaluation(pub(in crate::gomoku) &'static EvaluationWeights);

/// By side.
#[derive(Clone, Copy, Debug)]
pub(in crate::gomoku) struct EvaluationWeights {
    pub(in crate::gomoku) rule: RuleName,
    pub(in crate::gomoku) cells: [&'static CellWeights; 2],
    pub(in crate::gomoku) networks: [&'static Network; 2],
    pub(in crate::gomoku) orders: [&'static MoveOrder; 2],
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation")
            .field("rule", &self.0.rule)
            .finish_non_exhaustive()
    }
}

/// Two evaluations are equal if they were read together.
impl PartialEq for Evaluation {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Evaluation {}

impl Evaluation {
    /// Reads the files that the examples `learn` and `order` write. `file` returns the content of a
    /// file by its name, as in `standard.bin` or `renju-first.order`, or `None` where the weights
    /// in use stand.
    ///
    /// # Errors
    /// The name of a file with other content.
    pub fn read(
        rule: RuleName,
        mut file: impl FnMut(&str) -> Option<Vec<u8>>,
    ) -> Result<Self, String> {
        let mut weights = EvaluationWeights::in_use(rule);
        let names = weight_names(rule);
        for side in [Side::First, Side::Second] {
            let (at, name) = (side.index(), names[side.index() % names.len()]);
            let mut read = |ending: &str| {
                let name = format!("{name}.{ending}");
                file(&name).map(|bytes| (bytes, name))
            };
            if let Some((bytes, name)) = read("txt") {
                let text = String::from_utf8(bytes).ok();
                let fitted = text.and_then(|text| Fitted::read(&text)).ok_or(name)?;
                weights.cells[at] = leaked(CellWeights::fitted(fitted, rule, side));
            }
            if let Some((bytes, name)) = read("bin") {
                weights.networks[at] = leaked(Network::read(&bytes).ok_or(name)?);
            }
            if let Some((bytes, name)) = read("order") {
                weights.orders[at] = leaked(MoveOrder::read(&bytes).ok_or(name)?);
            }
        }
        Ok(Self(leaked(weights)))
    }
}

impl EvaluationWeights {
    /// Returns the engine's own weights.
    pub(in crate::gomoku) fn in_use(rule: RuleName) -> Self {
        let of = |side| CellWeights::of(rule, side);
        Self {
            rule,
            cells: [Side::First, Side::Second].map(of),
            networks: Network::of(rule),
            orders: MoveOrder::of(rule),
        }
    }
}

fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_given_files_change_the_weights() {
        let own = EvaluationWeights::in_use(RuleName::Renju);
        let order = include_bytes!("../../../data/freestyle.order");
        let read = Evaluation::read(RuleName::Renju, |name| {
            (name == "renju-first.order").then(|| order.to_vec())
        });
        let read = read.expect("an order").0;
        for side in 0..2 {
            assert!(std::ptr::eq(read.cells[side], own.cells[side]));
            assert!(std::ptr::eq(read.networks[side], own.networks[side]));
            let is_own = std::ptr::eq(read.orders[side], own.orders[side]);
            assert_eq!(is_own, side == 1);
        }
        let wrong = Evaluation::read(RuleName::Standard, |_| Some(vec![0]));
        assert_eq!(wrong, Err("standard.txt".into()));
    }
}
