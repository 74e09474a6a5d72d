use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_coordinator::Server;
use kagetsu_game::{Position, Side, Variant};
use kagetsu_http::{JobJson, state};
use kagetsu_program::Exit;
use kagetsu_proto::{Access, Connector, v1};
use kagetsu_search::Engine;
use kagetsu_worker::EngineArgs;
use serde::Serialize;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::analyze::ENGINE_OF_A_CLUSTER;
use crate::cli::{runtime, write_json};
use crate::effort::{EffortArgs, parse_time};
use crate::live::waiting;
use crate::proofs::{self, ProofJson};
use crate::remote::{self, Builds};
use crate::roots;
use crate::source::{BY_FLAG, Room, or_ask};
use crate::terminal::Unechoed;

/// Roots that a coordinator is asked about at a time.
const AT_ONCE: usize = 1_024;

/// Plies of each search where no effort is given.
const DEPTH: u8 = 6;

/// Positions of each search for threats where no effort is given.
const THREATS: u64 = 20_000;

/// What a move of the other side may lose with --policy one-side, where that is not said.
const MARGIN: u16 = 100;

/// Grows a book
///
/// Without --coordinator a whole cluster works inside this process: a coordinator and one worker for each core. Run the
/// same command again to go on where it stopped; a greater --positions goes on from a job that is done. Ctrl-C stops
/// cleanly. With --coordinator the job goes on in the cluster whatever becomes of this command.
///
/// With --policy prove the build looks for a proof that --side wins the roots, and is done when it has one: `kagetsu export
/// --format proof` writes it; what is proven of each root is told at the end. --nodes are then those of each search for a win by
/// threats: one for the attacker, who then looks for moves that threaten such a win, and one for each reply of the defender that is
/// not refuted as another was.
///
/// --deepen grows nothing: it makes what the book has better, the nearest to the roots first. A job ends with --positions,
/// --total-nodes or --until-stable, or where nothing is left; the same command with more goes on.
///
/// Example: kagetsu build --book h8.book --variant freestyle-15 --moves h8 --positions 100 --depth 6
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The book's folder; it is made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "coordinator")]
    book: Option<PathBuf>,
    /// What is played, as in freestyle-15
    #[arg(long, value_name = "VARIANT")]
    variant: Variant,
    /// A position to begin with, as its moves; may be given more than once [default: the start]
    #[arg(long, value_name = "LINE")]
    moves: Vec<String>,
    /// A file of positions to begin with, one a line: moves, or offsets from the centre as in Gomocup's lists; or .json
    #[arg(long, value_name = "FILE")]
    roots: Option<PathBuf>,
    /// Which position comes next
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    policy: PolicyArg,
    /// Whose win --policy prove is to prove, or whose best moves alone --policy one-side follows
    #[arg(long, value_enum, default_value_t, value_name = "SIDE")]
    side: SideArg,
    /// Follows no move that loses more than this against the best, in centi-units [default: 100 with --policy one-side]
    #[arg(long, value_name = "CENTI")]
    margin: Option<u16>,
    /// Adds up to so many plies, by chance, to the priority of each position: fewer holes near the root, 0 to 100
    #[arg(long, default_value_t = 0.0, value_name = "PLIES", value_parser = noise)]
    noise: f64,
    /// Makes --noise the same every time
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Never enters the position after these moves, by whatever way; may be given more than once
    #[arg(long, value_name = "LINE")]
    exclude: Vec<String>,
    /// Takes every position on this line as a root too, however bad its moves; may be given more than once
    #[arg(long, value_name = "LINE")]
    cover: Vec<String>,
    /// Searches anew what the book has from the roots on, and adds nothing: positions whose best move was searched less deeply
    /// than --depth, with fewer positions than --nodes, before the day --before, or by another version of this program (where
    /// this one searches)
    #[arg(long)]
    deepen: bool,
    /// With --deepen: what was searched before this day is searched anew, as in 2026-11-21
    #[arg(long, requires = "deepen", value_name = "DATE", value_parser = day)]
    before: Option<u32>,
    /// How many positions to add to the book, or to search anew with --deepen [default: no end]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    positions: Option<u64>,
    /// Ends when the searches of the job have visited so many positions in all; what is at work then is finished
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    total_nodes: Option<u64>,
    /// Ends when so many positions in a row were added without a change at the roots: the same best move, and the value within
    /// 0.10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    until_stable: Option<u64>,
    /// Jobs of a book with a greater priority go before the others, -100 to 100
    #[arg(long, default_value_t = 0, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-100..=100))]
    priority: i8,
    /// Stops after this time, as in 30s or 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// Plies beyond the deepest root after which nothing is followed
    #[arg(long, value_name = "N")]
    max_ply: Option<u16>,
    /// Plies that a loss of a hundred centi-units weighs: 0 searches ply by ply, more follows the best lines deeper
    #[arg(long, default_value_t = 1.0, value_name = "X", value_parser = alpha)]
    alpha: f64,
    #[command(flatten)]
    effort: EffortArgs,
    /// How many best moves of each position get an exact value, and are followed
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: u16,
    /// Lets workers without a position of their own share one; then the answers depend on how it was divided
    #[arg(long)]
    split: bool,
    /// Workers in this process, of one thread each [default: one for each core]
    #[arg(long, value_name = "N", conflicts_with = "coordinator", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for each worker's transposition table, in MiB
    #[arg(long, default_value_t = 64, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    table_mib: u64,
    #[command(flatten)]
    engine: EngineArgs,
    /// Builds on the cluster of this coordinator, into its book; then --book is not used
    #[arg(long, value_name = "URL")]
    coordinator: Option<String>,
    #[command(flatten)]
    access: Access,
    /// The job's name in the book [default: made of the variant and the roots]
    #[arg(long, value_name = "JOB")]
    name: Option<String>,
    /// Prints one JSON object at the end
    #[arg(long)]
    json: bool,
}

