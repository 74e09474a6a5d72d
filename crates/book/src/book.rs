use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io, mem};

use kagetsu_game::{Answer, Bound, Move, Position, Verdict};

use crate::Derived;
use crate::base::id::{Id, Place};
use crate::base::node::Node;
use crate::base::record;
use crate::book_store::BookStore;
use crate::error::{BookError, JournalError, LearnError, OpenError};
use crate::folder_journal::FolderJournal;
use crate::graph::cache::ReadCache;
use crate::graph::derive::{Seen, value_after};
use crate::graph::frontier::Frontiers;
use crate::graph::growth::apply;
use crate::graph::index::{Changes, Index};
use crate::graph::keys::{Marker, POSITION, key};
use crate::graph::row::has_record;
use crate::jobs::current::Jobs;
use crate::jobs::frontier::JobFrontier;
use crate::journal::entry::{AnswerBody, AnswerMeaning, LogEntry};
use crate::journal::file::FileJournal;
use crate::journal::frozen::FrozenJournal;
use crate::journal::log::{Journal, JournalDigest, JournalSync, Sequence};
use crate::journal::rewrite::{Rewrite, remove_folder};
use crate::lock::Lock;
use crate::opening::{self, Notice};
use crate::settings::job::JobId;
use crate::settings::policies::selection::{Frontier, Selection};
use kagetsu_store::{Store, StoreError};
use tempfile::TempDir;

/// Options for opening a book.
#[derive(Clone, Copy, Debug)]
pub struct BookOptions {
    /// Whether to make the book where there is none.
    pub create: bool,
    /// Memory for the store. The store takes at most about twice that, and three bytes more for
    /// each position.
    pub cache_bytes: u64,
}

impl BookOptions {
    /// Makes the book where there is none, with the usual cache.
    #[must_use]
    pub fn creating() -> Self {
        Self {
            create: true,
            ..Self::default()
        }
    }
}

impl Default for BookOptions {
    /// Opens an existing book with 64 MiB of cache.
    fn default() -> Self {
        Self {
            create: false,
            cache_bytes: 64 << 20,
        }
    }
}

/// Entries of another process that are applied to the store together.
const ENTRIES_AT_A_TIME: usize = 256;

/// An opening book: one folder, open in one process.
pub struct Book {
    pub(crate) path: PathBuf,
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) store: Box<dyn Store>,
    pub(crate) marker: Marker,
    cache: ReadCache,
    pub(crate) frontiers: Frontiers,
    /// Whether a write failed half way, so that the journal has an entry that the store lacks.
    is_broken: bool,
    pub(crate) jobs: Jobs,
    _lock: Option<Lock>,
    /// The folder of the store of a book that is only read.
    _scratch: Option<TempDir>,
}

/// A book as it was at one moment, in the entries of its [journal](Book::sequence), for readers on
/// other threads. It has every method of [`Book`] that only reads, and they return what they would
/// have returned at that moment, however the book grows meanwhile, is compacted or closed.
///
/// The owner of a book takes one with [`Book::snapshot`] after a commit and shares it in an `Arc`:
/// ```
/// # use kagetsu_book::{Book, BookError, BookOptions, BookSnapshot};
/// # use std::sync::Arc;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let options = BookOptions::creating();
/// let (mut book, _) = Book::open(folder.path(), &options)?;
/// let snapshot: Arc<BookSnapshot> = Arc::new(book.snapshot()?);
/// let reader = std::thread::spawn(move || snapshot.overview());
/// // The book goes on growing here.
/// assert_eq!(reader.join().expect("no panic")?.variants.len(), 0);
/// # Ok(())
/// # }
/// ```
/// Where several are kept, the changes between them stay in memory, and a sorted file that was
/// replaced stays on disk: drop a snapshot when its reader is done, and take one for many readers.
pub struct BookSnapshot(Book);

impl Deref for BookSnapshot {
    type Target = Book;

