use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kagetsu_game::{Answer, Bound, Move, Packed, Position, Proof, ProofKind, Question, Variant, Verdict};

use crate::entry::{AnswerBody, LogEntry, SpecBody};
use crate::growth::{apply, followed, read_facts};
use crate::id::{Id, Place};
use crate::index::{FRONTIER, Index, Marker, RECORD, key};
use crate::job::{Job, JobChange, JobId, JobSpec, JobState, Work};
use crate::journal::{Journal, Sequence, Syncer};
use crate::lock::Lock;
use crate::opening::{self, Notice};
use crate::store::Store;
use crate::{BookError, Derived, record};

/// Changes after which the store is made durable too, so that little is replayed after a crash.
const FLUSH_EVERY: u64 = 2_000;

/// How to open a book.
#[derive(Clone, Copy, Debug)]
pub struct BookOptions {
    /// Makes the book where there is none.
    pub create: bool,
    /// Memory for the store's cache.
    pub cache_bytes: u64,
}

impl Default for BookOptions {
    /// An existing book, 64 MiB of cache.
    fn default() -> Self {
        Self { create: false, cache_bytes: 64 << 20 }
    }
}

/// An opening book: one folder, held by one process.
pub struct Book {
    path: PathBuf,
    journal: Journal,
    pub(crate) store: Box<dyn Store>,
    pub(crate) marker: Marker,
    flushed: u64,
    next_work: u64,
    at_hand: BTreeMap<(JobId, Id), u64>,
    _lock: Lock,
}

/// What a book holds of one position, in the position's own orientation.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The position.
    pub position: Position,
    /// What the book believes: where a move leads to a position of the book, the value comes from there.
    pub answer: Answer,
    /// As it was searched.
    pub facts: Answer,
    /// The value of the position.
    pub derived: Derived,
}

/// A book in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Positions with a record.
    pub positions: u64,
    /// Of these by stones on the board.
    pub by_stones: BTreeMap<u16, u64>,
    /// Positions by the depth of their search.
    pub by_depth: BTreeMap<u8, u64>,
    /// Positions proven won, lost and drawn for the side to move.
    pub wins: u64,
    /// See [`Stats::wins`].
    pub losses: u64,
    /// See [`Stats::wins`].
    pub draws: u64,
    /// Positions visited by all searches.
    pub nodes: u64,
    /// Entries of the journal.
    pub entries: u64,
}

impl Book {
    /// Opens the book in this folder. The notices are for a person to hear.
    ///
    /// # Errors
    /// If there is no book, another process holds it, or its journal is damaged.
    pub fn open(path: &Path, options: &BookOptions) -> Result<(Self, Vec<Notice>), BookError> {
        let is_new = !path.join("journal").exists();
        if is_new {
            let is_empty = match fs::read_dir(path) {
                Ok(mut entries) => {
                    entries.all(|e| e.is_ok_and(|e| e.file_name() == "lock" || e.file_name() == "journal.new"))
                }
                Err(_) if !path.exists() => true,
                Err(error) => return Err(BookError::io("cannot read", path)(error)),
            };
            match (options.create, is_empty, path.exists()) {
                (true, true, _) => fs::create_dir_all(path).map_err(BookError::io("cannot make the book", path))?,
                (false, _, false) => return Err(BookError::Missing(path.to_path_buf())),
                _ => return Err(BookError::NotABook(path.to_path_buf())),
            }
        }
        let lock = Lock::take(path)?;
        if is_new {
            Journal::create(&path.join("journal"))?;
        }
        let opened = opening::open(path, options.cache_bytes)?;
        let book = Self {
            path: path.to_path_buf(),
            journal: opened.journal,
            store: opened.store,
            flushed: opened.marker.applied,
            marker: opened.marker,
            next_work: 0,
            at_hand: BTreeMap::new(),
            _lock: lock,
        };
        Ok((book, opened.notices))
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Positions with a record.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.marker.positions
    }

