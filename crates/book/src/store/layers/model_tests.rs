use proptest::prelude::*;

use super::Layers;
use crate::store::{Batch, MemoryStore, Pair, Store};

#[derive(Clone, Debug)]
enum Step {
    Apply(Vec<(u8, Option<u8>)>),
    Settle,
    Seal,
    Flush,
    Reopen,
    Leave,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let change = (0u8..40, proptest::option::of(any::<u8>()));
    let step = prop_oneof![
        4 => proptest::collection::vec(change, 0..8).prop_map(Step::Apply),
        3 => Just(Step::Settle),
        1 => Just(Step::Seal),
        2 => Just(Step::Flush),
        1 => Just(Step::Reopen),
        1 => Just(Step::Leave),
    ];
    proptest::collection::vec(step, 1..16)
}

/// Keys of one to three bytes, so that some are beginnings of others.
fn key(number: u8) -> Vec<u8> {
    vec![b'a' + number % 5; 1 + usize::from(number / 5 % 3)]
}

fn pairs(store: &dyn Store, prefix: &[u8], from: &[u8]) -> Vec<Pair> {
    store
        .range(prefix, from)
        .collect::<Result<_, _>>()
        .expect("readable")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_layers_keep_what_memory_keeps_and_find_it_again(
        steps in steps(), cache in prop::sample::select(vec![0, 4 << 10, 1 << 20]),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        // So little cache that a handful of entries fill a tree.
        let mut store = Layers::create(&path, cache).expect("room");
        let mut model = MemoryStore::default();
        for step in steps {
            match step {
                Step::Apply(changes) => {
                    let change = |(k, v): &(u8, Option<u8>)| (key(*k), v.map(|v| vec![v]));
                    let batch = Batch(changes.iter().map(change).collect());
                    model.apply(batch.clone()).expect("memory");
                    store.apply(batch).expect("room");
                }
                Step::Seal => store.seal().expect("room"),
                Step::Settle => store.settle().expect("room"),
                Step::Flush => store.flush().expect("room"),
                Step::Reopen | Step::Leave => {
                    let keep = if matches!(step, Step::Leave) { Layers::keep } else { Layers::flush };
                    keep(&mut store).expect("room");
                    drop(store);
                    store = Layers::open(&path, cache).expect("whole");
                }
            }
            for prefix in [&b""[..], b"b", b"cc"] {
                for from in [&b""[..], b"c", b"ccc", b"z"] {
                    prop_assert_eq!(pairs(&store, prefix, from), pairs(&model, prefix, from));
                }
            }
            for number in 0..40 {
                let (here, there) = (store.get(&key(number)), model.get(&key(number)));
                prop_assert_eq!(here.expect("readable"), there.expect("memory"));
            }
        }
    }
}
