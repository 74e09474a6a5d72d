use std::collections::BTreeSet;

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::sled_db::catch_panics;
use crate::store::Pair;
use crate::store::tests::MemoryStore;

fn number(n: u16) -> Vec<u8> {
    [&b"n"[..], &n.to_be_bytes()].concat()
}

fn all(store: &LsmStore) -> Vec<Pair> {
    pairs(store, &[], &[])
}

fn pairs(store: &dyn Store, prefix: &[u8], from: &[u8]) -> Vec<Pair> {
    let pairs: Result<_, _> = store.range(prefix, from).collect();
    pairs.expect("readable")
}

/// Makes and closes a store with entries in sled and in a sorted file. Returns what it held after
/// each change.
fn closed(folder: &Path) -> Vec<Vec<Pair>> {
    let mut store = LsmStore::create(folder, 0).expect("room");
    let mut model = MemoryStore::default();
    let mut round: u16 = 0;
    let mut held = Vec::new();
    while round < 30 || store.sled.len() == 0 || store.sorted.is_none() {
        let change = |n: u16| (number(n), Some(round.to_be_bytes().to_vec()));
        let mut changes = vec![change(round), change(round % 7 + 1_000)];
        changes.extend((round > 3).then(|| (number(round - 3), None)));
        model.apply(Batch(changes.clone()));
        store.apply(Batch(changes)).expect("room");
        store.flush().expect("room");
        held.push(model.range(&[], &[]));
        round += 1;
    }
    held
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it is there").path());
    let mut files: Vec<PathBuf> = paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect();
    files.sort();
    files
}

#[test]
fn flipped_byte_is_damage_or_changes_nothing() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("store");
    let held = closed(&folder);
    let whole: Vec<(PathBuf, Vec<u8>)> = files(&folder)
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).expect("readable")))
        .collect();
    let extensions: BTreeSet<_> = whole.iter().map(|(path, _)| path.extension()).collect();
    assert!(extensions.contains(&Some("sorted".as_ref())));
    let random = &mut StdRng::seed_from_u64(5);
    let restore = || {
        fs::remove_dir_all(&folder).expect("it is there");
        for (path, bytes) in &whole {
            fs::create_dir_all(path.parent().expect("in a folder")).expect("room");
            fs::write(path, bytes).expect("room");
        }
    };
    let mut refused = 0;
    for (path, bytes) in &whole {
        let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
        let is_ours = path.parent() == Some(&*folder);
        let some = (0..12)
            .filter_map(|_| used.get(random.random_range(0..used.len().max(1))).copied())
            .collect();
        for at in if is_ours { used } else { some } {
            restore();
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(path, flipped).expect("room");
            match catch_panics(|| LsmStore::open(&folder, 0)) {
                // The journal has what the level in sled lost.
                Ok(store) => assert!(held.contains(&all(&store)), "{} byte {at}", path.display()),
                Err(StoreError::Damaged(_)) => refused += 1,
                Err(error) => panic!("{} byte {at}: {error}", path.display()),
            }
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn files_of_a_killed_program_are_removed() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("store");
    let held = closed(&folder);
    fs::write(folder.join("000999.new"), "half").expect("room");
    fs::write(folder.join("000999.sorted"), "no level").expect("room");
    fs::create_dir(folder.join("000998.sled")).expect("room");
    fs::write(folder.join("current.new"), "").expect("room");
    let store = LsmStore::open(&folder, 0).expect("whole");
    assert_eq!(Some(&all(&store)), held.last());
    let is_removed = |path: &PathBuf| !path.to_string_lossy().contains("99");
    assert!(files(&folder).iter().all(is_removed));
}

#[test]
fn missing_level_is_damage() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("store");
    for nth in 0..3 {
        let _ = fs::remove_dir_all(&folder);
        closed(&folder);
        drop(LsmStore::open(&folder, 0).expect("whole"));
        let entries = fs::read_dir(&folder).expect("there");
        let mut parts: Vec<PathBuf> = entries.map(|e| e.expect("there").path()).collect();
        parts.sort();
        assert_eq!(parts.len(), 3, "sled, sorted file, manifest: {parts:?}");
        let part = &parts[nth];
        let removed = if part.is_dir() {
            fs::remove_dir_all(part)
        } else {
            fs::remove_file(part)
        };
        removed.expect("it is there");
        let opened = catch_panics(|| LsmStore::open(&folder, 0));
        let is_damaged = matches!(opened, Err(StoreError::Damaged(_)));
        assert!(is_damaged, "{}", part.display());
    }
}

