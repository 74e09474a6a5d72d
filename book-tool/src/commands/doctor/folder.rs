//! Checks of a book's folder: its files, its owner, its disk, and the clock against its files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::finding::{HealthFinding, size};

/// The first bytes of a journal.
const JOURNAL_MAGIC: &[u8; 8] = b"kagetsuj";
/// The newest version of a journal that this program reads.
const JOURNAL_VERSION: u32 = 1;
/// The greatest difference between this machine's clock and the file server's.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_secs(60);
/// Room that a book needs beside its own size: `compact` and `repair` write it once more.
const MIN_ROOM_BYTES: u64 = 256 << 20;
/// File systems whose locks or syncs are not those of a local disk.
const SHARED_FILE_SYSTEMS: [&str; 7] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "lustre",
    "beegfs",
    "fuse.sshfs",
];

pub(super) fn check(folder: &Path) -> Vec<HealthFinding> {
    let subject = folder.display().to_string();
    match fs::metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let advice = "`kagetsu build` and `kagetsu-coordinator` create it; else correct --book";
            return vec![HealthFinding::fault(subject, "is not there", advice)];
        }
        Err(error) => {
            let advice = "give this user access to the folder";
            return vec![HealthFinding::fault(subject, error.to_string(), advice)];
        }
        Ok(about) if !about.is_dir() => {
            let advice = "`kagetsu check --book FILE` checks a compiled book";
            return vec![HealthFinding::fault(
                subject,
                "is a file, not a book's folder",
                advice,
            )];
        }
        Ok(_) => {}
    }
    let journal = folder.join("journal/000001.journal");
    let mut findings = vec![journal_file(&journal), holder(folder), room(folder)];
    findings.extend(file_system(folder));
    findings.extend(clock(&journal));
    findings.extend(leftovers(folder));
    findings
}

fn journal_file(path: &Path) -> HealthFinding {
    let subject = path.display().to_string();
    let mut head = [0; 12];
    let read = File::open(path).and_then(|mut file| {
        file.read_exact(&mut head)?;
        Ok(file.metadata()?.len())
    });
    let length = match read {
        Ok(length) => length,
        Err(error) => {
            let advice = "if this is a book's folder, `kagetsu repair` or `kagetsu restore` helps";
            return HealthFinding::fault(subject, format!("cannot be read: {error}"), advice);
        }
    };
    let (magic, version) = head.split_at(8);
    let version = u32::from_le_bytes(version.try_into().unwrap_or_default());
    if magic != JOURNAL_MAGIC {
        let advice = "`kagetsu repair` saves what can be saved";
        return HealthFinding::fault(subject, "does not begin as a journal", advice);
    }
    if version > JOURNAL_VERSION {
        let found = format!("has version {version}; this program reads {JOURNAL_VERSION}");
        return HealthFinding::fault(subject, found, "upgrade Kagetsu on this machine");
    }
    HealthFinding::ok(subject, format!("version {version}, {}", size(length)))
}

/// Reports the process that may change the book, and whether this user may.
fn holder(folder: &Path) -> HealthFinding {
    let path = folder.join("lock");
    let subject = path.display().to_string();
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return HealthFinding::ok(subject, "no process has opened the book yet");
        }
        Err(error) => {
            let advice = "give this user access to the folder, or compile the book";
            return HealthFinding::fault(subject, error.to_string(), advice);
        }
    };
    // A share of the lock disturbs no reader.
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut number = String::new();
            let _ = file.read_to_string(&mut number);
            return HealthFinding::ok(subject, format!("the book is open in process {number}"));
        }
        Err(TryLockError::Error(error)) => {
            let advice = "this file system has no locks: keep the book on a local disk";
            return HealthFinding::fault(subject, error.to_string(), advice);
        }
    }
    match OpenOptions::new().write(true).open(&path) {
        Ok(_) => HealthFinding::ok(subject, "no process has the book open to change it"),
        Err(error) => {
            let advice = "this user may read the book: run as its owner to change it";
            HealthFinding::warning(subject, error.to_string(), advice)
        }
    }
}

fn room(folder: &Path) -> HealthFinding {
    let subject = format!("disk of {}", folder.display());
    let need = used(folder).max(MIN_ROOM_BYTES);
    match fs4::available_space(folder) {
        Err(error) => HealthFinding::warning(subject, error.to_string(), "look with df"),
        Ok(free) if free < MIN_ROOM_BYTES => HealthFinding::fault(
            subject,
            format!("{} free", size(free)),
            "make room: a build stops when the disk is full",
        ),
        Ok(free) if free < need => HealthFinding::warning(
            subject,
            format!("{} free, the book has {}", size(free), size(need)),
            "`compact` and `repair` write the book once more: make room before you use them",
        ),
        Ok(free) => HealthFinding::ok(subject, format!("{} free", size(free))),
    }
}

/// Returns the bytes of the files in a folder and its folders.
fn used(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => used(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
}

fn file_system(folder: &Path) -> Option<HealthFinding> {
    let folder = folder.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let kind = mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let (place, kind) = (words.next()?, words.next()?);
            folder.starts_with(place).then_some((place.len(), kind))
        })
        .max_by_key(|(length, _)| *length)?
        .1;
    let subject = format!("file system of {}", folder.display());
    Some(match kind {
        "tmpfs" | "ramfs" => HealthFinding::warning(
            subject,
            format!("{kind} loses everything when the machine restarts"),
            "move the book to a disk",
        ),
        kind if SHARED_FILE_SYSTEMS.contains(&kind) => HealthFinding::warning(
            subject,
            format!("{kind}: locks and syncs depend on its server"),
            "a local disk is faster; never open the book on two machines",
        ),
        kind => HealthFinding::ok(subject, kind),
    })
}

fn clock(journal: &Path) -> Option<HealthFinding> {
    let changed = fs::metadata(journal).ok()?.modified().ok()?;
    let ahead = changed.duration_since(SystemTime::now()).ok();
    Some(match ahead.filter(|ahead| *ahead > MAX_CLOCK_DIFFERENCE) {
        Some(ahead) => HealthFinding::warning(
            "clock",
            format!(
                "the journal was changed {} s in the future",
                ahead.as_secs()
            ),
            "set the clock of this machine, or of the file server (chrony, systemd-timesyncd)",
        ),
        None => HealthFinding::ok("clock", "not behind the book's files"),
    })
}

/// Reports files that a repair set aside.
fn leftovers(folder: &Path) -> Vec<HealthFinding> {
    ["journal/000001.damaged", "store.damaged"]
        .iter()
        .map(|name| folder.join(name))
        .filter(|path| path.exists())
        .map(|path| {
            let found = "was set aside because it was damaged";
            let advice = "look at the disk's health; remove it when `kagetsu check` is content";
            HealthFinding::warning(path.display().to_string(), found, advice)
        })
        .collect()
}
