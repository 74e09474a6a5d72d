//! Stores held against one another, with what growing a book asks of one:
//! `cargo run --release -- layers 200000`, with one of layers (the book's own), settled (the same as a book uses it: what is new
//! is durable by the journal, which is not measured here), sled, redb, fjall, lmdb, and how many positions.
//!
//! It is no part of the workspace, so that a build of the book has no other store than sled; the book's own files stand in it by
//! their paths.

#[path = "../../src/bytes.rs"]
#[allow(dead_code)]
mod bytes;
#[path = "../../src/error.rs"]
#[allow(dead_code)]
mod error;
#[path = "../../src/filter.rs"]
#[allow(dead_code)]
mod filter;
#[path = "../../src/layers/mod.rs"]
#[allow(dead_code)]
mod layers;
#[path = "../../src/sealed/mod.rs"]
#[allow(dead_code)]
mod sealed;
#[path = "../../src/sled_store.rs"]
mod sled_store;
#[path = "../../src/store.rs"]
#[allow(dead_code)]
mod store;

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use redb::ReadableDatabase;

use crate::error::BookError;
use crate::layers::Layers;
use crate::sled_store::SledStore;
use crate::store::{Batch, Pair, Store};

/// What growing a book asks of a store.
trait Held {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError>;

    /// The entries from `from` on whose keys begin with `prefix`.
    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Found<'a>;

    fn apply(&mut self, batch: Batch) -> Result<(), BookError>;

    /// Makes what was applied durable.
    fn flush(&mut self) -> Result<(), BookError>;
}

/// What the keys of a book begin with.
const RECORD: u8 = b'p';
const VALUE: u8 = b'v';
const REACH: u8 = b'r';
const FRONTIER: u8 = b'f';
const MARKER: &[u8] = b"m";

/// Memory that each may take for its cache.
const CACHE: u64 = 64 << 20;
/// Positions between two times that all is made durable, as a book has it.
const FLUSH_EVERY: u64 = 2_000;
/// Moves of a position that lead on.
const CHILDREN: usize = 5;
/// Bytes of a record of a search of 40 moves, of a value, and of where a position stands.
const SIZES: [usize; 3] = [300, 14, 64];
const READS: usize = 100_000;

fn other(error: impl std::fmt::Display) -> BookError {
    BookError::io("cannot use", Path::new("the store"))(std::io::Error::other(error.to_string()))
}

type Found<'a> = Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a>;

const TABLE: redb::TableDefinition<'static, &[u8], &[u8]> = redb::TableDefinition::new("all");

/// The book's own, with all of it durable when it is asked for, or when it is ended.
struct Own {
    layers: Layers,
    is_journaled: bool,
}

impl Own {
    fn open(path: &Path, is_journaled: bool) -> Self {
        let path = path.join("layers");
        let layers = if path.exists() {
            Layers::open(&path, CACHE)
        } else {
            Layers::create(&path, CACHE)
        };
        Self {
            layers: layers.expect("whole"),
            is_journaled,
        }
    }
}

impl Held for Own {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        self.layers.get(key)
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Found<'a> {
        self.layers.range(prefix, from)
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        self.layers.apply(batch)?;
        if self.layers.is_full() {
            self.layers.settle()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), BookError> {
        if self.is_journaled {
            Ok(())
        } else {
            self.layers.flush()
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.layers.keep().expect("room");
    }
}

impl Held for SledStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        Self::get(self, key)
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Found<'a> {
        let prefix = prefix.to_vec();
        let pairs = Self::range(self, from.max(&prefix));
        Box::new(pairs.take_while(move |pair| {
            pair.as_ref()
                .map_or(true, |(key, _)| key.starts_with(&prefix))
        }))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        Self::apply(self, batch)
    }

    fn flush(&mut self) -> Result<(), BookError> {
        Self::flush(self)
    }
}

struct Redb {
    db: redb::Database,
    is_durable: bool,
}

impl Redb {
    fn open(path: &Path) -> Self {
        let db = redb::Builder::new()
            .set_cache_size(CACHE as usize)
            .create(path.join("redb"))
            .expect("opens");
        let mut store = Self {
            db,
            is_durable: true,
        };
        store.apply(Batch::default()).expect("room");
        store
    }
}

impl Held for Redb {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        let table = self
            .db
            .begin_read()
            .map_err(other)?
            .open_table(TABLE)
            .map_err(other)?;
        Ok(table
            .get(key)
            .map_err(other)?
            .map(|value| value.value().to_vec()))
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Found<'a> {
        let table = self
            .db
            .begin_read()
            .expect("opens")
            .open_table(TABLE)
            .expect("opens");
        let pairs = table.range(from.max(prefix)..).expect("opens");
        let prefix = prefix.to_vec();
        let pairs = pairs.map(|pair| {
            pair.map(|(key, value)| (key.value().to_vec(), value.value().to_vec()))
                .map_err(other)
        });
        Box::new(pairs.take_while(move |pair| {
            pair.as_ref()
                .map_or(true, |(key, _)| key.starts_with(&prefix))
        }))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        let mut write = self.db.begin_write().map_err(other)?;
        let durability = if self.is_durable {
            redb::Durability::Immediate
        } else {
            redb::Durability::None
        };
        write.set_durability(durability).map_err(other)?;
        {
            let mut table = write.open_table(TABLE).map_err(other)?;
            for (key, value) in &batch.0 {
                match value {
                    Some(value) => drop(table.insert(&key[..], &value[..]).map_err(other)?),
                    None => drop(table.remove(&key[..]).map_err(other)?),
                }
            }
        }
        self.is_durable = false;
        write.commit().map_err(other)
    }

    fn flush(&mut self) -> Result<(), BookError> {
        self.is_durable = true;
        self.apply(Batch::default())
    }
}