#[derive(Clone, Debug)]
enum StoreStep {
    Apply(Vec<(u8, Option<u8>)>),
    Maintain,
    Compact,
    Flush,
    /// Takes a snapshot, which is kept until the end.
    Snapshot,
    /// Closes and opens the store, after a flush that waits or one that does not.
    Reopen {
        waits: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<StoreStep>> {
    let change = (0u8..40, proptest::option::of(any::<u8>()));
    let step = prop_oneof![
        4 => proptest::collection::vec(change, 0..8).prop_map(StoreStep::Apply),
        3 => Just(StoreStep::Maintain),
        1 => Just(StoreStep::Compact),
        2 => Just(StoreStep::Flush),
        3 => Just(StoreStep::Snapshot),
        2 => any::<bool>().prop_map(|waits| StoreStep::Reopen { waits }),
    ];
    proptest::collection::vec(step, 1..16)
}

/// Returns a key of one to three bytes, so that some are beginnings of others.
fn key(number: u8) -> Vec<u8> {
    vec![b'a' + number % 5; 1 + usize::from(number / 5 % 3)]
}

/// Compares a store or a snapshot with a map in memory.
fn assert_holds(store: &dyn Store, model: &MemoryStore) -> Result<(), TestCaseError> {
    for prefix in [&b""[..], b"b", b"cc"] {
        for from in [&b""[..], b"c", b"ccc", b"z"] {
            prop_assert_eq!(pairs(store, prefix, from), model.range(prefix, from));
        }
    }
    for number in 0..40 {
        let found = store.get(&key(number)).expect("readable");
        prop_assert_eq!(found, model.get(&key(number)));
    }
    let scanned: Result<Vec<Pair>, _> = store.scan(b"b", Some(b"d")).collect();
    let expected = model.range(&[], b"b").into_iter();
    let expected: Vec<Pair> = expected.filter(|(key, _)| key[..] < b"d"[..]).collect();
    prop_assert_eq!(scanned.expect("readable"), expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn store_holds_what_a_map_in_memory_holds(
        steps in steps(), cache in prop::sample::select(vec![0, 4 << 10, 1 << 20]),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        // With so little cache a handful of entries fill a level.
        let mut store = LsmStore::create(&path, cache).expect("room");
        let mut model = MemoryStore::default();
        let mut snapshots = Vec::new();
        for step in steps {
            match step {
                StoreStep::Apply(changes) => {
                    let change = |(k, v): &(u8, Option<u8>)| (key(*k), v.map(|v| vec![v]));
                    let batch = Batch(changes.iter().map(change).collect());
                    model.apply(batch.clone());
                    store.apply(batch).expect("room");
                }
                StoreStep::Maintain => store.maintain().expect("room"),
                StoreStep::Compact => store.compact().expect("room"),
                StoreStep::Flush => store.flush().expect("room"),
                StoreStep::Snapshot => {
                    snapshots.push((store.snapshot().expect("readable"), model.clone()));
                }
                StoreStep::Reopen { waits } => {
                    let flushed = if waits { store.flush() } else { store.begin_flush() };
                    flushed.expect("room");
                    drop(store);
                    store = LsmStore::open(&path, cache).expect("whole");
                }
            }
            assert_holds(&store, &model)?;
        }
        // Neither later changes nor the end of the store reach them.
        drop(store);
        for (snapshot, model) in &snapshots {
            assert_holds(&**snapshot, model)?;
        }
    }
}
