//! The growth of a book: the effect of a journal entry on the store. The same entries in the same
//! order always make the same store.

use std::collections::BTreeSet;
use std::sync::Arc;

use kagetsu_game::Answer;

use crate::Derived;
use crate::base::id::Id;
use crate::base::id::unpack;
use crate::base::links::Stage;
use crate::base::node::Node;
use crate::error::{BookError, LearnError};
use crate::graph::derive::{Seen, child_value, derive, value_after};
use crate::graph::index::{AsideBody, Index};
use crate::journal::entry::{AnswerBody, AnswerMeaning, JobEntry, LogEntry};
use crate::journal::log::JournalDigest;
use crate::settings::job::JobChange;
use crate::settings::move_filter::PLY;

/// Applies an entry of the journal, and its bytes, to the store. `meaning` is what an answer says,
/// where it was just made. Returns the position that the entry is about.
pub(crate) fn apply(
    index: &mut Index,
    entry: &LogEntry,
    bytes: &[u8],
    meaning: Option<AnswerMeaning>,
) -> Result<Option<Id>, BookError> {
    let mut about = None;
    match entry {
        LogEntry::Answer(body) => {
            let meaning = meaning.map_or_else(|| body.meaning(), Ok)?;
            about = Some(meaning.id);
            learn(index, body, meaning)?;
        }
        LogEntry::Job(entry) => create(index, entry)?,
        LogEntry::Change(id, change) => {
            match change {
                JobChange::Retry => take_up(index, *id)?,
                JobChange::Limit(nodes, stable) => limit(index, *id, *nodes, *stable)?,
                JobChange::Priority(priority) => {
                    index.put_account(*id, |account| account.priority = *priority)?
                }
                _ => {}
            }
            index.job(*id)?.change(change);
        }
        LogEntry::SetAside {
            job,
            variant,
            packed,
            reason,
        } => {
            let id = Id::of(*variant, &unpack(*variant, packed)?.canonical());
            about = Some(id);
            set_aside(index, *job, id, packed, reason)?;
        }
        LogEntry::Walk { job, steps } => walk(index, *job, *steps)?,
        LogEntry::Distrust {
            job,
            variant,
            packed,
        } => {
            let id = Id::of(*variant, &unpack(*variant, packed)?.canonical());
            about = Some(id);
            distrust(index, *job, id)?;
        }
        LogEntry::Annotate {
            variant,
            packed,
            bodies,
        } => index.annotate(&unpack(*variant, packed)?, packed, bodies)?,
    }
    index.settle()?;
    index.marker.applied += 1;
    index.marker.journal = JournalDigest(index.marker.journal).after(bytes).0;
    Ok(about)
}

