//! How a book grows: what an entry of the journal does to the store. The same entries in the same order always give the
//! same store.

use std::collections::BTreeSet;
use std::sync::Arc;

use kagetsu_game::{Answer, Bound, Claim, Move, Packed, Position, Proof, ProofKind, Score, Variant, Verdict};

use crate::BookError;
use crate::entry::{AnswerBody, LogEntry, SpecBody};
use crate::id::Id;
use crate::index::{Index, JobBody};
use crate::job::JobState;
use crate::record::{self, Group, Record};
use crate::value::Derived;

/// One ply, in the unit of priorities.
const PLY: u64 = 1_000_000;

/// Does to the store what an entry says.
pub(crate) fn apply(index: &mut Index, entry: &LogEntry) -> Result<(), BookError> {
    match entry {
        LogEntry::Answer(body) => learn(index, body),
        LogEntry::Job(spec) => create(index, spec),
        LogEntry::Change(id, change) => {
            let mut job = index.job(*id)?.ok_or(BookError::Store("a job"))?;
            job.change(change);
            index.put_job(*id, &job)
        }
        LogEntry::SetAside { job, variant, packed, .. } => set_aside(index, *job, *variant, packed),
    }
}

fn variant(code: u32) -> Result<Variant, BookError> {
    Variant::from_code(code).map_err(|error| BookError::Position(error.into()))
}

fn unpack(code: u32, packed: &[u8]) -> Result<(Position, Id), BookError> {
    let position = Position::unpack(variant(code)?, Packed(packed.to_vec()))?;
    let id = Id::of(code, &position.canonical());
    Ok((position, id))
}

fn learn(index: &mut Index, body: &AnswerBody) -> Result<(), BookError> {
    let (position, id) = unpack(body.variant, &body.packed)?;
    let names: Vec<Arc<str>> = body.engines.iter().map(|name| name.as_str().into()).collect();
    let mut facts = record::read(&body.groups, |number| names.get(number as usize).cloned())
        .ok_or(BookError::Store("an answer in the journal"))?;
    let known = index.record(id)?;
    if let Some(known) = &known {
        if known.packed != body.packed {
            return Err(BookError::Collision(id.key()));
        }
        facts.merge(read_facts(index, &known.groups)?);
    }
    let groups = record::write(&facts, |engine| index.engine_number(engine))?;
    index.put_record(id, &Record { packed: body.packed.clone(), groups })?;
    index.marker.positions += u64::from(known.is_none());
    for (m, child) in followed(&position, &facts) {
        debug_assert!(facts.get(m).is_some());
        index.link(child, id)?;
    }
    if let Some(job) = body.job.filter(|_| known.is_none()) {
        let mut state = index.job(job)?.ok_or(BookError::Store("a job"))?;
        state.positions += 1;
        index.put_job(job, &state)?;
    }
    propagate(index, id)?;
    for (job, _) in index.jobs()? {
        grow(index, job, id)?;
        settle(index, job)?;
    }
    Ok(())
}

pub(crate) fn read_facts(index: &Index, groups: &[Group]) -> Result<Answer, BookError> {
    let name = |number| index.engine(number).ok().flatten();
    record::read(groups, name).ok_or(BookError::Store("a record"))
}

/// The moves with an exact value and where they lead; none where the game is over or a proof leaves nothing to follow.
pub(crate) fn followed(position: &Position, facts: &Answer) -> Vec<(Move, Id)> {
    let exact = facts.verdicts().iter().filter(|(_, v)| v.is_exact() && v.proof.is_none());
    let moves: Vec<Move> = exact.map(|(m, _)| *m).collect();
    let code = position.variant().code();
    let children = position.children(&moves);
    moves.into_iter().zip(children.iter().map(|child| Id::of(code, child))).collect()
}

/// The value of a position from its facts and the values behind it.
pub(crate) fn derive(index: &Index, position: &Position, facts: &Answer) -> Result<Derived, BookError> {
    let children = followed(position, facts);
    let mut values: Vec<(Move, Seen)> = Vec::with_capacity(facts.len());
    let mut rest = None;
    for (m, verdict) in facts.verdicts() {
        let child =
            children.iter().find(|(at, _)| at == m).map(|(_, child)| index.value(*child)).transpose()?.flatten();
        match child {
            Some(child) => values.push((*m, Seen::from_child(child))),
            None if verdict.is_exact() || verdict.bound == Bound::Lower => {
                values.push((*m, Seen::from_verdict(verdict)))
            }
            None => rest = rest.max(Some(verdict.score)),
        }
    }
    Ok(best_of(position, &values, rest))
}

