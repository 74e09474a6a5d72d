//! The arguments of `kagetsu build`, and the job that they ask for.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use kagetsu_book::{BuildSpec, Day, Deepen, JobSpec};
use kagetsu_game::{Position, Variant};
use kagetsu_proto::{Access, MAX_ROOTS};
use kagetsu_search::{Control, Engine};
use kagetsu_worker::{EngineArgs, EngineRunner};

use super::setting_arguments::SettingArguments;
use crate::arguments::query::only_variant;
use crate::commands::analysis::analyze::ENGINE_OF_A_CLUSTER;
use kagetsu_formats::openings;
use kagetsu_terminal::arguments::effort::parse_time;

/// Memory for the transposition table of a worker in this process, in MiB.
const DEFAULT_TABLE_MIB: u64 = 64;

/// Grows a book
///
/// Without --coordinator a coordinator and one worker for each core run inside this process.
/// Ctrl-C stops cleanly; the same command again goes on where it stopped, and a greater --positions
/// adds more. With --coordinator the job stays in the cluster when this command ends.
///
/// With --policy prove the build looks for a proof that --side wins the roots, and prints the
/// result for each root; `kagetsu export --format proof` writes the proof. --deepen adds nothing to
/// the book: it searches its weak positions again, those nearest to the roots first. A job ends
/// when it reaches --positions, --total-nodes or --until-stable, or when no position is left to
/// search.
///
/// Example: kagetsu build --book h8.book --variant renju-15 --moves h8 --positions 100 --depth 6
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Folder of the book; it is made if it does not exist
    #[arg(long, value_name = "DIR", required_unless_present = "coordinator")]
    pub(super) book: Option<PathBuf>,
    /// Game, as freestyle-15 [default: the book's only one]
    #[arg(long, value_name = "VARIANT")]
    pub(super) variant: Option<Variant>,
    /// Moves to a root; may be repeated [default: the start]
    #[arg(long, value_name = "LINE")]
    pub(super) moves: Vec<String>,
    /// Root as FEN (xiangqi, surakarta); may be repeated
    #[arg(long, value_name = "FEN")]
    pub(super) fen: Vec<String>,
    /// File of roots, one a line: moves, a FEN, or offsets from the centre as in Gomocup's lists;
    /// or .json
    #[arg(long, value_name = "FILE")]
    pub(super) roots: Option<PathBuf>,
    /// Takes every position on this line as a root, however bad its moves; may be repeated
    #[arg(long, value_name = "LINE", help_heading = "Advanced settings")]
    pub(super) cover: Vec<String>,
    /// Never enters the position after these moves, by whatever order of moves; may be repeated
    #[arg(long, value_name = "LINE", help_heading = "Advanced settings")]
    pub(super) exclude: Vec<String>,
    #[command(flatten)]
    pub(super) settings: SettingArguments,
    /// With --policy prove: file of hints, from `kagetsu export --format hints`. Each is a line of
    /// moves, the last of which is tried first in the position before it. A library of RenLib or
    /// SGF (.lib, .sgf) hints at its moves of --side
    #[arg(
        long,
        visible_alias = "from",
        value_name = "FILE",
        conflicts_with = "coordinator"
    )]
    pub(super) hints: Option<PathBuf>,
    /// Searches known positions again and adds none: those whose best move was searched to less
    /// than --depth, with fewer positions than --nodes, before the day --before, or by another
    /// version of this program
    #[arg(long)]
    pub(super) deepen: bool,
    /// With --deepen: searches again what was searched before this day, as 2026-11-21
    #[arg(
        long,
        requires = "deepen",
        value_name = "DATE",
        help_heading = "Advanced settings"
    )]
    pub(super) before: Option<Day>,
    /// Stops after this time, as in 30s or 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(super) time: Option<Duration>,
    /// Workers in this process, of one thread each [default: one for each core]
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "coordinator",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub(super) threads: Option<u16>,
    /// Memory for each worker's transposition table, in MiB
    #[arg(
        long,
        default_value_t = DEFAULT_TABLE_MIB,
        value_name = "MIB",
        value_parser = clap::value_parser!(u64).range(1..=1 << 20),
        help_heading = "Advanced settings"
    )]
    pub(super) table_mib: u64,
    #[command(flatten)]
    pub(super) engine: EngineArgs,
    /// Builds on the cluster of this coordinator, into its book; then --book is not used
    #[arg(long, value_name = "URL")]
    pub(super) coordinator: Option<String>,
    #[command(flatten)]
    pub(super) access: Access,
    /// Name of the job in the book [default: made of the variant and the roots]
    #[arg(long, value_name = "JOB")]
    pub(super) name: Option<String>,
    /// Prints one JSON object at the end
    #[arg(long)]
    pub(super) json: bool,
}

