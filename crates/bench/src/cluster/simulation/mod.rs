//! A cluster of any size on one machine: the real scheduler under a clock that is made up.

mod book;
mod clock;
mod machine;
mod plot;
mod position;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use kagetsu_game::{Effort, Position, Question};
use kagetsu_search::{Control, Engine, EngineOptions, seeds};
use serde::Serialize;

use super::ratios::Ratios;
use kagetsu_terminal::arguments::effort::parse_time;
use kagetsu_terminal::arguments::split::SplitArg;
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;

/// The kind of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// One position searched by all workers together
    Position,
    /// A book built by workers that have a position each
    Book,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SimulationArgs {
    /// Simulates a cluster in this process, with the real scheduler under a virtual clock; without
    /// a value, both kinds
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true)]
    simulate: Option<Option<What>>,
    /// Simulated workers [default: 1,2,4,8,32 for a position, 1,10,100,1000,10000 for a book]
    #[arg(long, value_name = "N,N..", value_delimiter = ',', requires = "simulate",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sizes: Vec<u32>,
    /// How workers share a simulated position
    #[arg(long, value_enum, default_value_t = SplitArg::Shared, value_name = "SPLIT", requires = "simulate")]
    split: SplitArg,
    /// Settings of the simulated engines; see `bench match --help`
    #[arg(
        long = "settings",
        default_value = "default",
        value_name = "SETTINGS",
        requires = "simulate"
    )]
    engine: EngineOptions,
    /// Positions a second of a simulated worker
    #[arg(long, default_value_t = 500_000, value_name = "N", requires = "simulate",
          value_parser = clap::value_parser!(u64).range(1_000..))]
    speed: u64,
    /// Time of a simulated message, one way
    #[arg(long, default_value = "1ms", value_name = "TIME", value_parser = parse_time, requires = "simulate")]
    latency: Duration,
    /// Time of a task of a simulated book
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = parse_time, requires = "simulate")]
    task: Duration,
    /// Takes the tasks of a simulated book from this file: positions visited, one number a line
    #[arg(long, value_name = "FILE", requires = "simulate")]
    times: Option<PathBuf>,
    /// Writes such a file: the positions that real searches of --depth visit, and ends
    #[arg(long, value_name = "FILE", conflicts_with = "simulate")]
    record: Option<PathBuf>,
    /// Time of the simulated coordinator for a report and its effects
    #[arg(long, default_value = "50us", value_name = "TIME", value_parser = parse_time, requires = "simulate")]
    service: Duration,
    /// Time of one commit of a simulated book's journal; a report is acknowledged after it
    /// [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "simulate")]
    commit: Option<Duration>,
    /// Positions of one commit at most
    #[arg(long, default_value_t = 1024, value_name = "N", requires = "simulate",
          value_parser = clap::value_parser!(u32).range(1..))]
    commit_batch: u32,
    /// Mean life of a simulated worker of a book; it comes back after a tenth of that [default: for
    /// ever]
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "simulate")]
    life: Option<Duration>,
    /// Length of the observation of a simulated book or of streams [default: 60s for a book, 10s
    /// for streams]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    length: Option<Duration>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1, value_name = "SEED", requires = "simulate")]
    seed: u64,
    /// Draws speed-up over workers into this SVG file
    #[arg(long, value_name = "FILE", requires = "simulate")]
    plot: Option<PathBuf>,
}

/// One size of cluster.
#[derive(Clone, Debug, Serialize)]
struct SimulationRow {
    workers: u32,
    /// Compared with one worker that searches alone; for a book, with a worker that never waits.
    speed_up: f64,
    /// The speed-up of each position.
    each: Option<Ratios>,
    /// Share of the workers' time without a search.
    idle: f64,
    /// Positions visited beyond those of the one worker, as a share of these.
    overhead: f64,
    /// Tasks begun, or positions of a book.
    tasks: u64,
    /// Messages among the workers of one position.
    notes: u64,
    /// Mean seconds of a task.
    seconds: f64,
    /// Positions with the same move and value as one worker, and all positions.
    agreed: Option<(u64, u64)>,
}

#[derive(Clone, Debug, Serialize)]
struct Table {
    what: &'static str,
    method: String,
    rows: Vec<SimulationRow>,
}

impl SimulationArgs {
    /// Whether positions are simulated.
    pub(crate) fn is_of_positions(&self) -> bool {
        matches!(self.simulate, Some(None | Some(What::Position)))
    }