struct Fjall {
    keyspace: fjall::Keyspace,
    all: fjall::PartitionHandle,
}

impl Fjall {
    fn open(path: &Path) -> Self {
        let keyspace = fjall::Config::new(path.join("fjall"))
            .cache_size(CACHE)
            .open()
            .expect("opens");
        let all = keyspace
            .open_partition("all", fjall::PartitionCreateOptions::default())
            .expect("opens");
        Self { keyspace, all }
    }
}

impl Held for Fjall {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        Ok(self
            .all
            .get(key)
            .map_err(other)?
            .map(|value| value.to_vec()))
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Found<'a> {
        let prefix_of = prefix.to_vec();
        let pairs = self.all.range(from.max(prefix).to_vec()..);
        let pairs = pairs.map(|pair| {
            pair.map(|(key, value)| (key.to_vec(), value.to_vec()))
                .map_err(other)
        });
        Box::new(pairs.take_while(move |pair| {
            pair.as_ref()
                .map_or(true, |(key, _)| key.starts_with(&prefix_of))
        }))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        let mut all = self.keyspace.batch();
        for (key, value) in batch.0 {
            match value {
                Some(value) => all.insert(&self.all, key, value),
                None => all.remove(&self.all, key),
            }
        }
        all.commit().map_err(other)
    }

    fn flush(&mut self) -> Result<(), BookError> {
        self.keyspace
            .persist(fjall::PersistMode::SyncAll)
            .map_err(other)
    }
}

struct Lmdb {
    env: heed::Env,
    all: heed::Database<heed::types::Bytes, heed::types::Bytes>,
}

impl Lmdb {
    fn open(path: &Path) -> Self {
        let path = path.join("lmdb");
        std::fs::create_dir_all(&path).expect("room");
        let mut options = heed::EnvOpenOptions::new();
        options.map_size(16 << 30);
        #[expect(unsafe_code)]
        // SAFETY: the folder is this process's own, and nobody else writes to its files while they are mapped; what is not
        // synced at once is by `flush`.
        let env = unsafe {
            options.flags(heed::EnvFlags::NO_SYNC);
            options.open(&path).expect("opens")
        };
        let mut write = env.write_txn().expect("opens");
        let all = env.create_database(&mut write, None).expect("opens");
        write.commit().expect("room");
        Self { env, all }
    }
}

impl Held for Lmdb {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        let read = self.env.read_txn().map_err(other)?;
        Ok(self.all.get(&read, key).map_err(other)?.map(<[u8]>::to_vec))
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Found<'a> {
        let read = self.env.read_txn().expect("opens");
        let bounds = (
            std::ops::Bound::Included(from.max(prefix)),
            std::ops::Bound::Unbounded,
        );
        let pairs = self.all.range(&read, &bounds).expect("opens");
        let prefix = prefix.to_vec();
        let pairs = pairs.take_while(|pair| {
            pair.as_ref()
                .map_or(true, |(key, _)| key.starts_with(&prefix))
        });
        // As many as are asked for here at a time: a transaction does not outlive this call.
        let pairs: Vec<_> = pairs
            .take(64)
            .map(|pair| {
                pair.map(|(key, value)| (key.to_vec(), value.to_vec()))
                    .map_err(other)
            })
            .collect();
        Box::new(pairs.into_iter())
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        let mut write = self.env.write_txn().map_err(other)?;
        for (key, value) in &batch.0 {
            match value {
                Some(value) => self.all.put(&mut write, key, value).map_err(other)?,
                None => drop(self.all.delete(&mut write, key).map_err(other)?),
            }
        }
        write.commit().map_err(other)
    }

    fn flush(&mut self) -> Result<(), BookError> {
        self.env.force_sync().map_err(other)
    }
}

fn open(name: &str, path: &Path) -> Box<dyn Held> {
    match name {
        "layers" | "settled" => Box::new(Own::open(path, name == "settled")),
        "sled" => Box::new(SledStore::open(&path.join("sled"), CACHE).expect("opens")),
        "redb" => Box::new(Redb::open(path)),
        "fjall" => Box::new(Fjall::open(path)),
        "lmdb" => Box::new(Lmdb::open(path)),
        name => panic!("no store '{name}'"),
    }
}

/// What Linux says of this process, in MiB.
fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(what))
        .expect("it is said");
    line.trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .expect("a number")
        >> 10
}