impl Args {
    /// Without --variant, takes the only game of the book, if there is one.
    ///
    /// # Errors
    /// If the book holds several games, or cannot be read.
    pub(super) fn choose_variant(&mut self) -> Result<()> {
        let folder = self
            .book
            .as_deref()
            .filter(|path| path.join("journal").exists());
        let folder = folder.map(|path| path.to_string_lossy().into_owned());
        if let Some(book) = self.coordinator.clone().or(folder)
            && self.variant.is_none()
        {
            let overview = kagetsu_reader::open(&book, &self.access)?.overview()?;
            self.variant = Some(only_variant(&overview, &book)?);
        }
        Ok(())
    }

    /// Returns the game.
    ///
    /// # Errors
    /// If it is not known.
    pub(super) fn variant(&self) -> Result<Variant> {
        self.variant
            .context("the game of a new book is missing: give --variant, as in freestyle-15")
    }

    /// Tries the external engine, which a job that is done already would not start.
    ///
    /// # Errors
    /// If it does not start or does not play the game.
    pub(super) fn check_engine(&self) -> Result<()> {
        if let Some(settings) = self.engine.settings(1, self.table_mib) {
            EngineRunner::external(settings, self.variant()?, &Control::new())?;
        }
        Ok(())
    }

    /// Reads the build that these arguments ask for.
    pub(super) fn request(&self) -> Result<JobSpec> {
        if self.engine.engine.is_some() && self.coordinator.is_some() {
            bail!(ENGINE_OF_A_CLUSTER);
        }
        let variant = self.variant()?;
        if self.is_own_engine() && !Engine::supports(variant) {
            bail!(
                "{variant} cannot be searched yet: only its rules are known (see `kagetsu moves`); \
                 --engine takes another program"
            );
        }
        let is_proof = self
            .settings
            .0
            .get("policy")
            .is_some_and(|policy| policy == "prove");
        if self.hints.is_some() && !is_proof {
            bail!("--hints is for --policy prove: other policies do not look for one winning move");
        }
        let roots = self.read_roots()?;
        if let Some(over) = roots.iter().find(|root| root.outcome().is_some()) {
            bail!("the game is over in the root {over}: there is nothing to search");
        }
        let excluded = |line: &String| {
            Position::from_line(variant, line).with_context(|| format!("--exclude \"{line}\""))
        };
        let exclude = self.exclude.iter().map(excluded);
        let exclude = exclude.collect::<Result<Vec<_>>>()?;
        let mut build = BuildSpec::from_json(self.settings.0.clone())?;
        if self.deepen {
            build.deepen = Some(Deepen {
                depth: build.depth,
                nodes: build.nodes,
                before: self.before,
                engine: self.is_own_engine().then(|| Engine::NAME.into()),
            });
            build.validate()?;
        }
        let name = self.name.clone();
        Ok(JobSpec {
            name: name.unwrap_or_else(|| default_name(&roots, build.deepen.as_ref())),
            variant,
            roots: roots.into(),
            exclude: exclude.into(),
            build,
        })
    }

    /// Whether the engine of this program searches.
    fn is_own_engine(&self) -> bool {
        self.engine.engine.is_none() && self.coordinator.is_none()
    }

    fn read_roots(&self) -> Result<Vec<Position>> {
        let variant = self.variant()?;
        let mut roots = Vec::new();
        for line in &self.moves {
            let root = Position::from_line(variant, line)
                .with_context(|| format!("--moves \"{line:.200}\""))?;
            roots.push(root);
        }
        for fen in &self.fen {
            let root =
                Position::from_fen(variant, fen).with_context(|| format!("--fen \"{fen}\""))?;
            roots.push(root);
        }
        if let Some(path) = &self.roots {
            roots.extend(openings::read(path, variant)?);
        }
        if roots.is_empty() {
            roots.push(Position::start(variant));
        }
        for line in &self.cover {
            let end = Position::from_line(variant, line)
                .with_context(|| format!("--cover \"{line}\""))?;
            for on_line in (1..=end.moves().len()).map(|plies| end.prefix(plies)) {
                if !roots.contains(&on_line) {
                    roots.push(on_line);
                }
            }
        }
        let count = roots.len();
        ensure!(
            count <= MAX_ROOTS,
            "{count} roots are more than {MAX_ROOTS}: start several builds"
        );
        Ok(roots)
    }
}

/// The name of a job that was given none. It is the same for the same roots: the variant, a hash of
/// the roots, and what a job that deepens asks for.
fn default_name(roots: &[Position], deepen: Option<&Deepen>) -> String {
    let mixed = roots
        .iter()
        .fold(0_u128, |mixed, root| mixed.rotate_left(1) ^ root.key().0);
    let variant = roots
        .first()
        .map_or_else(String::new, |root| root.variant().to_string());
    let name = format!("{variant}-{:08x}", (mixed >> 96) as u32);
    let Some(deepen) = deepen else { return name };
    let parts = [
        Some("-deepen".to_string()),
        deepen.depth.map(|depth| format!("-depth-{depth}")),
        deepen.nodes.map(|nodes| format!("-nodes-{nodes}")),
        deepen.before.map(|day| format!("-before-{day}")),
    ];
    name + &parts.into_iter().flatten().collect::<String>()
}
