use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn entries() -> impl Strategy<Value = BTreeMap<Vec<u8>, Vec<u8>>> {
    let key = proptest::collection::vec(0u8..4, 1..6);
    let value = prop_oneof![
        6 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => Just(vec![7; BLOCK]),
    ];
    proptest::collection::btree_map(key, value, 0..60)
}

fn written(path: &Path, model: &BTreeMap<Vec<u8>, Vec<u8>>) -> Sealed {
    let mut pairs = model
        .iter()
        .map(|(key, value)| Ok((key.clone(), value.clone())));
    Sealed::create(path, 1 << 14, model.len(), &mut pairs).expect("room")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_written_is_found_again(model in entries()) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one");
        for sealed in [written(&path, &model), Sealed::open(&path, 1 << 14).expect("whole")] {
            for key in model.keys().flat_map(|key| [key.clone(), [&**key, &[0]].concat()]).chain([vec![], vec![9]]) {
                prop_assert_eq!(sealed.get(hash(&key), &key).expect("readable"), model.get(&key).cloned());
                let from: Vec<Pair> = sealed.range(&key, false).collect::<Result<_, _>>().expect("readable");
                let same = model.range(key..).map(|(key, value)| (key.clone(), value.clone()));
                prop_assert_eq!(from, same.collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn every_flipped_byte_and_every_cut_is_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one");
    let model = (0..90_u8).map(|n| (vec![n / 9, n], vec![n; 3])).collect();
    written(&path, &model);
    let whole = std::fs::read(&path).expect("it is there");
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bytes).expect("room");
        assert!(
            Sealed::open(&path, 0).is_err(),
            "byte {at} of {}",
            whole.len()
        );
        std::fs::write(&path, &whole[..at]).expect("room");
        assert!(
            Sealed::open(&path, 0).is_err(),
            "{at} bytes of {}",
            whole.len()
        );
    }
}