/// Seconds of all cores.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .expect("it is there")
        .split(' ')
        .collect();
    [11, 12]
        .map(|at: usize| fields[at].parse::<f64>().expect("ticks"))
        .iter()
        .sum::<f64>()
        / 100.0
}

fn size(path: &Path) -> u64 {
    let about = std::fs::metadata(path).expect("it is there");
    if about.is_file() {
        // LMDB's file has holes.
        return about.blocks() * 512;
    }
    std::fs::read_dir(path)
        .expect("it is there")
        .map(|entry| size(&entry.expect("it is there").path()))
        .sum()
}

/// Variant, stones, key.
type Id = [u8; 22];

fn id(chance: &mut StdRng) -> Id {
    let stones: u16 = chance.random_range(1..40);
    let mut id = [0; 22];
    id[..4].copy_from_slice(&0x0100_000f_u32.to_be_bytes());
    id[4..6].copy_from_slice(&stones.to_be_bytes());
    id[6..].copy_from_slice(&chance.random::<u128>().to_be_bytes());
    id
}

fn key(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    [&[kind], &parts.concat()[..]].concat()
}

fn queue_key(priority: u64, id: Id) -> Vec<u8> {
    key(FRONTIER, &[&[0; 4], &priority.to_be_bytes(), &id])
}

/// The next position of the frontier becomes one of the book.
fn learn(
    store: &mut dyn Held,
    frontier: &mut VecDeque<(u64, Id)>,
    at: u64,
    chance: &mut StdRng,
) -> Result<Id, BookError> {
    let (priority, own) = frontier.pop_front().expect("it grows");
    let mut batch = vec![(queue_key(priority, own), None)];
    let bytes = |chance: &mut StdRng, size: usize| {
        Some(
            (0..size)
                .map(|_| chance.random::<u8>() & 15)
                .collect::<Vec<u8>>(),
        )
    };
    for (kind, size) in [RECORD, VALUE, REACH].into_iter().zip(SIZES) {
        let key = key(kind, &[&own]);
        store.get(&key)?;
        batch.push((key, bytes(chance, size)));
    }
    for _ in 0..CHILDREN {
        // Some are come to by more than one way.
        let known = chance
            .random_bool(0.2)
            .then(|| frontier.get(chance.random_range(0..frontier.len().max(1))))
            .flatten();
        let (is_new, child) = known.map_or_else(|| (true, id(chance)), |(_, id)| (false, *id));
        let key = key(REACH, &[&child]);
        store.get(&key)?;
        batch.push((key, bytes(chance, SIZES[2])));
        if is_new {
            let priority = 1_000_000 * at + chance.random_range(0..1_000_000);
            batch.push((queue_key(priority, child), Some(Vec::new())));
            frontier.push_back((priority, child));
        }
    }
    batch.sort();
    batch.push((MARKER.to_vec(), bytes(chance, 40)));
    store.apply(Batch(batch))?;
    Ok(own)
}

fn main() {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "layers".into());
    let positions = words
        .next()
        .map_or(20_000, |word| word.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let chance = &mut StdRng::seed_from_u64(1);
    let mut store = open(&name, folder.path());
    let mut frontier = VecDeque::from([(0, id(chance))]);
    let mut known = Vec::new();
    let (begun, before) = (Instant::now(), cpu());
    for at in 1..=positions {
        let own = learn(&mut *store, &mut frontier, at, chance).expect("room");
        if known.len() < READS {
            known.push(own);
        }
        if at % 64 == 0 {
            let prefix = key(FRONTIER, &[&0_u32.to_be_bytes()]);
            assert_eq!(
                store.range(&prefix, &prefix).take(64).count(),
                64.min(frontier.len())
            );
        }
        if at % FLUSH_EVERY == 0 {
            store.flush().expect("room");
        }
        if at % (positions / 5).max(1) == 0 {
            println!("{name}: {at} positions, {} MiB of memory", memory("VmRSS:"));
        }
    }
    let each = (cpu() - before) * 1e6 / positions as f64;
    println!(
        "{name}: {each:.0} us of CPU and {:.0} us a position",
        begun.elapsed().as_secs_f64() * 1e6 / positions as f64
    );
    let before = cpu();
    for id in &known {
        let found = store.get(&key(RECORD, &[id])).expect("readable");
        assert_eq!(found.map(|value| value.len()), Some(SIZES[0]));
    }
    println!(
        "{name}: {:.1} us of CPU a look-up",
        (cpu() - before) * 1e6 / known.len() as f64
    );
    store.flush().expect("room");
    println!("{name}: {} MiB of memory at most", memory("VmHWM:"));
    drop(store);
    println!(
        "{name}: {} bytes a position on disk",
        size(folder.path()) / positions
    );
    let (begun, before) = (Instant::now(), cpu());
    let store = open(&name, folder.path());
    println!(
        "{name}: opened in {:?}, {:.2} s of CPU",
        begun.elapsed(),
        cpu() - before
    );
    drop(store);
}
