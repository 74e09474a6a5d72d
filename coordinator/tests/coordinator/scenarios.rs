//! Lying workers of many kinds at a real coordinator, over real sockets and with tokens.
//!
//! Workers are scripted. An honest one computes its answer from the position alone, so that every
//! false value in the book is found.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kagetsu_coordinator::{Config, Role};
use kagetsu_game::{
    Answer, Bound, Claim, Move, Position, Proof, ProofKind, Provenance, Question, Score, Verdict,
};
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_proto::v1::{JobState, Worker};
use kagetsu_proto::{FIRST_CALIBRATION_TASK, v1};
use kagetsu_search::Engine;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::world::{Cluster, ScriptedWorker, TokenFile, build, hello, with, within};

/// Engine of the honest workers and of the liars.
const ENGINE: &str = "scripted 1.0";
/// Engine of a liar under another name.
const OTHER_ENGINE: &str = "other 1.0";
/// Positions of each build.
const POSITIONS: u64 = 25;
/// Depth of each build.
const DEPTH: u8 = 2;
/// Honest workers of the operator.
const HONEST_WORKERS: u64 = 3;
/// Time in which a running task must visit another position; honest workers answer at once.
const STALL_TIMEOUT: Duration = Duration::from_secs(5);
/// Clusters at a time: a coordinator drops connections that wait too long for a processor.
static TURNS: Semaphore = Semaphore::const_new(12);
/// Number of the first liar.
const FIRST_LIAR: u64 = 10;

/// The workers that lie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Liars {
    /// One volunteer.
    Single,
    /// Two volunteers with a token each, which tell the same lies.
    Colluding,
    /// Four workers with one volunteer's token.
    ManyNames,
    /// One worker with a token of the operator.
    Operators,
    /// The same, with the name of another engine.
    OtherEngine,
    /// The same, which says that it searches with many threads.
    ManyThreads,
}

impl Liars {
    const ALL: [Self; 6] = [
        Self::Single,
        Self::Colluding,
        Self::ManyNames,
        Self::Operators,
        Self::OtherEngine,
        Self::ManyThreads,
    ];

    /// Returns the token of each liar.
    const fn tokens(self) -> &'static [&'static str] {
        match self {
            Self::Single => &["one"],
            Self::Colluding => &["one", "two"],
            Self::ManyNames => &["one", "one", "one", "one"],
            Self::Operators | Self::OtherEngine | Self::ManyThreads => &["operator"],
        }
    }

    /// Returns what a liar says of itself.
    fn hello(self, instance: u64) -> v1::Hello {
        let (engine, threads) = match self {
            Self::OtherEngine => (OTHER_ENGINE, 1),
            Self::ManyThreads => (ENGINE, 64),
            _ => (ENGINE, 1),
        };
        v1::Hello {
            engine: engine.into(),
            threads,
            ..hello(instance)
        }
    }

    /// Returns the lies that are told differently by these liars, or judged otherwise.
    const fn own_lies(self) -> &'static [Lie] {
        match self {
            Self::Single => &Lie::ALL,
            Self::Colluding => &[Lie::Bias(100), Lie::SlowDrip(350), Lie::Claim],
            Self::ManyNames => &[Lie::Stall, Lie::Fail, Lie::Bias(-500)],
            Self::Operators => &[Lie::Bias(50), Lie::InstantWin, Lie::Replay],
            Self::OtherEngine | Self::ManyThreads => {
                &[Lie::Bias(100), Lie::Boast, Lie::Claim, Lie::Decided(20_000)]
            }
        }
    }

    /// Whether the liars' searches can be repeated, by their own words.
    const fn are_repeatable(self) -> bool {
        !matches!(self, Self::OtherEngine | Self::ManyThreads)
    }
}

/// The fault of a liar's reports.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    /// Values wrong by so many centi-units.
    Bias(i32),
    /// The same in every fourth answer.
    SlowDrip(i32),
    /// A value wrong by 25.00 at a depth of 40, and all nodes that there are.
    Boast,
    /// A proof that does not exist.
    Claim,
    /// A win that ends the game at once, which the rules refute.
    InstantWin,
    /// The same value of every move, won or lost, without a proof.
    Decided(i32),
    /// Bounds and no value.
    OnlyBounds,
    /// No answer, and a reason.
    Fail,
    /// Heartbeats with growing node counts, and no answer.
    Stall,
    /// The first answer again, about every later position.
    Replay,
}

