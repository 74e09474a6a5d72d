//! Jobs: what is to be built, what is next, and what has come of it.

use std::collections::BTreeSet;

use kagetsu_game::{Answer, Effort, Key, Move, Position, Question, Score, Side, Window};

use crate::BookError;
use crate::book::{Book, answered};
use crate::graph::id::Id;
use crate::graph::id::unpack;
use crate::graph::index::{AsideBody, Index};
use crate::graph::node::Node;
use crate::jobs::job::{Aside, Bounds, Job, JobChange, JobId, JobSpec, JobState, Policy, Work};
use crate::jobs::prover::Prover;
use crate::journal::entry::{LogEntry, Setting, SpecBody};
use crate::journal::file::Sequence;

/// Known positions walked on from at a time.
const STEPS: u32 = 64;

/// How many times as long a value may take as the search that gave a bound to its depth: it seldom takes so long.
const VALUE: u64 = 100;

/// Searches for threats that a look for the attacker's best moves is worth.
const SEARCHES: u64 = 10;

/// The greatest weight that a policy may give to what a move loses.
const MOST_ALPHA: f64 = 1_000.0;

/// How much sooner or later than others a job may be.
const MOST_PRIORITY: std::ops::RangeInclusive<i8> = -100..=100;

/// The most plies that chance may add.
const MOST_NOISE: f64 = 100.0;

impl Book {
    /// Makes a job.
    ///
    /// # Errors
    /// If it makes no sense, or the name is taken.
    pub fn create_job(&mut self, spec: &JobSpec) -> Result<JobId, BookError> {
        let alpha = spec.policy.alpha();
        let wrong = [
            (spec.name.is_empty(), "a name"),
            (spec.roots.is_empty(), "a root"),
            (
                spec.roots.iter().any(|root| root.variant() != spec.variant),
                "roots of one variant",
            ),
            (spec.width == 0, "at least one move a position (--top)"),
            (spec.target == 0, "at least one position (--positions)"),
            (
                !(0.0..=MOST_NOISE).contains(&spec.bounds.noise),
                "a noise of 0 to 100 plies (--noise)",
            ),
            (
                spec.effort == Effort::default(),
                "an effort: depth, nodes or time",
            ),
            (
                !(0.0..=MOST_ALPHA).contains(&alpha),
                "an alpha of 0 to 1000 (--alpha)",
            ),
            (
                !MOST_PRIORITY.contains(&spec.bounds.priority),
                "a priority of -100 to 100 (--priority)",
            ),
            (
                spec.bounds.deepen.is_some() && matches!(spec.policy, Policy::Prove { .. }),
                "another policy to search anew what the book has (--deepen): a proof is looked for, or it is there",
            ),
            (
                spec.max_ply.is_some() && !spec.variant.places_stones(),
                "a game of stones for a greatest ply (--max-ply): pieces that move do not tell how many plies were played",
            ),
        ];
        if let Some((_, needs)) = wrong.iter().find(|(wrong, _)| *wrong) {
            return Err(BookError::JobSpec(needs));
        }
        let excluded: BTreeSet<Key> = spec.bounds.exclude.iter().map(Position::key).collect();
        let is_excluded = |root: &&Position| !excluded.is_empty() && excluded.contains(&root.key());
        if let Some(root) = spec.roots.iter().find(is_excluded) {
            return Err(BookError::RootExcluded(root.clone()));
        }
        if self.job_named(&spec.name).is_some() {
            return Err(BookError::JobDiffers(
                spec.name.clone(),
                "being there already",
            ));
        }
        let id = u32::try_from(self.specs.len())
            .map_err(|_| BookError::JobSpec("fewer jobs before it"))?;
        let settings = Setting::of(spec);
        let body = SpecBody::from(spec);
        self.frontiers.begin(id);
        // A job without them is written as it always was.
        self.log(&if settings.is_empty() {
            LogEntry::Job(body)
        } else {
            LogEntry::JobWith(body, settings)
        })?;
        self.read_spec(id)?;
        self.tell_job(JobId(id), spec)?;
        self.walk_on()?;
        Ok(JobId(id))
    }

    /// Tells a job the limits and the priority of `spec`, where it has others.
    fn tell_job(&mut self, id: JobId, spec: &JobSpec) -> Result<(), BookError> {
        let known = self.index().account(id.0)?;
        let Bounds {
            nodes,
            stable,
            priority,
            ..
        } = spec.bounds;
        if (known.most_nodes, known.stretch) != (nodes, stable) {
            self.log(&LogEntry::Change(id.0, JobChange::Limit(nodes, stable)))?;
        }
        if known.priority != priority {
            self.log(&LogEntry::Change(id.0, JobChange::Priority(priority)))?;
        }
        Ok(())
    }