/// Which position comes next.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum PolicyArg {
    /// The nearest to the root, where a worse move counts as farther away
    #[default]
    DropOut,
    /// As drop-out, but of --side only the best move is followed, and of the other side all within --margin: a repertoire
    OneSide,
    /// The one that helps most to prove that --side wins the roots: proof-number order
    Prove,
}

/// A side, as a flag's value.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum SideArg {
    /// The side that makes the first move of a game
    #[default]
    First,
    /// The other one
    Second,
}

fn alpha(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if (0.0..=1_000.0).contains(&value) { Ok(value) } else { Err("must be from 0 to 1000".into()) }
}

fn noise(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if (0.0..=100.0).contains(&value) { Ok(value) } else { Err("must be from 0 to 100".into()) }
}

/// A day as days since 1970-01-01.
fn day(text: &str) -> Result<u32, String> {
    crate::json::day(text).ok_or_else(|| "no day; write it as in 2026-11-21".into())
}

/// Tells jobs that search anew from those that grow, and by what they ask for from each other.
fn suffix(deepen: &v1::Deepen) -> String {
    let v1::Deepen { depth, nodes, day, .. } = deepen;
    let parts = [
        (*depth > 0).then(|| format!("-depth-{depth}")),
        (*nodes > 0).then(|| format!("-nodes-{nodes}")),
        (*day > 0).then(|| format!("-before-{}", crate::json::date(*day))),
    ];
    "-deepen".to_string() + &parts.into_iter().flatten().collect::<String>()
}

/// How the build ended.
struct Ended {
    job: v1::Job,
    /// By Ctrl-C, or because the time is up; else the job is over.
    is_stopped: bool,
    /// Of each root, where its win is to be proven.
    proofs: Option<Vec<ProofJson>>,
}

#[derive(Serialize)]
struct BuildJson {
    #[serde(flatten)]
    job: JobJson,
    book: String,
    /// Of each root, with `--policy prove`.
    #[serde(skip_serializing_if = "Option::is_none")]
    proofs: Option<Vec<ProofJson>>,
    time_ms: u64,
}

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<Exit> {
    let request = args.request()?;
    if let (Some(url), Some(book)) = (&args.coordinator, &args.book) {
        let book = book.display();
        writeln!(std::io::stderr(), "kagetsu: --book {book} is not used: the build goes into the book of {url}")?;
    }
    let begun = Instant::now();
    let ended = match &args.coordinator {
        Some(url) => runtime()?.block_on(there(&args, url, request))?,
        None => runtime()?.block_on(here(&args, request))?,
    };
    if ended.is_stopped {
        let goes_on = if args.coordinator.is_some() && args.time.is_none() {
            "the job goes on in the cluster; `kagetsu jobs watch` shows it"
        } else {
            "run the same command again to go on"
        };
        writeln!(std::io::stderr(), "stopped; {goes_on}")?;
    }
    let Ended { job, proofs, .. } = ended;
    write_end(out, &args, &job, proofs, begun.elapsed())?;
    if job.state() == v1::JobState::Failed {
        bail!("the job failed: {}", job.reason);
    }
    Ok(Exit::Done)
}