    fn deref(&self) -> &Book {
        &self.0
    }
}

/// The effects of an entry that are not part of the book yet.
struct Applied {
    changes: Changes,
    /// The rows that were read and changed. They count only once the changes are made.
    cache: ReadCache,
    changed: Vec<JobId>,
    /// The position of each entry that is about one.
    about: Vec<Option<Id>>,
}

/// A position of the book and its moves, in the orientation in which it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The position.
    pub position: Position,
    /// The moves with the values that the book believes: where a move leads to a position of the
    /// book, the value comes from there.
    pub answer: Answer,
    /// The moves as they were searched.
    pub facts: Answer,
    /// The value of the position.
    pub derived: Derived,
}

impl Book {
    /// Opens the book in this folder. The notices are for the user.
    ///
    /// # Errors
    /// If there is no book, another process keeps it open for longer than two seconds, or its
    /// journal is damaged.
    pub fn open(path: &Path, options: &BookOptions) -> Result<(Self, Vec<Notice>), BookError> {
        let FolderJournal { journal, lock } = FolderJournal::open(path, options.create)?;
        let torn = Some(journal.torn()).filter(|bytes| *bytes > 0);
        let (book, mut notices) = Self::with_store(path, Box::new(journal), options, Some(lock))?;
        notices.extend(torn.map(Notice::Torn));
        Ok((book, notices))
    }

    /// Opens a book whose journal is elsewhere. The folder holds the store alone, which is made
    /// again from the journal where it does not belong to it.
    ///
    /// # Errors
    /// If another process keeps the folder open for longer than two seconds, the folder has a book
    /// of its own, or the journal is damaged or cannot be read.
    pub fn open_journal(
        cache: &Path,
        journal: Box<dyn Journal>,
        options: &BookOptions,
    ) -> Result<(Self, Vec<Notice>), BookError> {
        opening::check_is_no_url(cache)?;
        if cache.join("journal").exists() {
            return Err(OpenError::IsBook(cache.to_path_buf()).into());
        }
        fs::create_dir_all(cache).map_err(BookError::io("cannot make the cache", cache))?;
        let lock = Lock::take(cache)?;
        Self::with_store(cache, journal, options, Some(lock))
    }

    /// Opens the book in this folder to read it as it is now. The folder stays as it is, so the
    /// user needs no permission to write there, and any number of processes may read it at once.
    /// Later changes are not seen. The store's small level is copied to the folder for temporary
    /// files; a store that does not belong to the journal is made again there.
    ///
    /// # Errors
    /// If there is no book, another process keeps changing it for longer than two seconds, its
    /// journal is damaged, or there is no room for temporary files.
    pub fn open_to_read(
        path: &Path,
        options: &BookOptions,
    ) -> Result<(Self, Vec<Notice>), BookError> {
        opening::check_is_no_url(path)?;
        if !path.join("journal").exists() {
            opening::room_for_a_book(path, false)?;
        }
        let temporary = std::env::temp_dir();
        let scratch = tempfile::tempdir().map_err(BookError::io("cannot make", &temporary))?;
        // Nothing is read from the folder after this, but the files that stay open.
        let lock = Lock::share(path)?;
        let journal = FileJournal::open_to_read(path)?;
        let copy = scratch.path().join("store");
        match BookStore::copy_to_read(&path.join("store"), &copy) {
            Ok(()) => {}
            // The store is made again from the journal.
            Err(StoreError::Damaged(_)) => {
                let _ = fs::remove_dir_all(&copy);
            }
            Err(error) => return Err(error.into()),
        }
        let (mut book, notices) =
            Self::with_store(scratch.path(), Box::new(journal), options, None)?;
        drop(lock);
        book.path = path.to_path_buf();
        book._scratch = Some(scratch);
        Ok((book, notices))
    }

