//! Compares stores on the rows that growing a book writes.
//!
//! `cargo run --release -- lsm 200000` grows 200,000 positions in one of `lsm` (the store of the
//! book, durable like the others), `journaled` (the same as a book uses it: the journal, which is
//! not measured, makes changes durable), `sled`, `redb`, `fjall` and `lmdb`. The crate is no part
//! of the workspace, so that a build of the book compiles no other store.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use redb::ReadableDatabase;

use kagetsu_store::{Batch, LsmStore, Store, StoreError};

/// The operations that growing a book needs.
trait StoreCandidate {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError>;

    /// Makes all changes durable.
    fn flush(&mut self) -> Result<(), StoreError>;
}

/// First bytes of the keys of a book.
const POSITION: u8 = b'p';
const JOB: u8 = b'j';
const MARKER: &[u8] = b"m";

/// Memory for the cache of each store.
const CACHE: u64 = 64 << 20;
/// Positions between two flushes.
const FLUSH_EVERY: u64 = 2_000;
/// Moves of a position that lead on.
const CHILDREN: usize = 5;
/// Bytes of the links of a position, and of the whole row of a position that was searched.
const LINK_BYTES: usize = 38;
const ROW_BYTES: usize = 290;
/// Look-ups at the end.
const READS: usize = 100_000;

fn other(error: impl std::fmt::Display) -> StoreError {
    StoreError::Io {
        action: "cannot use",
        path: "the store".into(),
        error: std::io::Error::other(error.to_string()),
    }
}

const TABLE: redb::TableDefinition<'static, &[u8], &[u8]> = redb::TableDefinition::new("all");

/// The store of the book.
struct Own {
    lsm: LsmStore,
    /// Whether a journal makes changes durable, so that flushes do nothing.
    is_journaled: bool,
}

impl Own {
    fn open(path: &Path, is_journaled: bool) -> Self {
        let path = path.join("lsm");
        let lsm = if path.exists() {
            LsmStore::open(&path, CACHE)
        } else {
            LsmStore::create(&path, CACHE)
        };
        Self {
            lsm: lsm.expect("whole"),
            is_journaled,
        }
    }
}

impl StoreCandidate for Own {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.lsm.get(key)
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.lsm.apply(batch)?;
        if self.lsm.needs_maintenance() {
            self.lsm.maintain()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if self.is_journaled {
            Ok(())
        } else {
            self.lsm.flush()
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.lsm.begin_flush().expect("room");
    }
}

/// sled alone.
struct Sled(sled::Db);

impl Sled {
    fn open(path: &Path) -> Self {
        let config = sled::Config::new()
            .path(path.join("sled"))
            // sled counts the size of pages on disk. In memory they take some two and a half times
            // that.
            .cache_capacity(CACHE / 5 * 2)
            .flush_every_ms(None);
        Self(config.open().expect("opens"))
    }
}

impl StoreCandidate for Sled {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let value = self.0.get(key).map_err(other)?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        let mut all = sled::Batch::default();
        for (key, value) in batch.0 {
            match value {
                Some(value) => all.insert(key, value),
                None => all.remove(key),
            }
        }
        self.0.apply_batch(all).map_err(other)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.0.flush().map_err(other)?;
        Ok(())
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

impl StoreCandidate for Redb {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
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

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
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