impl Args {
    fn request(&self) -> Result<v1::StartRequest> {
        if self.engine.engine.is_some() && self.coordinator.is_some() {
            bail!(ENGINE_OF_A_CLUSTER);
        }
        let is_ours = self.engine.engine.is_none() && self.coordinator.is_none();
        if is_ours && !Engine::supports(self.variant) {
            bail!(
                "no search for {} yet: only its rules are known (see `kagetsu moves`); --engine takes somebody else's",
                self.variant
            );
        }
        let mut roots = Vec::new();
        for line in &self.moves {
            let root = Position::from_line(self.variant, line).with_context(|| format!("--moves \"{line}\""))?;
            roots.push(root);
        }
        if let Some(path) = &self.roots {
            roots.extend(roots::read(path, self.variant)?);
        }
        if roots.is_empty() {
            roots.push(Position::start(self.variant));
        }
        for line in &self.cover {
            let end = Position::from_line(self.variant, line).with_context(|| format!("--cover \"{line}\""))?;
            for plies in 1..=end.moves().len() {
                let on_it = Position::new(self.variant, None, &end.moves()[..plies])?;
                if !roots.contains(&on_it) {
                    roots.push(on_it);
                }
            }
        }
        let excluded =
            |line: &String| Position::from_line(self.variant, line).with_context(|| format!("--exclude \"{line}\""));
        let exclude: Vec<Position> = self.exclude.iter().map(excluded).collect::<Result<_>>()?;
        let is_one_sided = matches!(self.policy, PolicyArg::OneSide);
        if let Some(over) = roots.iter().find(|root| root.outcome().is_some()) {
            bail!("the game is over in the root {over}: there is nothing to search");
        }
        let mut effort = self.effort.effort();
        if effort == kagetsu_game::Effort::default() {
            match self.policy {
                PolicyArg::DropOut | PolicyArg::OneSide => effort.depth = Some(DEPTH),
                PolicyArg::Prove => effort.nodes = Some(THREATS),
            }
        }
        let deepen = self.deepen.then(|| v1::Deepen {
            depth: effort.depth.unwrap_or_default().into(),
            nodes: effort.nodes.unwrap_or_default(),
            day: self.before.unwrap_or_default(),
            engine: if is_ours { Engine::NAME.into() } else { String::new() },
        });
        Ok(v1::StartRequest {
            name: self
                .name
                .clone()
                .unwrap_or_else(|| default_name(&roots) + &deepen.as_ref().map_or_else(String::new, suffix)),
            roots: roots.iter().map(Into::into).collect(),
            alpha: self.alpha,
            effort: Some(effort.into()),
            width: self.top.into(),
            max_ply: self.max_ply.map(Into::into),
            target: self.positions,
            split: self.split,
            policy: match self.policy {
                PolicyArg::DropOut => v1::Policy::DropOut,
                PolicyArg::OneSide => v1::Policy::OneSide,
                PolicyArg::Prove => v1::Policy::Prove,
            }
            .into(),
            margin: self.margin.or(is_one_sided.then_some(MARGIN)).map(Into::into),
            deepen,
            total_nodes: self.total_nodes,
            until_stable: self.until_stable,
            priority: self.priority.into(),
            noise: self.noise,
            seed: self.seed,
            exclude: exclude.iter().map(Into::into).collect(),
            side: match self.side {
                SideArg::First => v1::Side::First,
                SideArg::Second => v1::Side::Second,
            }
            .into(),
        })
    }
}