    /// Returns the book as it is now, which any thread may read while this book grows. It costs
    /// no copy of the book.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn snapshot(&mut self) -> Result<BookSnapshot, BookError> {
        let journal = FrozenJournal {
            place: self.journal.place(),
            entries: self.sequence(),
            digest: self.digest(),
        };
        let jobs = Jobs {
            specs: Arc::clone(&self.jobs.specs),
            ..Jobs::default()
        };
        Ok(BookSnapshot(Self {
            path: self.path.clone(),
            journal: Box::new(journal),
            store: self.store.snapshot()?,
            marker: self.marker,
            cache: ReadCache::default(),
            frontiers: Frontiers::new(0),
            is_broken: false,
            jobs,
            _lock: None,
            _scratch: None,
        }))
    }

    fn with_store(
        path: &Path,
        journal: Box<dyn Journal>,
        options: &BookOptions,
        lock: Option<Lock>,
    ) -> Result<(Self, Vec<Notice>), BookError> {
        // A reader takes no lock of its own, and cannot mend the folder.
        let lock_is_shared = lock.is_none();
        let opened = opening::open(path, &*journal, options.cache_bytes)?;
        let mut book = Self {
            path: path.to_path_buf(),
            journal,
            store: opened.store,
            marker: opened.marker,
            cache: ReadCache::new(options.cache_bytes),
            frontiers: Frontiers::new(options.cache_bytes),
            is_broken: false,
            jobs: Jobs::default(),
            _lock: lock,
            _scratch: None,
        };
        book.read_specs()?;
        let mut notices = opened.notices;
        let entries = book.journal.entries();
        if lock_is_shared && notices.is_empty() && opened.held_entries == 0 && entries > 0 {
            let reason = "it held nothing".to_string();
            notices.push(Notice::Rebuilt(reason, entries));
        }
        Ok((book, notices))
    }

    /// Returns the folder of the book.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the place of the journal for messages: a path, or a URL without secrets.
    #[must_use]
    pub fn place(&self) -> String {
        self.journal.place()
    }

    /// Refuses an operation that rewrites the journal where that is not in the book's folder.
    pub(crate) fn require_folder(&self) -> Result<(), BookError> {
        if self.path.join("journal").exists() {
            Ok(())
        } else {
            Err(OpenError::NeedsFolder(self.journal.place()).into())
        }
    }

    /// Returns the number of positions with a record.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.marker.positions
    }

    /// Returns whether the book holds no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of entries of the journal.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        Sequence(self.marker.applied)
    }

    /// Returns the digest of the entries of the journal.
    #[must_use]
    pub fn digest(&self) -> JournalDigest {
        JournalDigest(self.marker.journal)
    }

    /// Returns the entry of a position, in any orientation and reached by any moves. A position
    /// whose record was [invalidated](Self::distrust) has none.
    ///
    /// # Errors
    /// If the record is damaged.
    pub fn lookup(&self, position: &Position) -> Result<Option<Entry>, BookError> {
        let canonical = position.canonical();
        let id = Id::of(position.variant().code(), &canonical);
        let Some(entry) = self.entry(id)? else {
            return Ok(None);
        };
        if entry.position.setup() != Some(&canonical.packed) {
            return Err(LearnError::Collision(canonical.key).into());
        }
        let (variant, back) = (
            position.variant(),
            position.variant().inverse(canonical.symmetry),
        );
        let best = entry.derived.best.map(|m| variant.image(m, back));
        Ok(Some(Entry {
            position: position.clone(),
            answer: entry.answer.turned(variant, back),
            facts: entry.facts.turned(variant, back),
            derived: Derived {
                best,
                ..entry.derived
            },
        }))
    }

    /// Returns a view of the store for reading.
    pub(crate) fn index(&self) -> Index<'_> {
        Index::new(&*self.store, self.marker, ReadCache::default())
    }

    /// Returns the entry of a record, in canonical orientation.
    pub(crate) fn entry(&self, id: Id) -> Result<Option<Entry>, BookError> {
        let mut index = self.index();
        let Some(node) = index.node(id)? else {
            return Ok(None);
        };
        if index.reach(id)?.is_distrusted() {
            return Ok(None);
        }
        let derived = index.value(id)?.ok_or(BookError::Entry("a value"))?;
        let answer = believed(&node, |m| value_after(&mut index, id, &node, m))?;
        Ok(Some(Entry {
            position: node.position.clone(),
            answer,
            facts: node.facts.clone(),
            derived,
        }))
    }

    /// Returns all entries in canonical orientation, sorted by variant, stones and key.
    pub fn positions(&self) -> impl Iterator<Item = Result<Entry, BookError>> + '_ {
        self.ids()
            .filter_map(|id| id.and_then(|id| self.entry(id)).transpose())
    }

    /// Returns the next `most` entries after a place, in the order of [`Book::positions`]; the
    /// first ones without a place.
    ///
    /// # Errors
    /// If a record is damaged.
    pub fn page(&self, after: Option<Place>, most: usize) -> Result<Vec<Entry>, BookError> {
        let mut from = key(POSITION, &[]);
        if let Some(Place(id)) = after {
            from.extend(id.0);
            from.push(0);
        }
        self.ids_from(&from)
            .filter_map(|id| id.and_then(|id| self.entry(id)).transpose())
            .take(most)
            .collect()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = Result<Id, BookError>> + '_ {
        self.ids_from(&[POSITION])
    }

    /// Returns the positions with a record, from a key on.
    pub(crate) fn ids_from(
        &self,
        from: &[u8],
    ) -> impl Iterator<Item = Result<Id, BookError>> + use<'_> {
        let rows = self.store.range(&[POSITION], from);
        let searched = rows.filter(|pair| pair.as_ref().map_or(true, |(_, row)| has_record(row)));
        searched.map(|pair| Id::at_end(&pair?.0).ok_or(BookError::Entry("a key")))
    }

    /// Learns an answer that belongs to no job. It is durable after a [`JournalSync::sync`].
    ///
    /// # Errors
    /// If the answer is empty or has an illegal move, or the disk refuses. Then the book is
    /// unchanged.
    pub fn learn(&mut self, position: &Position, answer: &Answer) -> Result<Sequence, BookError> {
        if answer.is_empty() {
            return Err(LearnError::Empty(position.clone()).into());
        }
        let sequence = self.log_answer(answered(None, false, position, answer.clone()))?;
        self.walk_on()?;
        Ok(sequence)
    }

    /// Appends an entry to the journal and applies it to the store.
    pub(crate) fn log(&mut self, entry: &LogEntry) -> Result<Sequence, BookError> {
        self.log_known(entry, None)
    }

    /// Appends an answer to the journal and applies it to the store.
    pub(crate) fn log_answer(
        &mut self,
        (entry, meaning): (LogEntry, AnswerMeaning),
    ) -> Result<Sequence, BookError> {
        self.log_known(&entry, Some(meaning))
    }

    fn log_known(
        &mut self,
        entry: &LogEntry,
        meaning: Option<AnswerMeaning>,
    ) -> Result<Sequence, BookError> {
        if self.is_broken {
            return Err(JournalError::Broken(self.path.clone()).into());
        }
        let bytes = entry.encode();
        let changes = self.changes_of([(entry, &bytes[..], meaning)])?;
        let sequence = self.journal.append(&bytes)?;
        self.take_over([entry], changes)?;
        Ok(sequence)
    }

    /// Applies the entries that another process has appended to the journal since, at most
    /// `max`. Returns how many there were.
    ///
    /// # Errors
    /// If the journal cannot be read, or the store fails.
    pub fn catch_up(&mut self, max: usize) -> Result<usize, BookError> {
        if self.is_broken {
            return Err(JournalError::Broken(self.path.clone()).into());
        }
        let mut sequence = self.sequence();
        let read = self.journal.read(sequence, max)?;
        for group in read.chunks(ENTRIES_AT_A_TIME) {
            let mut decode = |bytes: &[u8]| {
                sequence.0 += 1;
                LogEntry::decode(sequence, bytes)
            };
            let entries = group.iter().map(|bytes| decode(bytes));
            let entries = entries.collect::<Result<Vec<_>, _>>()?;
            let both = entries.iter().zip(group);
            let changes = self.changes_of(both.map(|(entry, bytes)| (entry, &bytes[..], None)))?;
            self.take_over(&entries, changes)?;
            if entries
                .iter()
                .any(|entry| matches!(entry, LogEntry::Job(_)))
            {
                self.read_specs()?;
            }
        }
        Ok(read.len())
    }

    /// Returns the changes of the store that follow from entries.
    fn changes_of<'a>(
        &mut self,
        entries: impl IntoIterator<Item = (&'a LogEntry, &'a [u8], Option<AnswerMeaning>)>,
    ) -> Result<Applied, BookError> {
        let mut index = Index::new(&*self.store, self.marker, mem::take(&mut self.cache));
        let mut about = Vec::new();
        for (entry, bytes, meaning) in entries {
            about.push(apply(&mut index, entry, bytes, meaning)?);
        }
        let changed = index.changed_jobs().map(JobId).collect();
        let (changes, cache) = index.into_parts();
        Ok(Applied {
            changes,
            cache,
            changed,
            about,
        })
    }

    /// Changes the book by entries that the journal has.
    fn take_over<'a>(
        &mut self,
        entries: impl IntoIterator<Item = &'a LogEntry>,
        applied: Applied,
    ) -> Result<(), BookError> {
        let Applied {
            changes,
            cache,
            changed,
            about,
        } = applied;
        // From here on the entries count: where the store fails, the next opening applies it.
        self.is_broken = true;
        self.store.apply(changes.batch)?;
        (self.marker, self.cache) = (changes.marker, cache);
        self.frontiers.apply(changes.frontier);
        if self.jobs.winning_moves.is_some() {
            self.jobs.new_proofs.extend(changes.new_proofs);
        }
        self.jobs.changed.extend(changed);
        for (entry, about) in entries.into_iter().zip(about) {
            self.tell_selections(entry, about)?;
        }
        if self.store.needs_maintenance() {
            self.syncer().sync()?;
            self.store.maintain()?;
        }
        self.is_broken = false;
        Ok(())
    }

    /// Tells the choice of every job what an entry of the journal about this position changes.
    fn tell_selections(&mut self, entry: &LogEntry, about: Option<Id>) -> Result<(), BookError> {
        // No choice depends on how far a job has walked, or on what people say.
        if matches!(entry, LogEntry::Walk { .. } | LogEntry::Annotate { .. })
            || self.jobs.selections.is_empty()
        {
            return Ok(());
        }
        let jobs: Vec<JobId> = self.jobs.selections.keys().copied().collect();
        for job in jobs {
            self.select(job, |selection, frontier| {
                match about {
                    Some(id) => selection.learned(frontier, id)?,
                    None => selection.forget(),
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Asks the choice of a job, if it has one, with what the job sees of the book.
    pub(crate) fn select<T: Default>(
        &mut self,
        job: JobId,
        ask: impl FnOnce(&mut dyn Selection, &mut dyn Frontier) -> Result<T, BookError>,
    ) -> Result<T, BookError> {
        let Some(selection) = self.jobs.selections.get_mut(&job) else {
            return Ok(T::default());
        };
        let mut index = Index::new(&*self.store, self.marker, mem::take(&mut self.cache));
        let frontier = &mut JobFrontier {
            job,
            index: &mut index,
            frontiers: &mut self.frontiers,
            store: &*self.store,
            marker: self.marker,
            at_hand: &self.jobs.at_hand,
        };
        let answer = ask(&mut **selection, frontier);
        self.cache = index.into_parts().1;
        answer
    }

    /// Reads from the store through the cache of the book.
    pub(crate) fn cached<T>(&mut self, look: impl FnOnce(&mut Index) -> T) -> T {
        let mut index = Index::new(&*self.store, self.marker, mem::take(&mut self.cache));
        let found = look(&mut index);
        self.cache = index.into_parts().1;
        found
    }

    /// Makes the journal durable and then the store, so that the store on disk is never ahead of
    /// the journal.
    fn flush(&mut self) -> Result<(), BookError> {
        self.syncer().sync()?;
        Ok(self.store.flush()?)
    }

    /// Returns a handle that makes the journal durable without borrowing the book.
    #[must_use]
    pub fn syncer(&self) -> Arc<dyn JournalSync> {
        self.journal.syncer()
    }

    /// Makes everything durable and releases the folder.
    ///
    /// # Errors
    /// If the disk refuses, or has refused before.
    pub fn close(mut self) -> Result<(), BookError> {
        if self.is_broken {
            return Err(JournalError::Broken(self.path).into());
        }
        self.flush()
    }

    /// Lets another journal take the place of this book's, whose files are closed first.
    pub(crate) fn replace_journal(self, new: Rewrite) -> Result<(), BookError> {
        // The book stays locked.
        let Self {
            journal,
            store,
            _lock,
            ..
        } = self;
        drop((journal, store));
        new.finish(None)?;
        Ok(())
    }

    /// Removes the files of a book that was just made and is empty.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn unmake(self) -> Result<(), BookError> {
        let Self {
            path,
            journal,
            store,
            _lock,
            ..
        } = self;
        drop((journal, store));
        // In this order, a crash leaves a book or an unfinished one, never an unknown folder.
        for name in ["store", "manifest", "journal", "lock"] {
            let at = path.join(name);
            let removed = if at.is_dir() {
                remove_folder(&at)
            } else {
                fs::remove_file(&at)
            };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(BookError::io("cannot remove", &at)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the facts of a node with the values from the book: `after` returns the value behind a
/// move that leads to a position of the book.
pub(crate) fn believed(
    node: &Node,
    mut after: impl FnMut(Move) -> Result<Option<Derived>, BookError>,
) -> Result<Answer, BookError> {
    let believe = |(m, verdict): &(_, Verdict)| {
        let seen = after(*m)?.and_then(|child| Seen::from_child(child, verdict));
        let Some(seen) = seen else {
            return Ok((*m, verdict.clone()));
        };
        let depth = u8::try_from(seen.depth).unwrap_or(u8::MAX);
        let (score, proof, line) = (seen.score, seen.proof, vec![*m]);
        Ok((
            *m,
            Verdict {
                score,
                bound: Bound::Exact,
                depth,
                line,
                proof,
                ..verdict.clone()
            },
        ))
    };
    node.facts.verdicts().iter().map(believe).collect()
}

/// Makes the journal entry of an answer: in canonical orientation, with the engines by name.
/// Returns it with what it says.
pub(crate) fn answered(
    job: Option<JobId>,
    is_widening: bool,
    position: &Position,
    answer: Answer,
) -> (LogEntry, AnswerMeaning) {
    let (canonical, variant) = (position.canonical(), position.variant());
    let facts = answer.with_own_lines().turned(variant, canonical.symmetry);
    let mut engines: Vec<String> = Vec::new();
    let groups = record::write(&facts, |engine| {
        let at = engines
            .iter()
            .position(|known| **known == **engine)
            .unwrap_or_else(|| {
                engines.push(engine.to_string());
                engines.len() - 1
            });
        Ok::<u32, std::convert::Infallible>(at as u32)
    });
    let Ok(groups) = groups;
    let body = AnswerBody {
        job: job.map(|job| job.0),
        is_widening,
        variant: variant.code(),
        packed: canonical.packed.0.clone(),
        engines,
        groups,
    };
    let id = Id::of(variant.code(), &canonical);
    (LogEntry::Answer(body), AnswerMeaning { id, facts })
}
