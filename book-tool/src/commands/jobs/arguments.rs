//! What a build is asked for.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use kagetsu_game::{Position, Variant};
use kagetsu_proto::{Access, v1};
use kagetsu_search::Engine;
use kagetsu_worker::EngineArgs;

use crate::arguments::effort::{EffortArgs, parse_time};
use crate::commands::analysis::analyze::ENGINE_OF_A_CLUSTER;
use kagetsu_formats::openings;

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
/// cleanly. With --coordinator the job goes on in the cluster whatever becomes of this command. Without --depth and --nodes
/// each position is searched to depth 6; with --policy prove, for threats in 20,000 positions.
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
    pub(super) book: Option<PathBuf>,
    /// What is played, as in freestyle-15
    #[arg(long, value_name = "VARIANT")]
    pub(super) variant: Variant,
    /// A position to begin with, as its moves; may be given more than once [default: the start]
    #[arg(long, value_name = "LINE")]
    pub(super) moves: Vec<String>,
    /// A position of xiangqi or surakarta to begin with, as FEN; may be given more than once
    #[arg(long, value_name = "FEN")]
    pub(super) fen: Vec<String>,
    /// A file of positions to begin with, one a line: moves, a FEN, or offsets from the centre as in Gomocup's lists; or .json
    #[arg(long, value_name = "FILE")]
    pub(super) roots: Option<PathBuf>,
    /// Which position comes next
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    pub(super) policy: PolicyArg,
    /// Whose win --policy prove is to prove, or whose best moves alone --policy one-side follows
    #[arg(long, value_enum, default_value_t, value_name = "SIDE")]
    pub(super) side: SideArg,
    /// Follows no move that loses more than this against the best, in centi-units [default: 100 with --policy one-side]
    #[arg(long, value_name = "CENTI")]
    pub(super) margin: Option<u16>,
    /// Adds up to so many plies, by chance, to the priority of each position: fewer holes near the root, 0 to 100
    #[arg(long, default_value_t = 0.0, value_name = "PLIES", value_parser = noise)]
    pub(super) noise: f64,
    /// Makes --noise the same every time
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) seed: u64,
    /// Never enters the position after these moves, by whatever way; may be given more than once
    #[arg(long, value_name = "LINE")]
    pub(super) exclude: Vec<String>,
    /// Takes every position on this line as a root too, however bad its moves; may be given more than once
    #[arg(long, value_name = "LINE")]
    pub(super) cover: Vec<String>,
    /// Searches anew what the book has from the roots on, and adds nothing: positions whose best move was searched less deeply
    /// than --depth, with fewer positions than --nodes, before the day --before, or by another version of this program (where
    /// this one searches)
    #[arg(long)]
    pub(super) deepen: bool,
    /// With --deepen: what was searched before this day is searched anew, as in 2026-11-21
    #[arg(long, requires = "deepen", value_name = "DATE", value_parser = day)]
    pub(super) before: Option<u32>,
    /// How many positions to add to the book, or to search anew with --deepen [default: no end]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) positions: Option<u64>,
    /// Ends when the searches of the job have visited so many positions in all; what is at work then is finished
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) total_nodes: Option<u64>,
    /// Ends when so many positions in a row were added without a change at the roots: the same best move, and the value within
    /// 0.10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) until_stable: Option<u64>,
    /// Jobs of a book with a greater priority go before the others, -100 to 100
    #[arg(long, default_value_t = 0, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-100..=100))]
    pub(super) priority: i8,
    /// Stops after this time, as in 30s or 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(super) time: Option<Duration>,
    /// Plies beyond the deepest root after which nothing is followed
    #[arg(long, value_name = "N")]
    pub(super) max_ply: Option<u16>,
    /// Plies that a loss of a hundred centi-units weighs: 0 searches ply by ply, more follows the best lines deeper
    #[arg(long, default_value_t = 1.0, value_name = "X", value_parser = alpha)]
    pub(super) alpha: f64,
    #[command(flatten)]
    pub(super) effort: EffortArgs,
    /// How many best moves of each position get an exact value, and are followed
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) top: u16,
    /// Lets workers without a position of their own share one; then the answers depend on how it was divided
    #[arg(long = "share-positions")]
    pub(super) split: bool,
    /// Workers in this process, of one thread each [default: one for each core]
    #[arg(long, value_name = "N", conflicts_with = "coordinator", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Memory for each worker's transposition table, in MiB
    #[arg(long, default_value_t = 64, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(super) table_mib: u64,
    #[command(flatten)]
    pub(super) engine: EngineArgs,
    /// Builds on the cluster of this coordinator, into its book; then --book is not used
    #[arg(long, value_name = "URL")]
    pub(super) coordinator: Option<String>,
    #[command(flatten)]
    pub(super) access: Access,
    /// The job's name in the book [default: made of the variant and the roots]
    #[arg(long, value_name = "JOB")]
    pub(super) name: Option<String>,
    /// Prints one JSON object at the end
    #[arg(long)]
    pub(super) json: bool,
}