    /// Runs the simulation if the arguments ask for one, and returns whether they do. Without
    /// `openings` the positions are those of `bench seeds`.
    pub(crate) fn run(
        &self,
        depth: u8,
        openings: Option<u32>,
        is_json: bool,
        out: &mut dyn Write,
    ) -> Result<bool> {
        if let Some(path) = &self.record {
            self.record(depth, path, out)?;
            return Ok(true);
        }
        let Some(what) = self.simulate else {
            return Ok(false);
        };
        // The text appears while the simulation runs.
        let mut silence = std::io::sink();
        let text: &mut dyn Write = if is_json { &mut silence } else { &mut *out };
        let mut tables = Vec::new();
        if what != Some(What::Book) {
            tables.push(self.position(depth, openings, text)?);
        }
        if what != Some(What::Position) {
            tables.push(self.book(text)?);
        }
        if is_json {
            write_json(out, &tables)?;
        }
        if let Some(path) = &self.plot {
            let lines = tables.iter().map(|table| {
                let points = table
                    .rows
                    .iter()
                    .map(|row| (f64::from(row.workers), row.speed_up))
                    .collect();
                (table.what, points)
            });
            plot::draw(path, &lines.collect::<Vec<_>>())?;
        }
        Ok(true)
    }

    fn book_length(&self) -> Duration {
        self.length.unwrap_or(Duration::from_secs(60))
    }

    /// How long to watch streams.
    pub(crate) fn length(&self) -> Duration {
        self.length.unwrap_or(Duration::from_secs(10))
    }

    fn sizes(&self, usual: &[u32]) -> Vec<u32> {
        if self.sizes.is_empty() {
            usual.to_vec()
        } else {
            self.sizes.clone()
        }
    }

    fn position(&self, depth: u8, openings: Option<u32>, out: &mut dyn Write) -> Result<Table> {
        let split = self.split.into();
        let terms = position::PositionTerms {
            engine: self.engine,
            speed: self.speed,
            latency: self.latency,
            split,
        };
        let which = openings.map_or_else(
            || format!("The positions after each move of {}", seeds::LINE.join(" ")),
            |openings| format!("{openings} balanced openings"),
        );
        let method = format!(
            "One position, searched by all workers together ({}): the real scheduler and real searches, each engine with a \
             table of its own, in step under a virtual clock; {} nodes/s a worker, messages take {} one way. {which}, depth \
             {depth}, engine {}; times are added up, and compared with those of the same engine alone. The mean is the \
             geometric one of the positions' ratios, with its standard error.",
            self.split
                .to_possible_value()
                .map_or_else(String::new, |value| value.get_name().into()),
            self.speed,
            humantime::format_duration(self.latency),
            self.engine,
        );
        writeln!(out, "{method}\n")?;
        out.flush()?;
        let positions = super::positions(openings)?;
        let alone = positions
            .iter()
            .map(|p| position::alone(p, depth, terms))
            .collect::<Result<Vec<_>>>()?;
        let serial: (Duration, u64) = (
            alone.iter().map(|run| run.time).sum(),
            alone.iter().map(|run| run.nodes).sum(),
        );
        let mut rows = Vec::new();
        for workers in self.sizes(&[1, 2, 4, 8, 32]) {
            if workers > 1_000 {
                bail!(
                    "{workers} real engines are too many for one machine: at most 1000 for a position"
                );
            }
            let (mut time, mut busy) = (Duration::ZERO, Duration::ZERO);
            let (mut nodes, mut tasks, mut notes, mut agreed) = (0, 0, 0, 0);
            let mut ratios = Vec::new();
            for (position, one) in positions.iter().zip(&alone) {
                let run = position::together(position, depth, workers as usize, terms)?;
                ratios.push(one.time.as_secs_f64() / run.time.as_secs_f64().max(1e-9));
                time += run.time;
                busy += run.busy;
                nodes += run.nodes;
                tasks += run.tasks;
                notes += run.notes;
                agreed += u64::from(run.best == one.best);
            }
            rows.push(SimulationRow {
                workers,
                speed_up: serial.0.as_secs_f64() / time.as_secs_f64(),
                each: Some(ratios.into_iter().collect()),
                idle: 1.0 - busy.as_secs_f64() / (time.as_secs_f64() * f64::from(workers)),
                overhead: nodes as f64 / serial.1 as f64 - 1.0,
                tasks,
                notes,
                seconds: busy.as_secs_f64() / tasks.max(1) as f64,
                agreed: Some((agreed, positions.len() as u64)),
            });
        }
        Self::write("position", method, rows, out)
    }