/// One move's value, from the view of the side that makes it.
#[derive(Clone, Copy)]
struct Seen {
    score: Score,
    proof: Option<Proof>,
    depth: u16,
}

impl Seen {
    fn from_child(child: Derived) -> Self {
        let proof = child.proof.map(|proof| Proof { kind: ProofKind::Tree, ..proof.before() });
        Self { score: proof.map_or(child.score.before(), Proof::score), proof, depth: child.depth + 1 }
    }

    fn from_verdict(verdict: &Verdict) -> Self {
        Self { score: verdict.score, proof: verdict.proof, depth: verdict.depth.into() }
    }
}

fn best_of(position: &Position, values: &[(Move, Seen)], rest: Option<Score>) -> Derived {
    let greatest = values.iter().copied().reduce(|best, next| if next.1.score > best.1.score { next } else { best });
    let Some((m, seen)) = greatest else {
        return Derived { score: Score::ZERO, proof: None, best: None, depth: 0, is_open: rest.is_some() };
    };
    let best = Some(m);
    let claim = seen.proof.map(|proof| proof.claim);
    let all_proven = values.iter().all(|(_, seen)| seen.proof.is_some()) && rest.is_none();
    // A win needs one move. A loss or a draw needs every move: nothing is called lost on a partial list.
    if claim == Some(Claim::Win) || (claim.is_some() && all_proven && covers_all(position, values)) {
        return Derived { score: seen.score, proof: seen.proof, best, depth: seen.depth, is_open: false };
    }
    let is_lost = seen.score.loss_plies().is_some();
    let score = if is_lost { Score::opinion(i32::from(i16::MIN)) } else { seen.score };
    Derived { score, proof: None, best, depth: seen.depth, is_open: is_lost || rest.is_some_and(|rest| rest > score) }
}

fn covers_all(position: &Position, values: &[(Move, Seen)]) -> bool {
    let moves: Vec<Move> = values.iter().map(|(m, _)| *m).collect();
    let known: BTreeSet<_> = position.children(&moves).into_iter().map(|child| child.key).collect();
    let legal = position.distinct_moves();
    position.children(&legal).iter().all(|child| known.contains(&child.key))
}

/// Derives the position anew, and then whatever leads to it, as long as something changes.
fn propagate(index: &mut Index, id: Id) -> Result<(), BookError> {
    let mut changed = BTreeSet::from([id]);
    while let Some(id) = changed.pop_last() {
        let Some(record) = index.record(id)? else { continue };
        let (position, _) = unpack(id.variant(), &record.packed)?;
        let facts = read_facts(index, &record.groups)?;
        let value = derive(index, &position, &facts)?;
        if index.value(id)? == Some(value) {
            continue;
        }
        index.put_value(id, value)?;
        for (job, _) in index.jobs()? {
            grow(index, job, id)?;
        }
        changed.extend(index.parents(id)?);
    }
    Ok(())
}

fn create(index: &mut Index, spec: &SpecBody) -> Result<(), BookError> {
    let job = u32::try_from(index.jobs()?.len()).map_err(|_| BookError::JobSpec("fewer jobs before it"))?;
    let known = spec.spec().ok_or(BookError::Store("a job in the journal"))?;
    index.put_spec(job, spec)?;
    let state = JobBody { state: JobState::Running, target: spec.target, positions: 0, set_aside: 0, frontier: 0 };
    index.put_job(job, &state)?;
    for root in &known.roots {
        let canonical = root.canonical();
        if root.outcome().is_none() {
            reach(index, job, Id::of(known.variant.code(), &canonical), 0)?;
        }
    }
    settle(index, job)
}

fn set_aside(index: &mut Index, job: u32, variant: u32, packed: &[u8]) -> Result<(), BookError> {
    let (_, id) = unpack(variant, packed)?;
    let mut state = index.job(job)?.ok_or(BookError::Store("a job"))?;
    state.set_aside += 1;
    index.put_job(job, &state)?;
    if let Some(priority) = index.priority(job, id)? {
        unwait(index, job, id, priority)?;
    }
    settle(index, job)
}