/// Which position comes next.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum PolicyArg {
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
pub(super) enum SideArg {
    /// The side that makes the first move of a game
    #[default]
    First,
    /// The other one
    Second,
}

fn alpha(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if (0.0..=1_000.0).contains(&value) {
        Ok(value)
    } else {
        Err("must be from 0 to 1000".into())
    }
}

fn noise(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if (0.0..=100.0).contains(&value) {
        Ok(value)
    } else {
        Err("must be from 0 to 100".into())
    }
}

/// A day as days since 1970-01-01.
fn day(text: &str) -> Result<u32, String> {
    kagetsu_api::day(text).ok_or_else(|| "no day; write it as in 2026-11-21".into())
}

/// Tells jobs that search anew from those that grow, and by what they ask for from each other.
fn suffix(deepen: &v1::Deepen) -> String {
    let v1::Deepen {
        depth, nodes, day, ..
    } = deepen;
    let parts = [
        (*depth > 0).then(|| format!("-depth-{depth}")),
        (*nodes > 0).then(|| format!("-nodes-{nodes}")),
        (*day > 0).then(|| format!("-before-{}", kagetsu_api::date(*day))),
    ];
    "-deepen".to_string() + &parts.into_iter().flatten().collect::<String>()
}

impl Args {
    /// What a coordinator is asked for.
    pub(super) fn request(&self) -> Result<v1::StartRequest> {
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
            let root = Position::from_line(self.variant, line)
                .with_context(|| format!("--moves \"{line}\""))?;
            roots.push(root);
        }
        for fen in &self.fen {
            roots.push(
                Position::from_fen(self.variant, fen)
                    .with_context(|| format!("--fen \"{fen}\""))?,
            );
        }
        if let Some(path) = &self.roots {
            roots.extend(openings::read(path, self.variant)?);
        }
        if roots.is_empty() {
            roots.push(Position::start(self.variant));
        }
        for line in &self.cover {
            let end = Position::from_line(self.variant, line)
                .with_context(|| format!("--cover \"{line}\""))?;
            for plies in 1..=end.moves().len() {
                let on_it = Position::new(self.variant, None, &end.moves()[..plies])?;
                if !roots.contains(&on_it) {
                    roots.push(on_it);
                }
            }
        }
        let excluded = |line: &String| {
            Position::from_line(self.variant, line).with_context(|| format!("--exclude \"{line}\""))
        };
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
            engine: if is_ours {
                Engine::NAME.into()
            } else {
                String::new()
            },
        });
        Ok(v1::StartRequest {
            name: self.name.clone().unwrap_or_else(|| {
                default_name(&roots) + &deepen.as_ref().map_or_else(String::new, suffix)
            }),
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
            margin: self
                .margin
                .or(is_one_sided.then_some(MARGIN))
                .map(Into::into),
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

/// The same for the same roots: the variant, and what remains of the roots' keys.
fn default_name(roots: &[Position]) -> String {
    let mixed = roots
        .iter()
        .fold(0_u128, |mixed, root| mixed.rotate_left(1) ^ root.key().0);
    let variant = roots
        .first()
        .map_or_else(String::new, |root| root.variant().to_string());
    format!("{variant}-{:08x}", (mixed >> 96) as u32)
}
