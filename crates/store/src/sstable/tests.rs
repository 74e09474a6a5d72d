use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn entries() -> impl Strategy<Value = BTreeMap<Vec<u8>, Vec<u8>>> {
    let key = proptest::collection::vec(0u8..4, 1..6);
    let value = prop_oneof![
        6 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => Just(vec![7; BLOCK_BYTES]),
    ];
    proptest::collection::btree_map(key, value, 0..60)
}

fn written(path: &Path, model: &BTreeMap<Vec<u8>, Vec<u8>>) -> SortedFile {
    let mut pairs = model
        .iter()
        .map(|(key, value)| Ok((key.clone(), value.clone())));
    SortedFile::create(path, 1 << 14, model.len(), &mut pairs).expect("room")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn written_entries_are_found(model in entries()) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one");
        for sorted in [written(&path, &model), SortedFile::open(&path, 1 << 14).expect("whole")] {
            let absent = model.keys().map(|key| [&**key, &[0]].concat());
            let absent: Vec<Vec<u8>> = absent.chain([vec![], vec![9]]).collect();
            for key in model.keys().chain(&absent) {
                let found = sorted.get(hash(key), key).expect("readable");
                prop_assert_eq!(found, model.get(key).cloned());
                let from: Vec<Pair> =
                    sorted.range(key, false).collect::<Result<_, _>>().expect("readable");
                let same = model.range(key.clone()..);
                let same: Vec<Pair> =
                    same.map(|(key, value)| (key.clone(), value.clone())).collect();
                prop_assert_eq!(from, same);
            }
        }
    }
}

#[test]
fn flipped_byte_and_cut_are_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one");
    let model = (0..90_u8).map(|n| (vec![n / 9, n], vec![n; 3])).collect();
    written(&path, &model);
    let whole = std::fs::read(&path).expect("it is there");
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bytes).expect("room");
        assert!(SortedFile::open(&path, 0).is_err(), "byte {at}");
        std::fs::write(&path, &whole[..at]).expect("room");
        assert!(SortedFile::open(&path, 0).is_err(), "{at} bytes");
    }
}