fn learn(index: &mut Index, body: &AnswerBody, meaning: AnswerMeaning) -> Result<(), BookError> {
    debug_assert!(
        body.meaning()
            .is_ok_and(|read| read.id == meaning.id && read.facts == meaning.facts),
        "an entry says what it was made of"
    );
    let position = unpack(body.variant, &body.packed)?;
    let AnswerMeaning { id, mut facts } = meaning;
    let known = index.node(id)?;
    if known
        .as_ref()
        .is_some_and(|known| known.position.setup() != position.setup())
    {
        return Err(LearnError::Collision(id.key()).into());
    }
    let nodes = facts.nodes();
    let is_short = match body.job {
        Some(job) if index.move_filter(job)?.deepen.is_some() => {
            index.judged(job, id)? == Some(true)
        }
        _ => false,
    };
    let is_distrusted = index.reach(id)?.is_distrusted();
    if is_distrusted && body.is_widening {
        return Ok(()); // it goes with what it was to complete
    }
    if let Some(known) = known.as_ref().filter(|_| !is_distrusted) {
        let mut before = known.facts.clone();
        if is_short {
            // The answer replaces the old one, except for moves that are proven or deeper.
            before.retain(|m, old| {
                old.proof.is_some() || facts.get(m).is_none_or(|new| new.depth < old.depth)
            });
        }
        facts.merge(before);
    }
    let illegal = |m| LearnError::Illegal {
        position: position.clone(),
        text: position.write_move(m),
    };
    let node = Arc::new(Node::new(position.clone(), facts).map_err(illegal)?);
    index.put_node(id, Arc::clone(&node))?;
    relink(index, id, known.as_deref(), &node)?;
    let is_new = known.as_ref().is_none_or(|known| known.is_silent());
    if let Some(job) = body.job.filter(|_| is_new || is_distrusted || is_short) {
        index.job(job)?.positions += 1;
    }
    if let Some(job) = body.job {
        if is_short {
            index.judge(job, id, false)?;
        }
        if index.account(job)?.most_nodes.is_some() {
            index.put_account(job, |account| {
                account.nodes = account.nodes.saturating_add(nodes)
            })?;
        }
    }
    let mut changed = BTreeSet::from([id]);
    if is_distrusted {
        index.put_reach(id, |reach| reach.stage = Stage::Open)?;
        changed.extend(index.reach(id)?.parents());
    }
    judge_again(index, body.job, id, &node.facts)?;
    propagate(index, changed)?;
    grow(index, id)?;
    if known.is_none() {
        enter(index, id)?;
    }
    if let (Some(job), Some(known)) = (body.job.filter(|_| body.is_widening), known) {
        let is_stuck = extent(&node.facts) == extent(&known.facts);
        let is_due = index.reach(id)?.stage == Stage::Open || index.move_filter(job)?.widens();
        if is_stuck && is_due {
            set_aside(
                index,
                job,
                id,
                &body.packed,
                "a second search gave no more moves a value",
            )?;
        }
    }
    Ok(())
}

/// Judges a position again for the jobs that search anew, after its record has changed. An answer
/// of such a job is enough for all of them: two jobs that want different engines would otherwise
/// take turns forever.
fn judge_again(
    index: &mut Index,
    by: Option<u32>,
    id: Id,
    facts: &Answer,
) -> Result<(), BookError> {
    let is_anew = by
        .map(|job| index.move_filter(job))
        .transpose()?
        .is_some_and(|filter| filter.deepen.is_some());
    for job in index
        .reach(id)?
        .jobs()
        .into_iter()
        .filter(|job| by != Some(*job))
    {
        let filter = index.move_filter(job)?;
        let Some((deepen, before)) = filter.deepen.as_ref().zip(index.judged(job, id)?) else {
            continue;
        };
        let is_short = deepen.wants(facts) && (before || !is_anew);
        if is_short != before {
            index.judge(job, id, is_short)?;
        }
    }
    Ok(())
}

/// Lets jobs that search anew reach a new position of the book from the positions before it.
fn enter(index: &mut Index, id: Id) -> Result<(), BookError> {
    let parents: Vec<Id> = index.reach(id)?.parents().collect();
    for parent in parents {
        for job in index.reach(parent)?.jobs() {
            if index.move_filter(job)?.deepen.is_some() {
                grow_for(index, job, parent)?;
            }
        }
    }
    Ok(())
}

/// Invalidates the record of a position: it waits to be replaced. The job that searched it has one
/// position less.
fn distrust(index: &mut Index, job: Option<u32>, id: Id) -> Result<(), BookError> {
    let before = index.reach(id)?;
    if !before.is_known() || before.is_distrusted() {
        return Ok(());
    }
    index.put_reach(id, |reach| reach.stage = Stage::Distrusted)?;
    if let Some(job) = job {
        let state = index.job(job)?;
        state.positions = state.positions.saturating_sub(1);
        state.reopen();
    }
    propagate(index, before.parents().collect())?;
    before.parents().try_for_each(|parent| grow(index, parent))
}

/// Returns the number of moves with a verdict, and of those with an exact value.
fn extent(facts: &Answer) -> (usize, usize) {
    (
        facts.len(),
        facts
            .verdicts()
            .iter()
            .filter(|(_, verdict)| verdict.is_exact())
            .count(),
    )
}