    fn flush(&mut self) -> Result<(), StoreError> {
        self.is_durable = true;
        self.apply(Batch::default())
    }
}

struct Fjall {
    db: fjall::Database,
    all: fjall::Keyspace,
}

impl Fjall {
    fn open(path: &Path) -> Self {
        let db = fjall::Database::builder(path.join("fjall"))
            .cache_size(CACHE)
            .open()
            .expect("opens");
        let all = db
            .keyspace("all", fjall::KeyspaceCreateOptions::default)
            .expect("opens");
        Self { db, all }
    }
}

impl StoreCandidate for Fjall {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self
            .all
            .get(key)
            .map_err(other)?
            .map(|value| value.to_vec()))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        let mut all = self.db.batch();
        for (key, value) in batch.0 {
            match value {
                Some(value) => all.insert(&self.all, key, value),
                None => all.remove(&self.all, key),
            }
        }
        all.commit().map_err(other)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.db.persist(fjall::PersistMode::SyncAll).map_err(other)
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
        // SAFETY: no other process writes to the files of this folder while they are mapped.
        // `flush` syncs what NO_SYNC leaves to the operating system.
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

impl StoreCandidate for Lmdb {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let read = self.env.read_txn().map_err(other)?;
        Ok(self.all.get(&read, key).map_err(other)?.map(<[u8]>::to_vec))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        let mut write = self.env.write_txn().map_err(other)?;
        for (key, value) in &batch.0 {
            match value {
                Some(value) => self.all.put(&mut write, key, value).map_err(other)?,
                None => drop(self.all.delete(&mut write, key).map_err(other)?),
            }
        }
        write.commit().map_err(other)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.env.force_sync().map_err(other)
    }
}

fn open(name: &str, path: &Path) -> Box<dyn StoreCandidate> {
    match name {
        "lsm" | "journaled" => Box::new(Own::open(path, name == "journaled")),
        "sled" => Box::new(Sled::open(path)),
        "redb" => Box::new(Redb::open(path)),
        "fjall" => Box::new(Fjall::open(path)),
        "lmdb" => Box::new(Lmdb::open(path)),
        name => panic!("no store '{name}'"),
    }
}

/// Returns a line of Linux's status of this process, in MiB.
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

/// Returns the CPU time of this process in seconds, over all cores.
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

/// Variant, stones and key of a position.
type Id = [u8; 22];

fn id(random: &mut StdRng) -> Id {
    let stones: u16 = random.random_range(1..40);
    let mut id = [0; 22];
    id[..4].copy_from_slice(&0x0100_000f_u32.to_be_bytes());
    id[4..6].copy_from_slice(&stones.to_be_bytes());
    id[6..].copy_from_slice(&random.random::<u128>().to_be_bytes());
    id
}

fn key(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    [&[kind], &parts.concat()[..]].concat()
}

fn random_bytes(random: &mut StdRng, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.random::<u8>() & 15).collect()
}

/// The next position of the frontier becomes one of the book: its whole row is written, the links
/// of its children, and now and then the row of a position above it, whose value changed. Returns
/// its id.
fn learn(
    store: &mut dyn StoreCandidate,
    frontier: &mut BTreeSet<(u64, Id)>,
    known: &[Id],
    at: u64,
    random: &mut StdRng,
) -> Result<Id, StoreError> {
    let (_, own) = frontier.pop_first().expect("it grows");
    let mut batch = Vec::new();
    let mut put = |store: &dyn StoreCandidate, id: Id, bytes: Vec<u8>| {
        let key = key(POSITION, &[&id]);
        store.get(&key)?;
        batch.push((key, Some(bytes)));
        Ok::<_, StoreError>(())
    };
    put(store, own, random_bytes(random, ROW_BYTES))?;
    if random.random_bool(0.3) && !known.is_empty() {
        let above = known[random.random_range(0..known.len())];
        put(store, above, random_bytes(random, ROW_BYTES))?;
    }
    for _ in 0..CHILDREN {
        // One in five is reached in another way already.
        let from = (random.random_range(0..1_000_000 * at), [0; 22]);
        let reached = frontier.range(from..).next().copied();
        let reached = reached.filter(|_| random.random_bool(0.2));
        let child = reached.map_or_else(|| id(random), |(_, id)| id);
        put(store, child, random_bytes(random, LINK_BYTES))?;
        if reached.is_none() {
            frontier.insert((1_000_000 * at + random.random_range(0..1_000_000), child));
        }
    }
    batch.sort();
    batch.push((key(JOB, &[&[0; 4]]), Some(random_bytes(random, 21))));
    batch.push((MARKER.to_vec(), Some(random_bytes(random, 23))));
    store.apply(Batch(batch))?;
    Ok(own)
}

fn main() {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "lsm".into());
    let positions = words
        .next()
        .map_or(20_000, |word| word.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let random = &mut StdRng::seed_from_u64(1);
    let mut store = open(&name, folder.path());
    let mut frontier = BTreeSet::from([(0, id(random))]);
    let mut known = Vec::new();
    let (begun, before) = (Instant::now(), cpu());
    for at in 1..=positions {
        let own = learn(&mut *store, &mut frontier, &known, at, random).expect("room");
        if known.len() < READS {
            known.push(own);
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
        let found = store.get(&key(POSITION, &[id])).expect("readable");
        assert_eq!(found.map(|value| value.len()), Some(ROW_BYTES));
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