impl Lie {
    /// All lies, the longest scenarios first.
    const ALL: [Self; 13] = [
        Self::Stall,
        Self::Fail,
        Self::Bias(50),
        Self::Bias(100),
        Self::Bias(-500),
        Self::SlowDrip(350),
        Self::Boast,
        Self::Claim,
        Self::InstantWin,
        Self::Decided(20_000),
        Self::Decided(-20_000),
        Self::OnlyBounds,
        Self::Replay,
    ];

    /// Whether one or two checks of such answers show the liar. A worker whose search cannot be
    /// repeated may find a win that others do not see, and may differ by 8.00.
    const fn is_certain(self, are_repeatable: bool) -> bool {
        match self {
            Self::Bias(by) => by.abs() > 60 && are_repeatable,
            Self::Boast | Self::InstantWin => true,
            Self::Claim | Self::Decided(_) => are_repeatable,
            Self::SlowDrip(_) | Self::OnlyBounds | Self::Fail | Self::Stall | Self::Replay => false,
        }
    }
}

/// Returns the moves that a task asks about.
fn moves_of(question: &Question) -> Vec<Move> {
    if question.moves.is_empty() {
        question.position.distinct_moves()
    } else {
        question.moves.clone()
    }
}

/// Returns the value that an honest engine gives a move.
fn value(position: &Position, m: Move) -> i32 {
    let next = position.play(m).expect("a legal move");
    (next.key().0 >> 9) as i32 % 200
}

fn verdict(score: Score, m: Move) -> Verdict {
    Verdict {
        score,
        bound: Bound::Exact,
        depth: DEPTH,
        nodes: 9,
        line: vec![m],
        proof: None,
        by: Provenance {
            engine: ENGINE.into(),
            day: 20_000,
        },
    }
}

fn honest(question: &Question) -> Answer {
    let position = &question.position;
    moves_of(question)
        .into_iter()
        .map(|m| (m, verdict(Score::opinion(value(position, m)), m)))
        .collect()
}

/// Returns the outcome that a liar reports; `None` for no report.
fn lie(
    lie: Lie,
    question: &Question,
    number: u64,
    first: &mut Option<v1::Answer>,
) -> Option<Outcome> {
    let truth = honest(question);
    let change = |change: &dyn Fn(&mut Verdict)| truth.changed(|_, v| change(v));
    let claim = |plies| {
        let proof = Proof::new(Claim::Win, ProofKind::Vct, plies);
        let best = truth.best().map(|(m, _)| m);
        truth.changed(|m, v| {
            if Some(m) == best {
                (v.score, v.proof) = (proof.score(), Some(proof));
            }
        })
    };
    let shifted = |by| change(&|v| v.score = Score::opinion(i32::from(v.score.raw()) + by));
    let answer = match lie {
        Lie::Bias(by) => shifted(by),
        Lie::SlowDrip(by) if number.is_multiple_of(4) => shifted(by),
        Lie::SlowDrip(_) => truth,
        Lie::Boast => change(&|v| {
            (v.score, v.depth, v.nodes) = (Score::opinion(2_500), 40, u64::MAX);
            v.by.engine = "\u{1b}[2J<b>best</b>".into();
            v.by.day = u32::MAX;
        }),
        Lie::Claim => claim(9),
        Lie::Decided(score) => change(&|v| v.score = Score::opinion(score)),
        Lie::InstantWin => claim(1),
        Lie::OnlyBounds => change(&|v| v.bound = Bound::Upper),
        Lie::Fail => return Some(Outcome::Failed("no".into())),
        Lie::Stall => return None,
        Lie::Replay => {
            let replayed = first.get_or_insert_with(|| (&truth).into());
            return Some(Outcome::Answer(replayed.clone()));
        }
    };
    Some(Outcome::Answer((&answer).into()))
}

fn honest_hello(instance: u64) -> v1::Hello {
    Liars::Single.hello(instance)
}

/// A coordinator on a socket, with tokens.
struct World {
    _folder: TempDir,
    tokens: TokenFile,
    cluster: Cluster,
}