    /// Whether it holds no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of its files.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn bytes(&self) -> Result<u64, BookError> {
        bytes_of(&self.path)
    }

    /// Entries of its journal.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        Sequence(self.marker.applied)
    }

    /// What the book holds of a position, whichever way it is turned and by whichever moves it was reached.
    ///
    /// # Errors
    /// A damaged record.
    pub fn lookup(&self, position: &Position) -> Result<Option<Entry>, BookError> {
        let canonical = position.canonical();
        let id = Id::of(position.variant().code(), &canonical);
        let Some(entry) = self.entry(id)? else { return Ok(None) };
        if entry.position.setup() != Some(&canonical.packed) {
            return Err(BookError::Collision(canonical.key));
        }
        let (variant, back) = (position.variant(), position.variant().inverse(canonical.symmetry));
        let best = entry.derived.best.map(|m| variant.image(m, back));
        Ok(Some(Entry {
            position: position.clone(),
            answer: entry.answer.turned(variant, back),
            facts: entry.facts.turned(variant, back),
            derived: Derived { best, ..entry.derived },
        }))
    }

    pub(crate) fn index(&self) -> Index<'_> {
        Index::new(&*self.store, self.marker)
    }

    /// The entry of a record, in canonical orientation.
    pub(crate) fn entry(&self, id: Id) -> Result<Option<Entry>, BookError> {
        let index = self.index();
        let Some(record) = index.record(id)? else { return Ok(None) };
        let variant = variant(id)?;
        let position = Position::unpack(variant, Packed(record.packed.clone()))?;
        let facts = read_facts(&index, &record.groups)?;
        let derived = index.value(id)?.ok_or(BookError::Store("a value"))?;
        let mut answer = facts.clone();
        for (m, child) in followed(&position, &facts) {
            if let (Some(value), Some(verdict)) = (index.value(child)?, facts.get(m)) {
                let seen = seen(verdict, value);
                answer.retain(|at, _| at != m);
                answer.extend([(m, seen)]);
            }
        }
        Ok(Some(Entry { position, answer, facts, derived }))
    }

    /// All entries, in canonical orientation: by variant, then by stones, then by key.
    pub fn positions(&self) -> impl Iterator<Item = Result<Entry, BookError>> + '_ {
        self.ids().map(|id| self.entry(id?)?.ok_or(BookError::Store("a record")))
    }

    /// The next `most` entries after a place, in the order of [`Book::positions`]; from the first where none is given.
    ///
    /// # Errors
    /// A damaged record.
    pub fn page(&self, after: Option<Place>, most: usize) -> Result<Vec<Entry>, BookError> {
        let mut from = key(RECORD, &[]);
        if let Some(Place(id)) = after {
            from.extend(id.0);
            from.push(0);
        }
        let ids = self.store.range(&[RECORD], &from).take(most);
        let entry = |id: Id| self.entry(id)?.ok_or(BookError::Store("a record"));
        ids.map(|pair| entry(Id::at_end(&pair?.0).ok_or(BookError::Store("a key"))?)).collect()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = Result<Id, BookError>> + '_ {
        self.store.range(&[RECORD], &[RECORD]).map(|pair| Id::at_end(&pair?.0).ok_or(BookError::Store("a key")))
    }

    /// Learns an answer outside of any job. It is durable after a [`Syncer::sync`].
    ///
    /// # Errors
    /// If the disk says no; then the book is as it was.
    pub fn learn(&mut self, position: &Position, answer: &Answer) -> Result<Sequence, BookError> {
        self.log(&answer_entry(None, position, answer))
    }

    fn log(&mut self, entry: &LogEntry) -> Result<Sequence, BookError> {
        let mut index = Index::new(&*self.store, self.marker);
        apply(&mut index, entry)?;
        index.marker.applied += 1;
        let (batch, marker) = index.into_batch();
        let bytes = postcard::to_allocvec(entry).expect("plain data, and memory grows");
        let sequence = self.journal.append(&bytes)?;
        self.store.apply(batch)?;
        self.marker = marker;
        if self.marker.applied - self.flushed >= FLUSH_EVERY {
            self.flush()?;
        }
        Ok(sequence)
    }

    /// The store is never ahead of the journal on disk.
    fn flush(&mut self) -> Result<(), BookError> {
        self.syncer().sync()?;
        self.store.flush()?;
        self.flushed = self.marker.applied;
        Ok(())
    }

    /// Makes durable what was learned, without holding the book.
    #[must_use]
    pub fn syncer(&self) -> Syncer {
        self.journal.syncer()
    }

    /// Makes everything durable and lets the folder go.
    ///
    /// # Errors
    /// If the disk says no.
    pub fn close(mut self) -> Result<(), BookError> {
        self.flush()
    }

    /// Makes a job.
    ///
    /// # Errors
    /// If it makes no sense, or the name is taken.
    pub fn create_job(&mut self, spec: &JobSpec) -> Result<JobId, BookError> {
        let wrong = [
            (spec.name.is_empty(), "a name"),
            (spec.roots.is_empty(), "a root"),
            (spec.roots.iter().any(|root| root.variant() != spec.variant), "roots of one variant"),
            (spec.width == 0, "at least one move a position (--top)"),
            (spec.target == 0, "at least one position (--positions)"),
            (spec.effort == kagetsu_game::Effort::default(), "an effort: depth, nodes or time"),
        ];
        if let Some((_, needs)) = wrong.iter().find(|(wrong, _)| *wrong) {
            return Err(BookError::JobSpec(needs));
        }
        if self.jobs()?.iter().any(|job| job.spec.name == spec.name) {
            return Err(BookError::JobDiffers(spec.name.clone(), "being there already"));
        }
        let id = JobId(self.jobs()?.len() as u32);
        self.log(&LogEntry::Job(SpecBody::from(spec)))?;
        Ok(id)
    }

    /// The job of this name with these settings, made or resumed, with the target of `spec`.
    ///
    /// # Errors
    /// If the book has a different job of this name.
    pub fn start_job(&mut self, spec: &JobSpec) -> Result<JobId, BookError> {
        let Some(job) = self.jobs()?.into_iter().find(|job| job.spec.name == spec.name) else {
            return self.create_job(spec);
        };
        if let Some(what) = SpecBody::from(spec).difference(&SpecBody::from(&job.spec)) {
            return Err(BookError::JobDiffers(spec.name.clone(), what));
        }
        if job.spec.target != spec.target {
            self.change_job(job.id, JobChange::Target(spec.target))?;
        }
        self.change_job(job.id, JobChange::Resume)?;
        Ok(job.id)
    }

    /// Changes how a job stands.
    ///
    /// # Errors
    /// If there is no such job, or the disk says no.
    pub fn change_job(&mut self, id: JobId, change: JobChange) -> Result<Sequence, BookError> {
        self.job(id)?;
        self.log(&LogEntry::Change(id.0, change))
    }

    /// All jobs, in the order in which they were made.
    ///
    /// # Errors
    /// A damaged store.
    pub fn jobs(&self) -> Result<Vec<Job>, BookError> {
        let index = self.index();
        index.jobs()?.into_iter().map(|(id, _)| self.job(JobId(id))).collect()
    }

    /// One job.
    ///
    /// # Errors
    /// If there is no such job.
    pub fn job(&self, id: JobId) -> Result<Job, BookError> {
        let index = self.index();
        let unknown = || BookError::NoJob(id.0.to_string());
        let body = index.job(id.0)?.ok_or_else(unknown)?;
        let spec = index.spec(id.0)?.and_then(|spec| spec.spec()).ok_or_else(unknown)?;
        let spec = JobSpec { target: body.target, ..spec };
        let (positions, set_aside, frontier) = (body.positions, body.set_aside, body.frontier);
        Ok(Job { id, spec, state: body.state, positions, set_aside, frontier })
    }

    /// The most urgent positions of a running job that are not at hand; they are at hand until they are
    /// [finished](Self::finish), [released](Self::release) or [set aside](Self::set_aside).
    ///
    /// # Errors
    /// A damaged store.
    pub fn next_work(&mut self, job: JobId, n: usize) -> Result<Vec<Work>, BookError> {
        let state = self.job(job)?;
        let at_hand = self.at_hand.range((job, Id([0; Id::LEN]))..=(job, Id([u8::MAX; Id::LEN]))).count() as u64;
        let left = state.spec.target.saturating_sub(state.positions).saturating_sub(at_hand);
        if state.state != JobState::Running {
            return Ok(Vec::new());
        }
        let n = n.min(usize::try_from(left).unwrap_or(usize::MAX));
        let prefix = key(FRONTIER, &[&job.0.to_be_bytes()]);
        let mut found = Vec::new();
        for pair in self.store.range(&prefix, &prefix) {
            if found.len() == n {
                break;
            }
            let (at, _) = pair?;
            let id = Id::at_end(&at).ok_or(BookError::Store("the frontier"))?;
            let priority = at.get(5..13).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
            if !self.at_hand.contains_key(&(job, id)) {
                found.push((id, priority));
            }
        }
        let works =
            found.into_iter().map(|(id, priority)| self.work(&state, id, priority)).collect::<Result<Vec<_>, _>>()?;
        for work in &works {
            self.at_hand.insert((job, work.at), work.id);
        }
        Ok(works)
    }

    fn work(&mut self, job: &Job, id: Id, priority: u64) -> Result<Work, BookError> {
        self.next_work += 1;
        let question = match self.entry(id)? {
            Some(entry) => widening(&job.spec, entry),
            None => Question { width: job.spec.width, ..Question::new(self.waiting(job, id)?, job.spec.effort) },
        };
        Ok(Work { id: self.next_work, job: job.id, question, priority, at: id })
    }

    /// A position that waits has no record yet: it is a root, or one move beyond a record.
    fn waiting(&self, job: &Job, id: Id) -> Result<Position, BookError> {
        let is_it = |position: &Position| position.canonical().key == id.key();
        let unpack = |position: Position| Ok(Position::unpack(position.variant(), position.canonical().packed)?);
        for parent in self.index().parents(id)? {
            let Some(entry) = self.entry(parent)? else { continue };
            let child = followed(&entry.position, &entry.facts).into_iter().find(|(_, child)| *child == id);
            if let Some(next) = child.and_then(|(m, _)| entry.position.play(m).ok()) {
                return unpack(next);
            }
        }
        job.spec.roots.iter().find(|root| is_it(root)).cloned().map(unpack).ok_or(BookError::Store("the frontier"))?
    }

    /// Learns the answer to a work, and lets the job grow from it. Durable after a [`Syncer::sync`].
    ///
    /// # Errors
    /// If the disk says no; then the book is as it was, and the work is still at hand.
    pub fn finish(&mut self, work: &Work, answer: &Answer) -> Result<Sequence, BookError> {
        let sequence = self.log(&answer_entry(Some(work.job), &work.question.position, answer))?;
        self.release(work);
        Ok(sequence)
    }

    /// The work was not done: it waits again.
    pub fn release(&mut self, work: &Work) {
        self.at_hand.remove(&(work.job, work.at));
    }

    /// The work cannot be done: the job goes on without it.
    ///
    /// # Errors
    /// If the disk says no.
    pub fn set_aside(&mut self, work: &Work, reason: &str) -> Result<Sequence, BookError> {
        let canonical = work.question.position.canonical();
        let variant = work.question.position.variant().code();
        let (packed, reason) = (canonical.packed.0, reason.to_string());
        let sequence = self.log(&LogEntry::SetAside { job: work.job.0, variant, packed, reason })?;
        self.release(work);
        Ok(sequence)
    }

    /// The book in numbers; reads it whole.
    ///
    /// # Errors
    /// A damaged record.
    pub fn stats(&self) -> Result<Stats, BookError> {
        let mut stats = Stats { entries: self.marker.applied, ..Stats::default() };
        for id in self.ids() {
            let id = id?;
            let entry = self.entry(id)?.ok_or(BookError::Record(id.key()))?;
            stats.positions += 1;
            *stats.by_stones.entry(id.stones()).or_default() += 1;
            *stats.by_depth.entry(entry.facts.best().map_or(0, |(_, v)| v.depth)).or_default() += 1;
            stats.nodes += entry.facts.nodes();
            match entry.derived.proof.map(|proof| proof.claim) {
                Some(kagetsu_game::Claim::Win) => stats.wins += 1,
                Some(kagetsu_game::Claim::Loss) => stats.losses += 1,
                Some(kagetsu_game::Claim::Draw) => stats.draws += 1,
                None => {}
            }
        }
        Ok(stats)
    }
}