fn settle(index: &mut Index, job: u32) -> Result<(), BookError> {
    let before = index.job(job)?.ok_or(BookError::Store("a job"))?;
    let mut state = before.clone();
    state.settle();
    if state == before { Ok(()) } else { index.put_job(job, &state) }
}

fn wait(index: &mut Index, job: u32, id: Id, priority: u64) -> Result<(), BookError> {
    if index.wait(job, id, priority)? {
        let mut state = index.job(job)?.ok_or(BookError::Store("a job"))?;
        state.frontier += 1;
        index.put_job(job, &state)?;
    }
    Ok(())
}

fn unwait(index: &mut Index, job: u32, id: Id, priority: u64) -> Result<(), BookError> {
    if index.unwait(job, id, priority)? {
        let mut state = index.job(job)?.ok_or(BookError::Store("a job"))?;
        state.frontier -= 1;
        index.put_job(job, &state)?;
    }
    Ok(())
}

/// A job comes to a position: it waits there, or goes on from it where it is known.
fn reach(index: &mut Index, job: u32, id: Id, priority: u64) -> Result<(), BookError> {
    let mut reached = vec![(id, priority)];
    while let Some((id, priority)) = reached.pop() {
        let before = index.priority(job, id)?;
        if before.is_some_and(|before| before <= priority) {
            continue;
        }
        index.put_priority(job, id, priority)?;
        if let Some(before) = before {
            unwait(index, job, id, before)?;
        }
        match index.record(id)? {
            None => wait(index, job, id, priority)?,
            Some(record) => reached.extend(beyond(index, job, id, &record, priority)?),
        }
    }
    Ok(())
}

/// A position that a job has reached is known, or known better: where the job stands with it, and what lies beyond.
fn grow(index: &mut Index, job: u32, id: Id) -> Result<(), BookError> {
    let (Some(priority), Some(record)) = (index.priority(job, id)?, index.record(id)?) else { return Ok(()) };
    let value = index.value(id)?;
    if value.is_some_and(|value| value.is_open) {
        wait(index, job, id, priority)?;
    } else {
        unwait(index, job, id, priority)?;
    }
    for (child, priority) in beyond(index, job, id, &record, priority)? {
        correct(index, job, child, priority)?;
    }
    Ok(())
}

/// A child's priority as its parent sees it now. What is not searched yet follows it both ways.
fn correct(index: &mut Index, job: u32, child: Id, seen: u64) -> Result<(), BookError> {
    let Some(before) = index.priority(job, child)? else { return reach(index, job, child, seen) };
    if seen > before && index.record(child)?.is_none() && index.parents(child)?.len() == 1 {
        unwait(index, job, child, before)?;
        index.put_priority(job, child, seen)?;
        return wait(index, job, child, seen);
    }
    reach(index, job, child, seen)
}

/// The positions that a job goes on to, with their priorities.
fn beyond(index: &Index, job: u32, id: Id, record: &Record, priority: u64) -> Result<Vec<(Id, u64)>, BookError> {
    let spec = index.spec(job)?.ok_or(BookError::Store("a job"))?;
    let (position, _) = unpack(id.variant(), &record.packed)?;
    let facts = read_facts(index, &record.groups)?;
    let value = index.value(id)?;
    if value.is_some_and(|value| value.proof.is_some()) {
        return Ok(Vec::new());
    }
    if id.stones() >= spec.most_stones {
        return Ok(Vec::new());
    }
    let best = value.map_or(Score::ZERO, |value| value.score);
    let mut all = Vec::new();
    for (m, child) in followed(&position, &facts) {
        let seen = match index.value(child)? {
            Some(child) => Seen::from_child(child),
            None => facts.get(m).map(Seen::from_verdict).ok_or(BookError::Store("a record"))?,
        };
        let lost = (i64::from(best.raw()) - i64::from(seen.score.raw())).max(0).unsigned_abs();
        let next = priority.saturating_add(PLY).saturating_add(lost * spec.alpha_millis() * (PLY / 100_000));
        if !is_over(&position, m) {
            all.push((child, next));
        }
    }
    Ok(all)
}

fn is_over(position: &Position, m: Move) -> bool {
    position.play(m).map_or(true, |next| next.outcome().is_some())
}