/// Updates the links of the positions that a node leads to or led to before. A move by which the
/// game may return to the node is not followed: in a game that can repeat itself, no value may come
/// from its own position.
fn relink(index: &mut Index, id: Id, before: Option<&Node>, now: &Node) -> Result<(), BookError> {
    for (_, child) in before
        .iter()
        .flat_map(|node| &node.followed)
        .filter(|(_, child)| !now.leads_to(*child))
    {
        for job in index.reach(*child)?.jobs() {
            see(index, job, *child, id, None)?;
        }
        index.put_reach(*child, |reach| reach.unlink(id))?;
    }
    let mut above = None;
    for (_, child) in &now.followed {
        let reach = index.reach(*child)?;
        // Only a position with moves leads anywhere, and it leads back only if no stone came or
        // went.
        if reach.is_from(id) {
            continue;
        }
        if *child != id && !(reach.is_known() && child.stones() == id.stones()) {
            drop(reach);
            index.put_reach(*child, |reach| reach.link(id))?;
            continue;
        }
        let above = match &mut above {
            Some(above) => above,
            none => none.insert(ancestors(index, id)?),
        };
        if !above.contains(child) {
            index.put_reach(*child, |reach| reach.link(id))?;
        }
    }
    Ok(())
}

/// The position, and all with as many stones that lead to it.
fn ancestors(index: &mut Index, id: Id) -> Result<BTreeSet<Id>, BookError> {
    let (mut above, mut left) = (BTreeSet::from([id]), vec![id]);
    while let Some(at) = left.pop() {
        let parents = index.reach(at)?;
        left.extend(
            parents
                .parents()
                .filter(|parent| parent.stones() == id.stones() && above.insert(*parent)),
        );
    }
    Ok(above)
}

/// Derives these positions again, then the positions that lead to them, while a value changes.
fn propagate(index: &mut Index, mut changed: BTreeSet<Id>) -> Result<(), BookError> {
    while let Some(id) = changed.pop_last() {
        let Some(node) = index.node(id)? else {
            continue;
        };
        let value = derive(&node, |m| value_after(index, id, &node, m))?;
        let stage = if value.is_open {
            Stage::Open
        } else {
            Stage::Closed
        };
        let before = index.reach(id)?.stage;
        if before != stage && before != Stage::Distrusted {
            index.put_reach(id, |reach| reach.stage = stage)?;
        }
        if index.value(id)? == Some(value) {
            regrow(index, id)?;
            continue;
        }
        index.put_value(id, value)?;
        turn(index, id, value)?;
        grow(index, id)?;
        changed.extend(index.reach(id)?.parents());
    }
    Ok(())
}

/// Notes a new value of a root for the jobs that end when their roots stay the same.
fn turn(index: &mut Index, id: Id, value: Derived) -> Result<(), BookError> {
    for &job in index.reach(id)?.roots() {
        if index.account(job)?.stretch.is_some() && index.has_turned(job, id, value)? {
            let positions = index.job(job)?.positions;
            index.put_account(job, |account| account.changed_at = positions)?;
        }
    }
    Ok(())
}

/// Changes the limits of a job. A limit of positions without a change begins to count if it is new.
fn limit(
    index: &mut Index,
    job: u32,
    nodes: Option<u64>,
    stable: Option<u64>,
) -> Result<(), BookError> {
    let positions = index.job(job)?.positions;
    index.put_account(job, |account| {
        if account.stretch.is_none() {
            account.changed_at = positions;
        }
        (account.most_nodes, account.stretch) = (nodes, stable);
    })
}

fn create(index: &mut Index, entry: &JobEntry) -> Result<(), BookError> {
    let spec = entry
        .spec()
        .ok_or(BookError::Entry("a job in the journal"))?;
    let job = index.add_job(entry, &spec)?;
    for root in spec.roots.iter().filter(|root| root.outcome().is_none()) {
        let canonical = root.canonical();
        let id = Id::of(spec.variant.code(), &canonical);
        index.put_reach(id, |reach| reach.begin(job, &canonical.packed))?;
        if index.reach(id)?.is_known() {
            index.walk_later(job, 0, id)?;
        }
    }
    Ok(())
}

/// Lets a job skip a position until a retry is requested.
fn set_aside(
    index: &mut Index,
    job: u32,
    id: Id,
    packed: &[u8],
    reason: &str,
) -> Result<(), BookError> {
    let was_aside = index.reach(id)?.is_aside(job);
    index.put_reach(id, |reach| reach.set_aside(job))?;
    index.job(job)?.set_aside += u64::from(!was_aside);
    index.put_aside(
        job,
        id,
        Some(&AsideBody {
            packed: packed.to_vec(),
            reason: reason.to_string(),
        }),
    )
}