fn bytes_of(folder: &Path) -> Result<u64, BookError> {
    let fail = |error| BookError::io("cannot read", folder)(error);
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let about = entry.metadata().map_err(fail)?;
        bytes += if about.is_dir() { bytes_of(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}

fn variant(id: Id) -> Result<Variant, BookError> {
    Variant::from_code(id.variant()).map_err(|error| BookError::Position(error.into()))
}

/// What a move is worth by the position that it leads to.
fn seen(verdict: &Verdict, child: Derived) -> Verdict {
    let proof = child.proof.map(|proof| Proof { kind: ProofKind::Tree, ..proof.before() });
    let line = verdict.line.first().copied().into_iter().collect();
    let depth = u8::try_from(child.depth + 1).unwrap_or(u8::MAX);
    let score = proof.map_or(child.score.before(), Proof::score);
    Verdict { score, bound: Bound::Exact, depth, line, proof, ..verdict.clone() }
}

/// The moves of a known position that the book does not have: they may be better than those it has.
fn widening(spec: &JobSpec, entry: Entry) -> Question {
    let bounded = entry.facts.verdicts().iter().filter(|(_, v)| !v.is_exact()).map(|(m, _)| *m);
    let mut moves: Vec<Move> = bounded.collect();
    if moves.is_empty() {
        let known = |m: &Move| entry.facts.get(*m).is_some();
        moves = entry.position.distinct_moves().into_iter().filter(|m| !known(m)).collect();
    }
    Question { moves, width: spec.width, ..Question::new(entry.position, spec.effort) }
}

/// What the journal says of an answer: in canonical orientation, with the engines by name.
fn answer_entry(job: Option<JobId>, position: &Position, answer: &Answer) -> LogEntry {
    let canonical = position.canonical();
    let turned = answer.turned(position.variant(), canonical.symmetry);
    let mut engines: Vec<String> = Vec::new();
    let groups = record::write(&turned, |engine| {
        let at = engines.iter().position(|known| **known == **engine).unwrap_or_else(|| {
            engines.push(engine.to_string());
            engines.len() - 1
        });
        Ok::<u32, std::convert::Infallible>(at as u32)
    });
    let Ok(groups) = groups;
    LogEntry::Answer(AnswerBody {
        job: job.map(|job| job.0),
        variant: position.variant().code(),
        packed: canonical.packed.0,
        engines,
        groups,
    })
}