impl World {
    async fn start(verify_share: f64) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let tokens = TokenFile::new(
            100_000,
            &[
                ("admin", &[Role::Admin], None),
                ("operator", &[Role::Work], None),
                ("one", &[Role::Volunteer], None),
                ("two", &[Role::Volunteer], None),
            ],
        );
        let config = Config {
            book: Some(folder.path().join("book")),
            cache_mib: 8,
            verify_share,
            stall_timeout: Some(STALL_TIMEOUT),
            ..Config::default()
        };
        let admin = tokens.access("admin");
        let cluster = Cluster::listen(&config, Some(&tokens), None, admin).await;
        Self {
            _folder: folder,
            tokens,
            cluster,
        }
    }

    async fn join(&self, hello: v1::Hello, token: &str) -> ScriptedWorker {
        let connector = self.cluster.connector_by(&self.tokens.access(token));
        let channel = connector.connect().await.expect("it listens");
        ScriptedWorker::say_first(channel, WorkerMessage::Hello(hello))
            .await
            .expect("a stream")
    }

    async fn workers(&self) -> BTreeMap<String, Worker> {
        let named = |worker: Worker| (worker.name.clone(), worker);
        self.cluster
            .workers()
            .await
            .into_iter()
            .map(named)
            .collect()
    }

    /// Waits until a worker has passed its calibration.
    async fn admitted(&self, instance: u64) {
        let name = format!("worker {instance}");
        let is_calibrating = async || {
            let workers = self.workers().await;
            workers
                .get(&name)
                .is_none_or(|worker| worker.trust == "calibrating")
        };
        within(async {
            while is_calibrating().await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
    }

    /// Builds to the end. Returns the job.
    async fn built(&self, positions: u64) -> v1::Job {
        // No worker can visit so many nodes, but one may say so.
        let request = with(
            build("test", positions),
            &json!({"total_nodes": 1_000_000_000_000_u64}),
        );
        let variant = "freestyle-7".parse().expect("a variant");
        let root = Position::from_line(variant, "d4").expect("a legal move");
        let roots = vec![(&root).into()];
        let request = v1::StartRequest { roots, ..request };
        self.cluster.start_build(request).await;
        self.cluster.finished("test").await
    }

    async fn export(&self) -> Vec<(Position, Answer)> {
        let read = |entry: v1::Found| {
            let position = entry.position.expect("named");
            let position = Position::try_from(&position).expect("a position");
            let facts = entry.facts.expect("searched");
            let facts = facts.about(&position).expect("legal moves");
            (position, facts)
        };
        self.cluster.export().await.into_iter().map(read).collect()
    }

    async fn end(self) {
        self.cluster.end().await;
    }
}

/// Answers tasks until the stream ends; `report` gives the outcome of each, or none.
fn work(
    mut worker: ScriptedWorker,
    mut report: impl FnMut(&Question) -> Option<Outcome> + Send + 'static,
) -> AbortOnDropHandle<()> {
    let works = async move {
        let mut nodes = 0;
        while let Some(message) = worker.next().await {
            let CoordinatorMessage::Task(task) = message else {
                continue;
            };
            let question = task.question.as_ref().expect("a question");
            let question = Question::try_from(question).expect("a good one");
            let outcome = if task.task >= FIRST_CALIBRATION_TASK {
                Some(Outcome::Answer((&honest(&question)).into()))
            } else {
                report(&question)
            };
            let Some(outcome) = outcome else {
                nodes += 1_000_000;
                let progress = v1::TaskProgress {
                    task: task.task,
                    nodes,
                    ..v1::TaskProgress::default()
                };
                let beat = v1::Heartbeat {
                    progress: vec![progress],
                };
                worker.say(WorkerMessage::Heartbeat(beat)).await;
                continue;
            };
            if !worker.try_report(&task, outcome).await {
                break;
            }
        }
    };
    AbortOnDropHandle::new(tokio::spawn(works))
}

/// Runs one scenario, and checks what must hold in all of them.
async fn run(liars: Liars, kind: Lie, verify_share: f64) {
    let scenario = format!("{liars:?} {kind:?} {verify_share} %");
    let _turn = TURNS.acquire().await.expect("never closed");
    let world = World::start(verify_share).await;
    let mut workers = Vec::new();
    let lie_count = Arc::new(AtomicU64::new(0));
    for instance in 1..=HONEST_WORKERS {
        let worker = world.join(honest_hello(instance), "operator").await;
        let say = |question: &Question| Some(Outcome::Answer((&honest(question)).into()));
        workers.push(work(worker, say));
        world.admitted(instance).await;
    }
    for (instance, token) in (FIRST_LIAR..).zip(liars.tokens()) {
        let worker = world.join(liars.hello(instance), token).await;
        let (lie_count, mut number, mut first) = (Arc::clone(&lie_count), 0, None);
        workers.push(work(worker, move |question| {
            lie_count.fetch_add(1, Ordering::Relaxed);
            number += 1;
            lie(kind, question, number, &mut first)
        }));
        world.admitted(instance).await;
    }
    let job = world.built(POSITIONS).await;
    assert_eq!(
        (job.state(), job.positions, job.set_aside),
        (JobState::Done, POSITIONS, 0),
        "{scenario}: {job:?}"
    );
    let lie_count = lie_count.load(Ordering::Relaxed);
    assert!(lie_count > 0, "{scenario}: no liar had a task");
    let book = world.export().await;
    assert!(book.len() as u64 >= POSITIONS, "{scenario}: {}", book.len());
    let is_verified = verify_share > 99.0;
    for (position, facts) in &book {
        for (m, v) in facts.verdicts() {
            assert_eq!(v.proof, None, "{scenario}: {position}");
            assert!(v.depth <= DEPTH && v.nodes < 1 << 40, "{scenario}: {v:?}");
            // The coordinator settles claims, and its values are not those of the scripts.
            let is_claim = matches!(kind, Lie::Claim | Lie::Decided(_) | Lie::InstantWin);
            if &*v.by.engine == Engine::NAME && is_claim {
                continue;
            }
            let is_its = liars == Liars::OtherEngine && &*v.by.engine == OTHER_ENGINE;
            assert!(&*v.by.engine == ENGINE || is_its, "{scenario}: {v:?}");
            let truth = Score::opinion(value(position, *m));
            if v.is_exact() && is_verified && kind != Lie::Bias(50) {
                assert_eq!(v.score, truth, "{scenario}: {position}");
            }
        }
    }
    let listed = world.workers().await;
    for instance in 1..=HONEST_WORKERS {
        let honest = &listed[&format!("worker {instance}")];
        assert_eq!(honest.trust, "operator", "{scenario}: {honest:?}");
        assert_eq!((honest.refuted, honest.failed), (0, 0), "{scenario}");
    }
    for instance in (FIRST_LIAR..).take(liars.tokens().len()) {
        let liar = &listed[&format!("worker {instance}")];
        let always_lies = !matches!(kind, Lie::SlowDrip(_) | Lie::Replay | Lie::Bias(50));
        assert!(
            !is_verified || !always_lies || liar.confirmed == 0,
            "{scenario}: {liar:?}"
        );
    }
    if is_verified && kind.is_certain(liars.are_repeatable()) {
        for instance in (FIRST_LIAR..).take(liars.tokens().len()) {
            let liar = &listed[&format!("worker {instance}")];
            // One of two colluding liars may have had few tasks.
            if liar.done > 1 || liars != Liars::Colluding {
                assert_eq!(liar.trust, "quarantined", "{scenario}: {liar:?}");
            }
        }
    }
    drop(workers);
    world.end().await;
}

/// Runs scenarios of one kind of liars at a share of 100 %, at once: most of the time they wait for
/// leases to run out and for pauses after failures.
async fn run_all(liars: Liars, lies: &[Lie]) {
    let mut scenarios = JoinSet::new();
    for kind in lies {
        scenarios.spawn(run(liars, *kind, 100.0));
    }
    while let Some(ended) = scenarios.join_next().await {
        ended.expect("the scenario holds");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lies_of_volunteers_do_no_harm() {
    for liars in [Liars::Single, Liars::Colluding, Liars::ManyNames] {
        run_all(liars, liars.own_lies()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lies_of_operators_workers_do_no_harm() {
    for liars in [Liars::Operators, Liars::OtherEngine, Liars::ManyThreads] {
        run_all(liars, liars.own_lies()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn no_lie_of_any_liar_does_harm() {
    for liars in Liars::ALL {
        run_all(liars, &Lie::ALL).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rarely_checked_lies_end_no_job_and_prove_nothing() {
    for liars in Liars::ALL {
        run(liars, Lie::Claim, 2.0).await;
        run(liars, Lie::Boast, 2.0).await;
    }
}