    /// Reads what the store has.
    pub(crate) fn read_specs(&mut self) -> Result<(), BookError> {
        for (id, _) in self.index().jobs()? {
            self.read_spec(id)?;
        }
        Ok(())
    }

    fn read_spec(&mut self, id: u32) -> Result<(), BookError> {
        let settings = self.index().settings(id)?;
        let spec = self.index().spec(id)?.and_then(|spec| spec.spec(&settings));
        self.specs
            .insert(JobId(id), spec.ok_or(BookError::Store("a job"))?);
        Ok(())
    }

    /// The job of this name with these settings, made or resumed, with the target of `spec`.
    ///
    /// # Errors
    /// If the book has a different job of this name, or one that is cancelled.
    pub fn start_job(&mut self, spec: &JobSpec) -> Result<JobId, BookError> {
        let Some(id) = self.job_named(&spec.name) else {
            return self.create_job(spec);
        };
        let job = self.job(id)?;
        if job.state == JobState::Cancelled {
            return Err(BookError::JobCancelled(job.spec.name));
        }
        if Setting::of(spec) != Setting::of(&job.spec) {
            return Err(BookError::JobDiffers(
                spec.name.clone(),
                "the policy, or what it leaves out",
            ));
        }
        if let Some(what) = SpecBody::from(spec).difference(&SpecBody::from(&job.spec)) {
            return Err(BookError::JobDiffers(spec.name.clone(), what));
        }
        // One that searches anew may have more to do than when it was done.
        let is_over = job.state == JobState::Done && spec.bounds.deepen.is_some();
        if job.spec.target != spec.target || is_over {
            self.change_job(job.id, JobChange::Target(spec.target))?;
        }
        self.tell_job(job.id, spec)?;
        self.change_job(job.id, JobChange::Resume)?;
        Ok(job.id)
    }

    /// Changes how a job stands. One that is done cannot be cancelled: it stays done.
    ///
    /// # Errors
    /// If there is no such job, it is cancelled and should go on, or the disk says no.
    pub fn change_job(&mut self, id: JobId, change: JobChange) -> Result<Sequence, BookError> {
        let job = self.job(id)?;
        if job.state == JobState::Cancelled
            && matches!(change, JobChange::Resume | JobChange::Retry)
        {
            return Err(BookError::JobCancelled(job.spec.name));
        }
        if job.state == JobState::Done && change == JobChange::Cancel {
            return Ok(self.sequence());
        }
        self.tell(id, change)
    }

    /// The same, whatever the job is now.
    pub(crate) fn tell(&mut self, id: JobId, change: JobChange) -> Result<Sequence, BookError> {
        self.job(id)?;
        self.log(&LogEntry::Change(id.0, change))
    }

    /// All jobs, in the order in which they were made.
    ///
    /// # Errors
    /// A damaged store.
    pub fn jobs(&self) -> Result<Vec<Job>, BookError> {
        let index = self.index();
        index
            .jobs()?
            .into_iter()
            .map(|(id, _)| self.job(JobId(id)))
            .collect()
    }

    /// The job of a name.
    #[must_use]
    pub fn job_named(&self, name: &str) -> Option<JobId> {
        self.specs
            .iter()
            .find(|(_, spec)| spec.name == name)
            .map(|(id, _)| *id)
    }

    /// The jobs that are not what they were when this was asked last, maybe others; at first those that changed since the book
    /// was opened.
    pub fn changed_jobs(&mut self) -> BTreeSet<JobId> {
        std::mem::take(&mut self.changed_jobs)
    }

    /// One job.
    ///
    /// # Errors
    /// If there is no such job.
    pub fn job(&self, id: JobId) -> Result<Job, BookError> {
        let spec = self
            .specs
            .get(&id)
            .ok_or_else(|| BookError::NoJob(id.0.to_string()))?;
        let body = self.index().job(id.0)?.clone();
        let account = self.index().account(id.0)?;
        let (nodes, stable, priority) = (account.most_nodes, account.stretch, account.priority);
        let bounds = Bounds {
            nodes,
            stable,
            priority,
            ..spec.bounds.clone()
        };
        let spec = JobSpec {
            target: body.target,
            bounds,
            ..spec.clone()
        };
        let (positions, set_aside, frontier) = (body.positions, body.set_aside, body.frontier);
        Ok(Job {
            id,
            spec,
            state: body.state,
            positions,
            set_aside,
            frontier,
            nodes: account.nodes,
        })
    }

