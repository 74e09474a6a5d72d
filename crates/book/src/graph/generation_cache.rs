//! What was read before and is likely to be read again.

use std::collections::HashMap;
use std::mem;

use crate::graph::id::Id;
use crate::store::filter::Hashed;

/// Something of positions, by the hash that an [`Id`] ends in. What was put or got of late stays; of the rest half is forgotten
/// at a time.
#[derive(Debug)]
pub(crate) struct Cells<T> {
    most: usize,
    new: HashMap<Id, T, Hashed>,
    old: HashMap<Id, T, Hashed>,
}

impl<T> Cells<T> {
    /// No more than `most` at a time.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            new: HashMap::default(),
            old: HashMap::default(),
        }
    }

    pub(crate) fn get(&mut self, id: Id) -> Option<&T> {
        if !self.new.contains_key(&id) {
            let value = self.old.remove(&id)?;
            self.put(id, value);
        }
        self.new.get(&id)
    }

    pub(crate) fn put(&mut self, id: Id, value: T) {
        if self.new.len() >= self.most / 2 {
            self.old = mem::take(&mut self.new);
        }
        // What is among the old ones is not looked for there any more.
        self.new.insert(id, value);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kagetsu_game::Key;
    use proptest::prelude::*;

    use super::*;

    fn id(number: u8) -> Id {
        Id::new(7, 3, Key(u128::from(number) << 60 | u128::from(number)))
    }

    proptest! {
        #[test]
        fn what_is_got_is_what_was_put_last(steps in prop::collection::vec((any::<bool>(), 0..20_u8), 0..200)) {
            let (mut cells, mut model) = (Cells::new(8), BTreeMap::new());
            for (step, (is_put, number)) in steps.into_iter().enumerate() {
                if is_put {
                    cells.put(id(number), step);
                    model.insert(number, step);
                    prop_assert_eq!(cells.get(id(number)), Some(&step));
                } else if let Some(found) = cells.get(id(number)) {
                    prop_assert_eq!(model.get(&number), Some(found));
                }
                prop_assert!(cells.new.len() + cells.old.len() <= 8);
            }
        }
    }

    #[test]
    fn what_is_asked_for_again_and_again_stays() {
        let mut cells = Cells::new(8);
        cells.put(id(0), 0);
        for number in 1..100 {
            cells.put(id(number), number);
            assert_eq!(cells.get(id(0)), Some(&0), "after {number}");
        }
        assert_eq!(cells.get(id(1)), None);
    }
}