/// Lets the skipped positions of a job wait again.
fn take_up(index: &mut Index, job: u32) -> Result<(), BookError> {
    for (id, _) in index.asides(job, usize::MAX)? {
        index.put_aside(job, id, None)?;
        index.put_reach(id, |reach| reach.take_up(job))?;
    }
    index.job(job)?.set_aside = 0;
    Ok(())
}

/// Expands known positions that a job has reached, the most urgent first, without a search.
fn walk(index: &mut Index, job: u32, steps: u32) -> Result<(), BookError> {
    for _ in 0..steps {
        let Some(id) = index.next_walk(job)? else {
            break;
        };
        grow_for(index, job, id)?;
    }
    Ok(())
}

/// Expands a position for each of its jobs, after its record has changed.
fn grow(index: &mut Index, id: Id) -> Result<(), BookError> {
    index
        .reach(id)?
        .jobs()
        .into_iter()
        .try_for_each(|job| grow_for(index, job, id))
}

/// Expands a position again for jobs with a margin: its value is unchanged, but those of its moves
/// may have changed.
fn regrow(index: &mut Index, id: Id) -> Result<(), BookError> {
    for job in index.reach(id)?.jobs() {
        if index.move_filter(job)?.has_margin() {
            grow_for(index, job, id)?;
        }
    }
    Ok(())
}

/// Sets the priority with which a job reaches the positions behind a node: one ply less urgent than
/// the node, less urgent by what the move loses, and by a random delay if the job has one.
fn grow_for(index: &mut Index, job: u32, id: Id) -> Result<(), BookError> {
    let Some(node) = index.node(id)? else {
        return Ok(());
    };
    let Some(value) = index.value(id)? else {
        return Ok(());
    };
    let filter = index.move_filter(job)?;
    let is_left = value.proof.is_none() && id.stones() < filter.max_stones;
    let priority = index.reach(id)?.priority(job).filter(|_| is_left);
    if let Some(deepen) = filter.deepen.as_ref().filter(|_| priority.is_some())
        && index.judged(job, id)?.is_none()
    {
        index.judge(job, id, deepen.wants(&node.facts))?;
    }
    for (m, child) in &node.followed {
        let Some(verdict) = node.facts.get(*m) else {
            continue;
        };
        let seen = child_value(index, *child)?.and_then(|child| Seen::from_child(child, verdict));
        let score = seen.map_or(verdict.score, |seen| seen.score);
        let loss = (i64::from(value.score.raw()) - i64::from(score.raw()))
            .max(0)
            .unsigned_abs();
        let is_best = value.best == Some(*m);
        let is_followed = filter.follows(node.side, is_best, loss, *child)
            && (filter.deepen.is_none() || index.reach(*child)?.is_known());
        let priority = priority
            .filter(|_| is_followed)
            .map(|priority| priority.saturating_add(filter.delay(loss, *child)));
        see(index, job, *child, id, priority)?;
    }
    Ok(())
}

/// Notes the priority with which a job reaches a position from `parent`, or (`None`) that it does
/// not. Waiting positions move to their new place. The job expands a known position later, unless
/// its urgency fell or hardly rose: the positions behind it then keep their places.
fn see(
    index: &mut Index,
    job: u32,
    id: Id,
    parent: Id,
    priority: Option<u64>,
) -> Result<(), BookError> {
    let reach = index.reach(id)?;
    if reach.is_seen(parent, job, priority) {
        return Ok(());
    }
    let before = reach.priority(job);
    drop(reach);
    index.put_reach(id, |reach| reach.see(parent, job, priority))?;
    let reach = index.reach(id)?;
    let now = reach.priority(job);
    let is_nearer = match (before, now) {
        (None, None) => false,
        (Some(before), Some(now)) => now.saturating_add(PLY) <= before,
        _ => true,
    };
    if is_nearer && reach.is_known() {
        index.walk_later(job, now.or(before).unwrap_or(0), id)?;
    }
    Ok(())
}