impl Args {
    /// The workers of this process: one for each core, or one with a process of somebody else's engine for each.
    fn workers(&self) -> Vec<kagetsu_worker::Config> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.map_or(cores, usize::from);
        let config = |name: String| kagetsu_worker::Config::embedded(name, self.table_mib);
        if self.engine.engine.is_none() {
            return (0..threads).map(|n| config(format!("worker-{n}"))).collect();
        }
        let slots = threads as u32;
        vec![kagetsu_worker::Config {
            slots,
            table_mib: self.table_mib.saturating_mul(slots.into()),
            engine: self.engine.clone(),
            variant: vec![self.variant],
            ..config("worker-0".into())
        }]
    }
}

/// The same for the same roots: the variant, and what remains of the roots' keys.
fn default_name(roots: &[Position]) -> String {
    let mixed = roots.iter().fold(0_u128, |mixed, root| mixed.rotate_left(1) ^ root.key().0);
    let variant = roots.first().map_or_else(String::new, |root| root.variant().to_string());
    format!("{variant}-{:08x}", (mixed >> 96) as u32)
}

/// Builds with a cluster inside this process.
async fn here(args: &Args, request: v1::StartRequest) -> Result<Ended> {
    if let Some(path) = args.book.as_ref().filter(|path| args.deepen && !path.join("journal").exists()) {
        bail!(
            "there is no book at {}, and --deepen searches anew what a book has; build one without it",
            path.display()
        );
    }
    let room = args.book.as_deref().map(Room::at);
    let (shutdown, retire) = (CancellationToken::new(), CancellationToken::new());
    let book = args.book.clone();
    let config = kagetsu_coordinator::Config { book, cache_mib: 128, trusts_workers: true, ..Default::default() };
    let started = Server::start(&config, shutdown.clone()).map_err(|error| or_ask(error, BY_FLAG));
    let coordinator = started?.embed();
    let mut workers = JoinSet::new();
    for config in args.workers() {
        workers.spawn(kagetsu_worker::run(config, coordinator.connector().clone(), retire.clone()));
    }
    let built = tokio::select! {
        built = follow(args, coordinator.connector(), request, true) => built,
        // None ends before it is told to, but for an engine that cannot play.
        Some(ended) = workers.join_next() => ended?.and_then(|()| bail!("a worker ended before the build did")),
    };
    retire.cancel();
    while let Some(ended) = workers.join_next().await {
        let ended = ended?;
        // What went wrong first says why.
        if built.is_ok() {
            ended?;
        }
    }
    shutdown.cancel();
    // The coordinator's end says why, where the book could not be written.
    coordinator.end().await?;
    if let (Err(_), Some(room)) = (&built, room) {
        room.tidy();
    }
    built
}

/// Builds on a cluster.
async fn there(args: &Args, url: &str, request: v1::StartRequest) -> Result<Ended> {
    follow(args, &args.access.connector(url)?, request, args.time.is_some()).await
}

/// Refuses to search anew from roots of which the book has none.
async fn has_one_of(connector: &Connector, roots: &[v1::Position]) -> Result<()> {
    for some in roots.chunks(AT_ONCE) {
        if remote::lookup(connector, some, 1).await?.iter().any(|found| found.answer.is_some()) {
            return Ok(());
        }
    }
    let first = roots.first().context("a root is needed")?;
    let first = Position::try_from(first)?;
    let others =
        if roots.len() > 1 { format!(", nor any of the {} other roots", roots.len() - 1) } else { String::new() };
    bail!(
        "the book does not hold the root {first}{others}, and --deepen searches anew what it has; build from it first"
    )
}