    /// The most urgent positions of a running job that are not at hand; they are at hand until they are
    /// [finished](Self::finish), [released](Self::release) or [set aside](Self::set_aside).
    ///
    /// # Errors
    /// A damaged store.
    pub fn next_work(&mut self, job: JobId, n: usize) -> Result<Vec<Work>, BookError> {
        let mut state = self.index().job(job.0)?.clone();
        if state.state != JobState::Running || n == 0 {
            return Ok(Vec::new());
        }
        if state.frontier == 0 && state.walking > 0 {
            // A book that was closed on its way goes on when somebody asks for more, not when it is read.
            self.walk_on()?;
            state = self.index().job(job.0)?.clone();
        }
        let at_hand = self
            .at_hand
            .range((job, Id([0; Id::LEN]))..=(job, Id([u8::MAX; Id::LEN])))
            .count() as u64;
        let left = state
            .target
            .saturating_sub(state.positions)
            .saturating_sub(at_hand);
        let n = n.min(usize::try_from(left).unwrap_or(usize::MAX));
        let found = match self.specs.get(&job).map(|spec| spec.policy) {
            Some(Policy::Prove { attacker }) => {
                self.first_to_prove(job, attacker, n, at_hand == 0)?
            }
            _ => self.most_urgent(job, n)?,
        };
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let spec = self.job(job)?.spec;
        let turn = spec.bounds.priority;
        let questions = self.cached(|index| {
            let question = |(priority, at)| Ok((question(index, job, &spec, at)?, priority, at));
            found
                .into_iter()
                .map(question)
                .collect::<Result<Vec<_>, BookError>>()
        })?;
        let work = |(question, priority, at)| {
            self.next_work += 1;
            Work {
                id: self.next_work,
                job,
                turn,
                question,
                priority,
                at,
            }
        };
        let works: Vec<Work> = questions.into_iter().map(work).collect();
        self.at_hand
            .extend(works.iter().map(|work| ((job, work.at), work.id)));
        Ok(works)
    }

    /// The work of a running job that asks just this, if it waits and is not at hand; then it is at hand.
    ///
    /// # Errors
    /// If there is no such job, or the store is damaged.
    pub fn claim(&mut self, job: JobId, question: &Question) -> Result<Option<Work>, BookError> {
        let Job {
            spec,
            state,
            positions,
            ..
        } = self.job(job)?;
        let variant = question.position.variant();
        if state != JobState::Running || positions >= spec.target || variant != spec.variant {
            return Ok(None);
        }
        let at = Id::of(variant.code(), &question.position.canonical());
        let (priority, asked) = self.cached(|index| {
            let reach = index.reach(at)?;
            let Some(priority) = index.waiting(job.0, at, &reach)? else {
                return Ok((None, None));
            };
            Ok::<_, BookError>((Some(priority), Some(self::question(index, job, &spec, at)?)))
        })?;
        let Some(priority) = priority else {
            return Ok(None);
        };
        if self.at_hand.contains_key(&(job, at)) || asked.as_ref() != Some(question) {
            return Ok(None);
        }
        self.next_work += 1;
        let work = Work {
            id: self.next_work,
            job,
            turn: spec.bounds.priority,
            question: question.clone(),
            priority,
            at,
        };
        self.at_hand.insert((job, at), work.id);
        if let Policy::Prove { attacker } = spec.policy {
            self.prover(job, attacker).hold(at);
        }
        Ok(Some(work))
    }

    fn prover(&mut self, job: JobId, attacker: Side) -> &mut Prover {
        let specs = &self.specs;
        self.provers.entry(job.0).or_insert_with(|| {
            let roots = specs.get(&job).map_or(&[][..], |spec| &spec.roots);
            let id = |root: &Position| Id::of(root.variant().code(), &root.canonical());
            Prover::new(job.0, attacker, roots.iter().map(id).collect())
        })
    }