    fn book(&self, out: &mut dyn Write) -> Result<Table> {
        let tasks = self.tasks()?;
        let mean = tasks.iter().sum::<Duration>() / tasks.len() as u32;
        let life = self.life.map_or_else(
            || "for ever".into(),
            |life| format!("{} on the average", humantime::format_duration(life)),
        );
        let method = format!(
            "A book, each worker with a position of its own and one more waiting: the real scheduler, tasks of {:.3} s on the \
             average ({} different), messages take {} one way, the coordinator serves a report in {}, one at a time, and commits up to {} of them \
             together in {}; workers \
             live {life}; {} of virtual time.",
            mean.as_secs_f64(),
            tasks.len(),
            humantime::format_duration(self.latency),
            humantime::format_duration(self.service),
            self.commit_batch,
            humantime::format_duration(self.commit.unwrap_or_default()),
            humantime::format_duration(self.book_length()),
        );
        writeln!(out, "{method}\n")?;
        out.flush()?;
        let terms = book::BookTerms {
            tasks,
            latency: self.latency,
            service: self.service,
            commit: self.commit.unwrap_or_default(),
            commit_batch: self.commit_batch as usize,
            life: self.life,
            length: self.book_length(),
            seed: self.seed,
        };
        let mut rows = Vec::new();
        for workers in self.sizes(&[1, 10, 100, 1_000, 10_000]) {
            let run = book::run(workers as usize, &terms)?;
            let there = run.there.as_secs_f64();
            let efficiency = run.useful.as_secs_f64() / there;
            let each = run.scheduler.as_secs_f64() * 1e6 / run.positions.max(1) as f64;
            let died = if run.deaths > 0 {
                format!(", {} deaths", run.deaths)
            } else {
                String::new()
            };
            writeln!(
                out,
                "{workers} workers: {each:.1} us of the scheduler a position{died}"
            )?;
            rows.push(SimulationRow {
                workers,
                speed_up: efficiency * there / run.time.as_secs_f64(),
                each: None,
                idle: 1.0 - efficiency,
                overhead: 0.0,
                tasks: run.positions,
                notes: 0,
                seconds: mean.as_secs_f64(),
                agreed: None,
            });
        }
        Self::write("book", method, rows, out)
    }

    /// How long tasks of a book take.
    fn tasks(&self) -> Result<Vec<Duration>> {
        let Some(path) = &self.times else {
            return Ok(vec![self.task]);
        };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let task = |(number, line): (usize, &str)| {
            let nodes: u64 = line
                .trim()
                .parse()
                .ok()
                .filter(|nodes| *nodes > 0)
                .with_context(|| {
                    format!(
                        "{}: line {} is not a number of positions: {line:?}",
                        path.display(),
                        number + 1
                    )
                })?;
            Ok(Duration::from_secs_f64(nodes as f64 / self.speed as f64))
        };
        let tasks = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(task);
        let tasks = tasks.collect::<Result<Vec<_>>>()?;
        if tasks.is_empty() {
            bail!(
                "{} names no task; --record FILE makes such a file",
                path.display()
            );
        }
        Ok(tasks)
    }

    /// Records the positions that real searches visit, for every reply to each of the ten
    /// positions.
    fn record(&self, depth: u8, path: &PathBuf, out: &mut dyn Write) -> Result<()> {
        let mut engine = Engine::new(self.engine)?;
        let mut file = String::new();
        let (mut count, mut sum) = (0_u64, 0);
        for position in seeds::positions()? {
            for (m, _) in kagetsu_search::shallow(&position)?.verdicts() {
                let reply: Position = position.play(*m)?;
                let control = Control::new();
                engine.answer(
                    &Question::new(reply, Effort::depth(depth)),
                    &control,
                    &mut |_| {},
                )?;
                file.push_str(&format!("{}\n", control.nodes().max(1)));
                (count, sum) = (count + 1, sum + control.nodes());
            }
        }
        std::fs::write(path, file).with_context(|| format!("cannot write {}", path.display()))?;
        writeln!(
            out,
            "{count} searches of depth {depth}, {} nodes each on the average",
            sum / count.max(1)
        )?;
        Ok(())
    }

    fn write(
        what: &'static str,
        method: String,
        rows: Vec<SimulationRow>,
        out: &mut dyn Write,
    ) -> Result<Table> {
        let mut shown = table::plain(&[
            "workers",
            "speed-up",
            "mean of each",
            "efficiency",
            "idle",
            "overhead",
            "tasks",
            "ms a task",
            "agreed",
        ]);
        for row in &rows {
            shown.add_row([
                row.workers.to_string(),
                format!("{:.2}", row.speed_up),
                row.each
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string),
                format!("{:.3}", row.speed_up / f64::from(row.workers)),
                format!("{:.1} %", 100.0 * row.idle),
                format!("{:+.1} %", 100.0 * row.overhead),
                row.tasks.to_string(),
                format!("{:.1}", 1e3 * row.seconds),
                row.agreed
                    .map_or_else(String::new, |(agreed, all)| format!("{agreed} of {all}")),
            ]);
        }
        writeln!(out, "{shown}\n")?;
        Ok(Table { what, method, rows })
    }
}