/// Starts the job and watches it to its end, or until it is to stop; then `pauses` it, or leaves it at work.
async fn follow(args: &Args, connector: &Connector, request: v1::StartRequest, pauses: bool) -> Result<Ended> {
    let (name, to_prove) = (request.name.clone(), to_prove(&request)?);
    if request.deepen.is_some() {
        has_one_of(connector, &request.roots).await?;
    }
    let mut builds = Builds::connect(connector).await?;
    let first = builds.start(request).await?;
    let (bar, _keys) = (progress_bar(&first), Unechoed::new());
    let stop = stopped(args.time);
    let mut waits = String::new();
    let mut shown = |job: &v1::Job| {
        // In this process the workers come by themselves.
        let why = if args.coordinator.is_some() { job.waits_for.as_str() } else { "" };
        show(&bar, job, why);
        // A build that waits must not do it in silence where there is no bar, unless a program reads along.
        if bar.is_hidden() && !args.json && why != waits {
            why.clone_into(&mut waits);
            if !why.is_empty() {
                // Who has closed stderr does not want to know.
                let _ = writeln!(std::io::stderr(), "{name}: {}", waiting(why));
            }
        }
    };
    let (job, is_stopped) = tokio::select! {
        job = builds.watch(&name, &mut shown) => (job?, false),
        () = stop => {
            let mut builds = Builds::connect(connector).await?;
            (if pauses { builds.pause(&name).await? } else { builds.get(&name).await? }, true)
        }
    };
    bar.finish_and_clear();
    let proofs = match to_prove {
        Some((roots, attacker)) => Some(proofs::of(connector, &roots, attacker).await?),
        None => None,
    };
    Ok(Ended { job, is_stopped, proofs })
}

/// The roots of a build that is to prove something, and whose win.
fn to_prove(request: &v1::StartRequest) -> Result<Option<(Vec<Position>, Side)>> {
    if request.policy() != v1::Policy::Prove {
        return Ok(None);
    }
    let roots = request.roots.iter().map(Position::try_from).collect::<Result<_, _>>()?;
    Ok(Some((roots, if request.side() == v1::Side::Second { Side::Second } else { Side::First })))
}

/// Waits for Ctrl-C, or until the time is up.
async fn stopped(time: Option<Duration>) {
    let time_is_up = async {
        match time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = time_is_up => {}
    }
}

fn progress_bar(job: &v1::Job) -> ProgressBar {
    let (bar, style) = match job.target {
        Some(target) => (ProgressBar::new(target), "{bar:30} {pos}/{len} positions, {msg}"),
        None => (ProgressBar::no_length(), "{spinner} {pos} positions, {msg}"),
    };
    bar.set_style(ProgressStyle::with_template(style).expect("a fixed template"));
    bar
}

/// `why`: what it waits for, if it does.
fn show(bar: &ProgressBar, job: &v1::Job, why: &str) {
    bar.set_position(job.positions);
    let left = job.target.map(|target| target.saturating_sub(job.positions)).filter(|_| job.rate > 0.0);
    let left = left.map(|left| Duration::from_secs((left as f64 / job.rate) as u64));
    let left = left.map_or_else(String::new, |left| format!(", {} left", humantime::format_duration(left)));
    bar.set_message(match why {
        "" => format!("{:.1}/s, {} waiting{left}", job.rate, job.frontier),
        _ => waiting(why),
    });
}

/// Where the job is, as `kagetsu jobs` takes it.
fn place(args: &Args) -> String {
    match (&args.coordinator, &args.book) {
        (Some(url), _) => format!("--coordinator {url}"),
        (None, Some(book)) => format!("--book {}", book.display()),
        (None, None) => String::new(),
    }
}

fn write_end(
    out: &mut dyn Write,
    args: &Args,
    job: &v1::Job,
    proofs: Option<Vec<ProofJson>>,
    time: Duration,
) -> Result<()> {
    let folder = args.book.as_ref().map(|path| path.display().to_string());
    let book = args.coordinator.clone().or(folder).unwrap_or_default();
    if args.json {
        let json = BuildJson { job: job.into(), book, proofs, time_ms: time.as_millis() as u64 };
        return write_json(out, &json);
    }
    let target = job.target.map_or_else(String::new, |target| format!(" of {target}"));
    let aside = if job.set_aside > 0 { format!(", {} set aside", job.set_aside) } else { String::new() };
    let (state, seconds) = (state(job.state()), time.as_secs_f64());
    writeln!(out, "{book}: job {} {state}, {}{target} positions{aside}", job.name, job.positions)?;
    writeln!(out, "{} positions wait; {seconds:.1} s", job.frontier)?;
    proofs::write(out, proofs.as_deref().unwrap_or_default())?;
    if let Some(aside) = job.asides.first().filter(|_| job.set_aside > 0) {
        let (at, name) = (place(args), &job.name);
        writeln!(
            out,
            "set aside: {}; `kagetsu jobs show {name} {at}` lists all, `jobs retry` tries again",
            aside.reason
        )?;
    }
    Ok(())
}