    /// Whether it is proven of all roots of a job who wins, or that nobody does.
    fn is_proven(&self, job: JobId) -> Result<bool, BookError> {
        let mut index = self.index();
        let roots = self.specs.get(&job).map_or(&[][..], |spec| &spec.roots);
        for root in roots {
            let value = index.value(Id::of(root.variant().code(), &root.canonical()))?;
            if value.is_none_or(|value| value.proof.is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The positions that help most to prove what a job is to prove.
    fn first_to_prove(
        &mut self,
        job: JobId,
        attacker: Side,
        n: usize,
        is_idle: bool,
    ) -> Result<Vec<(u64, Id)>, BookError> {
        self.prover(job, attacker);
        let mut found = Vec::new();
        while found.len() < n {
            let Some(id) = self.most_proving(job.0)? else {
                break;
            };
            let priority = self.index().reach(id)?.waiting(job.0).unwrap_or_default();
            found.push((priority, id));
        }
        if !found.is_empty() || !is_idle {
            return Ok(found);
        }
        if self.is_proven(job)? {
            // What waited for the proof waits no more, and the job is done.
            while self.index().job(job.0)?.walking > 0 {
                self.log(&LogEntry::Walk {
                    job: job.0,
                    steps: STEPS,
                })?;
            }
        }
        // Where no way to a proof is left, what waits may open another.
        self.most_urgent(job, n)
    }

    /// The first positions of a job's frontier that are not at hand.
    fn most_urgent(&mut self, job: JobId, n: usize) -> Result<Vec<(u64, Id)>, BookError> {
        if self.frontiers.get(job.0).is_none() {
            let jobs = self.index().jobs()?;
            let running = |job| {
                jobs.iter()
                    .any(|(id, body)| *id == job && body.state == JobState::Running)
            };
            self.frontiers.retain(running);
            self.frontiers.read(&*self.store, self.marker, job.0)?;
        }
        let waiting = self.frontiers.get(job.0).into_iter().flatten();
        let is_free = |(_, id): &&(u64, Id)| !self.at_hand.contains_key(&(job, *id));
        Ok(waiting.filter(is_free).take(n).copied().collect())
    }

    /// Learns the answer to a work, and lets the job grow from it. Durable after a [`Syncer::sync`](crate::Syncer::sync).
    /// An answer without any move sets the position aside, and so does one that brings no move a value where moves without
    /// one were asked about.
    ///
    /// # Errors
    /// If the answer speaks of an illegal move, or the disk says no; then the book is as it was, and the work is still at
    /// hand.
    pub fn finish(&mut self, work: &Work, answer: &Answer) -> Result<Sequence, BookError> {
        if answer.is_empty() {
            return self.set_aside(work, "the answer has no moves");
        }
        let is_widening = !work.question.moves.is_empty();
        let sequence = self.log(&answered(
            Some(work.job),
            is_widening,
            &work.question.position,
            answer,
        ))?;
        self.release(work);
        self.walk_on()?;
        Ok(sequence)
    }

    /// The work was not done: it waits again.
    pub fn release(&mut self, work: &Work) {
        self.at_hand.remove(&(work.job, work.at));
        if let Some(prover) = self.provers.get_mut(&work.job.0) {
            prover.release(work.at);
        }
    }

    /// What was learned of a position for a job, or for none, is not to be believed: nothing follows from it any more, and
    /// it waits to be searched anew; the next answer replaces it. Harmless for a position that the book does not have.
    ///
    /// # Errors
    /// If the disk says no.
    pub fn distrust(
        &mut self,
        job: Option<JobId>,
        position: &Position,
    ) -> Result<Sequence, BookError> {
        let (variant, packed) = (position.variant().code(), position.canonical().packed.0);
        let sequence = self.log(&LogEntry::Distrust {
            job: job.map(|job| job.0),
            variant,
            packed,
        })?;
        self.walk_on()?;
        Ok(sequence)
    }

    /// The first `most` positions that a job goes on without, and why.
    ///
    /// # Errors
    /// A damaged store.
    pub fn asides(&self, job: JobId, most: usize) -> Result<Vec<Aside>, BookError> {
        let variant = self
            .specs
            .get(&job)
            .ok_or_else(|| BookError::NoJob(job.0.to_string()))?
            .variant
            .code();
        let aside = |(_, AsideBody { packed, reason })| {
            Ok(Aside {
                position: unpack(variant, &packed)?,
                reason,
            })
        };
        self.index()
            .asides(job.0, most)?
            .into_iter()
            .map(aside)
            .collect()
    }

    /// The work cannot be done: the job goes on without it, until it is [told to try again](JobChange::Retry).
    ///
    /// # Errors
    /// If the disk says no.
    pub fn set_aside(&mut self, work: &Work, reason: &str) -> Result<Sequence, BookError> {
        let canonical = work.question.position.canonical();
        let variant = work.question.position.variant().code();
        let (packed, reason) = (canonical.packed.0, reason.to_string());
        let sequence = self.log(&LogEntry::SetAside {
            job: work.job.0,
            variant,
            packed,
            reason,
        })?;
        self.release(work);
        Ok(sequence)
    }

    /// Lets jobs walk on from known positions that they have come to: some steps each, and more where nothing else waits,
    /// so that a job is never without work while it has somewhere to go.
    pub(crate) fn walk_on(&mut self) -> Result<(), BookError> {
        if self.marker.walking == 0 {
            return Ok(());
        }
        for (job, state) in self.index().jobs()? {
            let mut left = Some(state);
            while let Some(state) = left.filter(|state| state.walking > 0) {
                self.log(&LogEntry::Walk { job, steps: STEPS })?;
                left = if state.frontier == 0 {
                    Some(self.index().job(job)?.clone())
                } else {
                    None
                };
            }
        }
        Ok(())
    }
}

/// What is to be asked about a position that waits.
fn question(index: &mut Index, job: JobId, spec: &JobSpec, id: Id) -> Result<Question, BookError> {
    let question = match index.node(id)? {
        Some(node)
            if node.is_silent()
                || index.reach(id)?.is_distrusted()
                || index.judged(job.0, id)? == Some(true) =>
        {
            Question {
                width: spec.width,
                ..Question::new(node.position.clone(), spec.effort)
            }
        }
        Some(node) => widening(spec, &node),
        None => Question {
            width: spec.width,
            ..Question::new(unknown(index, id)?, spec.effort)
        },
    };
    Ok(match spec.policy {
        Policy::DropOut { .. } | Policy::OneSide { .. } => question,
        Policy::Prove { attacker } => proving(question, attacker),
    })
}

/// A position that waits and has no record yet: it is a root, or one move beyond a record.
fn unknown(index: &mut Index, id: Id) -> Result<Position, BookError> {
    let reach = index.reach(id)?;
    if let Some(packed) = reach.root() {
        return unpack(id.variant(), packed);
    }
    let parent = reach
        .parents()
        .next()
        .map(|parent| index.node(parent))
        .transpose()?
        .flatten();
    let to_it = |node: &Node| {
        node.followed
            .iter()
            .find(|(_, child)| *child == id)
            .map(|(m, _)| *m)
    };
    let next = parent.and_then(|node| node.position.play(to_it(&node)?).ok());
    let canonical = next.ok_or(BookError::Store("the frontier"))?.canonical();
    unpack(id.variant(), &canonical.packed.0)
}

/// The attacker is asked which move wins, or comes nearest to it, with the effort of several searches for threats; the
/// defender whether all his moves lose, with that of one search for each. In other games than gomoku, where nobody can answer
/// that first question better, the attacker is asked for his best moves.
fn proving(mut question: Question, attacker: Side) -> Question {
    let moves = if question.moves.is_empty() {
        question.position.distinct_moves().len()
    } else {
        question.moves.len()
    };
    let is_attack = question.position.side() == attacker;
    if !is_attack {
        question.window = Window {
            alpha: Score::MIN,
            beta: -Score::OPINION_MAX,
        };
    } else if question.position.variant().has_threat_search() {
        question.window = Window {
            alpha: Score::OPINION_MAX,
            beta: Score::MAX,
        };
    }
    let times = if is_attack { SEARCHES } else { moves as u64 };
    question.effort.nodes = question
        .effort
        .nodes
        .map(|nodes| nodes.saturating_mul(times));
    question
}

/// The moves of a known position that the book has no value of: they may be better than those it has. They are searched as deeply as
/// what only bounds them, by a person's question or in a book that was merged in: less would say nothing new. That a limit of
/// positions would end before it is likely, for a value takes longer than a bound: then the depth of the bound is the limit.
fn widening(spec: &JobSpec, node: &Node) -> Question {
    let bounded = node
        .facts
        .verdicts()
        .iter()
        .filter(|(_, verdict)| !verdict.is_exact())
        .map(|(m, _)| *m);
    let mut moves: Vec<Move> = bounded.collect();
    if moves.is_empty() {
        let is_new = |m: &Move| node.facts.get(*m).is_none();
        moves = node
            .position
            .distinct_moves()
            .into_iter()
            .filter(is_new)
            .collect();
    }
    let bounds = moves
        .iter()
        .filter_map(|m| node.facts.get(*m))
        .map(|verdict| verdict.depth)
        .max();
    let mut effort = spec.effort;
    effort.depth = effort.depth.map(|depth| depth.max(bounds.unwrap_or(0)));
    // A proof is looked for as far as the effort goes, whatever was bounded before.
    let is_graded = !matches!(spec.policy, Policy::Prove { .. });
    if let (Some(nodes), Some(bound)) = (effort.nodes, bounds.filter(|_| is_graded)) {
        effort.depth = Some(bound.max(1));
        effort.nodes = Some(nodes.saturating_mul(VALUE));
    }
    Question {
        moves,
        width: spec.width,
        ..Question::new(node.position.clone(), effort)
    }
}
