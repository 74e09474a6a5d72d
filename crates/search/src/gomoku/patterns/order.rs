//! The learned move order: how likely the move to each cell is the best.
//!
//! The example `order` makes the weights in `data/` from positions of `leaves`, after `learn` has
//! made the network.

use std::sync::LazyLock;

use kagetsu_game::RuleName;

use super::fitted::CLASSES;
use super::network::{Hidden, UNITS};
use crate::networks::weights::{ORDERS, content, numbers, places};

/// Slots for classes. A power of two makes index checks cheap.
const ROOM: usize = CLASSES.next_power_of_two();

/// Numbers in a file: by class as the mover's and as the opponent's, first one number each, then
/// the factors of the hidden units.
const NUMBERS: usize = 2 * CLASSES * (1 + UNITS);

/// Weights of the move order for one rule and the side to move.
///
/// The worth of a move is the sum of two numbers, one of the cell's class for the mover and one of
/// its class for the opponent. Each number depends on the positive hidden units of the
/// [`Network`](super::network::Network): on the shapes of the whole board.
#[derive(Debug)]
pub(in crate::gomoku) struct MoveOrder {
    /// By class: as one's own and as the opponent's.
    rows: Box<[[OrderRow; 2]; ROOM]>,
}

/// The weights of a class: in 1/128 logits, and factors of the units in 1/131,072 logits.
#[derive(Clone, Copy, Debug, Default)]
struct OrderRow {
    worth: i16,
    factors: Hidden,
}

impl MoveOrder {
    /// Returns the orders of a rule for both sides. Where the rules are the same for both sides,
    /// so are the weights.
    pub(in crate::gomoku) fn of(rule: RuleName) -> [&'static Self; 2] {
        static ORDERS: [LazyLock<MoveOrder>; 4] = [
            LazyLock::new(|| MoveOrder::own(0)),
            LazyLock::new(|| MoveOrder::own(1)),
            LazyLock::new(|| MoveOrder::own(2)),
            LazyLock::new(|| MoveOrder::own(3)),
        ];
        places(rule).map(|at| &*ORDERS[at])
    }

    fn own(at: usize) -> Self {
        Self::read(content(ORDERS + at)).expect("the weights are there before a search")
    }

    /// Reads [`NUMBERS`] numbers.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let numbers = numbers(bytes, NUMBERS)?;
        let (worths, factors) = numbers.split_at(2 * CLASSES);
        let (factors, _) = factors.as_chunks::<UNITS>();
        let mut rows = vec![[OrderRow::default(); 2]; ROOM];
        for (at, (&worth, &factors)) in worths.iter().zip(factors).enumerate() {
            rows[at % CLASSES][at / CLASSES] = OrderRow { worth, factors };
        }
        Some(Self {
            rows: rows.into_boxed_slice().try_into().ok()?,
        })
    }

    /// Returns the worth of a move to a cell in 1/128 logits, by the cell's classes for the mover
    /// and for the opponent and the positive hidden units of the mover's view.
    #[inline]
    pub(in crate::gomoku) fn worth(&self, own: usize, other: usize, units: &Hidden) -> i32 {
        let (own, other) = (&self.rows[own % ROOM][0], &self.rows[other % ROOM][1]);
        let factors = own.factors.iter().zip(&other.factors);
        let more: i32 = units
            .iter()
            .zip(factors)
            .map(|(&unit, (&own, &other))| i32::from(unit) * i32::from(own.wrapping_add(other)))
            .sum();
        i32::from(own.worth) + i32::from(other.worth) + (more >> 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_or_refused() {
        for rule in [RuleName::Freestyle, RuleName::Standard, RuleName::Renju] {
            let [first, second] = MoveOrder::of(rule);
            assert_eq!(std::ptr::eq(first, second), rule != RuleName::Renju);
        }
        let bytes = include_bytes!("../../../data/freestyle.order");
        assert!(MoveOrder::read(&bytes[1..]).is_none());
        assert!(MoveOrder::read(&[]).is_none());
    }

    #[test]
    fn worth_depends_on_classes_and_units() {
        let mut bytes = vec![0; 2 * NUMBERS];
        let mut set = |number: usize, value: i16| {
            bytes[2 * number..][..2].copy_from_slice(&value.to_le_bytes());
        };
        let class = 7;
        set(class, 30);
        set(CLASSES + class, 500);
        set((2 + UNITS) * CLASSES + class * UNITS + 3, -1_024);
        let order = MoveOrder::read(&bytes).expect("weights");
        let mut units = [0; UNITS];
        assert_eq!(order.worth(7, 0, &units), 30);
        assert_eq!(order.worth(7, 7, &units), 530);
        units[3] = 100;
        assert_eq!(order.worth(7, 0, &units), 30);
        assert_eq!(order.worth(0, 7, &units), 400);
    }
}
