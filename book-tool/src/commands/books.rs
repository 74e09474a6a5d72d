use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use kagetsu_api::{ArchiveFileJson, ArchiveJson};
use kagetsu_compiled::{Compiled, apply_delta};
use kagetsu_coordinator::Archive;
use kagetsu_files::{Readers, books_folder, installed_books, replace_file};
use kagetsu_program::{Exit, download};
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;

use crate::commands::maintenance::check::check_signature;
use crate::output::OutputArgs;

/// Installs compiled books by name, lists them and keeps them current
///
/// The books come from an archive: a folder, the URL of a coordinator's or book server's archive
/// (https://HOST:7616/api/v1/archive), or the URL of a file beside the books that holds what such a
/// server answers. Every command takes the name of an installed book for --book, and engines play
/// from all of them. They lie in ~/.local/share/kagetsu/books (%LOCALAPPDATA%\kagetsu\books), or
/// where KAGETSU_BOOKS says.
///
/// Example: kagetsu books get swap2-freestyle-15 --from books
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Lists the installed books, or with --from those of an archive
    ///
    /// Example: kagetsu books list --from books
    List {
        /// A folder or URL of books
        #[arg(long, value_name = "DIR|URL")]
        from: Option<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Installs books of an archive, and brings installed ones up to date
    ///
    /// A delta of the archive is taken where it fits the installed book.
    ///
    /// Example: kagetsu books get swap2-freestyle-15 --from books
    #[command(visible_alias = "update")]
    Get {
        /// The books [default: all that are installed and that the archive has]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        archive: ArchiveArgs,
    },
}

/// An archive, and the key of its books.
#[derive(Debug, clap::Args)]
struct ArchiveArgs {
    /// A folder or URL of books
    #[arg(long, value_name = "DIR|URL")]
    from: String,
    /// The public key of minisign that each book must be signed by, or its file; a folder needs
    /// none
    #[arg(long, value_name = "KEY|FILE")]
    public_key: Option<String>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let folder = books_folder().context("books have no folder here; name one as KAGETSU_BOOKS")?;
    match &args.action {
        Action::List { from, output } => list(from.as_deref(), &folder, output.json, out),
        Action::Get { names, archive } => archive.install(names, &folder, out),
    }
}

fn is_url(place: &str) -> bool {
    place.contains("://")
}

fn file_name(path: PathBuf) -> Option<String> {
    Some(path.file_name()?.to_str()?.into())
}

/// Returns what an archive offers.
fn files(place: &str) -> Result<ArchiveJson> {
    if is_url(place) {
        let answer = download(place)?;
        return serde_json::from_slice(&answer).with_context(|| {
            format!("{place} is no archive; a server has one at https://HOST:PORT/api/v1/archive")
        });
    }
    let path = Path::new(place);
    Archive::new(path.into())
        .manifest()
        .with_context(|| format!("cannot read the books in {}", path.display()))
}

/// Returns the description of a file in a folder; `None` where there is no such file.
fn held(folder: &Path, file: &str) -> Result<Option<ArchiveFileJson>> {
    if !folder.join(file).is_file() {
        return Ok(None);
    }
    let files = files(&folder.to_string_lossy())?.files;
    Ok(files.into_iter().find(|held| held.name == file))
}

fn list(from: Option<&str>, folder: &Path, json: bool, out: &mut dyn Write) -> Result<Exit> {
    let listed = match from {
        Some(place) => files(place)?,
        None if folder.is_dir() => files(&folder.to_string_lossy())?,
        None => ArchiveJson { files: Vec::new() },
    };
    if json {
        write_json(out, &listed)?;
        return Ok(Exit::Done);
    }
    if listed.files.is_empty() {
        let hint = "no book is here; `kagetsu books get NAME --from PLACE` installs one";
        writeln!(io::stderr(), "kagetsu: {hint}")?;
        return Ok(Exit::No);
    }
    let rows = listed.files.iter().filter_map(|file| {
        let (name, positions) = (file.name.strip_suffix(".kbk")?, file.positions?);
        let (games, bytes) = (file.games.join(", "), file.bytes.to_string());
        Some([name.into(), games, positions.to_string(), bytes])
    });
    let heads = ["book", "games", "positions", "bytes"];
    table::write(out, &heads, &[2, 3], rows)?;
    Ok(Exit::Done)
}

impl ArchiveArgs {
    /// Installs the books that are not installed in the archive's version.
    fn install(&self, names: &[String], folder: &Path, out: &mut dyn Write) -> Result<Exit> {
        ensure!(
            self.public_key.is_some() || !is_url(&self.from),
            "a book from a URL needs --public-key, the key that signs the archive's books"
        );
        let offered = files(&self.from)?.files;
        let named: Vec<String> = match names {
            [] => installed_books()
                .into_iter()
                .filter_map(file_name)
                .collect(),
            _ => names.iter().map(|name| format!("{name}.kbk")).collect(),
        };
        let has: Vec<&str> = offered.iter().map(|offer| &*offer.name).collect();
        let has = match &has[..] {
            [] => format!("{} has no book, NAME.kbk", self.from),
            _ => format!("{} has {}", self.from, has.join(", ")),
        };
        ensure!(!named.is_empty(), "no book is installed; name one: {has}");
        for file in named {
            match offered.iter().find(|offer| offer.name == file) {
                Some(wanted) => {
                    let way = self.bring(wanted, folder)?;
                    let (positions, bytes) = (wanted.positions.unwrap_or_default(), wanted.bytes);
                    writeln!(out, "{file}: {positions} positions, {bytes} bytes, {way}")?;
                }
                // An installed book may be of another archive.
                None if names.is_empty() => {}
                None => bail!("there is no {file}; {has}"),
            }
        }
        Ok(Exit::Done)
    }

    /// Installs a book, unless it is installed in this version. Returns how.
    fn bring(&self, wanted: &ArchiveFileJson, folder: &Path) -> Result<&'static str> {
        let file = &*wanted.name;
        let old = held(folder, file)?;
        if old.as_ref().is_some_and(|old| old.sha256 == wanted.sha256) {
            return Ok("current");
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let work = tempfile::tempdir_in(folder)
            .with_context(|| format!("cannot write into {}", folder.display()))?;
        let way = if old.is_some() && self.patch(&folder.join(file), work.path(), wanted)? {
            "by a delta"
        } else {
            self.copy(file, work.path())?;
            "whole"
        };
        let made = held(work.path(), file)?;
        ensure!(
            made.is_some_and(|made| made.sha256 == wanted.sha256 && made.positions.is_some()),
            "{file} of {} is damaged, or no book; try again later",
            self.from
        );
        let new = work.path().join(file);
        if let Some(key) = &self.public_key {
            self.copy(&format!("{file}.minisig"), work.path())?;
            check_signature(&new, key)?;
        }
        // An engine may read the installed book.
        let install = |out: &mut dyn Write| io::copy(&mut File::open(&new)?, out);
        replace_file(&folder.join(file), Readers::Usual, install)
            .with_context(|| format!("cannot replace the installed {file}"))?;
        Ok(way)
    }

    /// Makes the wanted version of an installed book by the archive's delta. Returns whether there
    /// is one that fits: it may belong to an older version than the installed one.
    fn patch(&self, old: &Path, folder: &Path, wanted: &ArchiveFileJson) -> Result<bool> {
        let delta = self.copy(&format!("{}.delta", wanted.name), folder);
        let (Ok(delta), Ok(old)) = (delta, Compiled::open(old)) else {
            return Ok(false);
        };
        if apply_delta(&old, &delta, &folder.join(&wanted.name)).is_err() {
            return Ok(false);
        }
        let made = held(folder, &wanted.name)?;
        Ok(made.is_some_and(|made| made.sha256 == wanted.sha256))
    }

    /// Copies a file of the archive into a folder.
    fn copy(&self, file: &str, folder: &Path) -> Result<PathBuf> {
        let bytes = match is_url(&self.from) {
            true => {
                let place = self.from.trim_end_matches('/');
                let beside = place.strip_suffix(".json").and(place.rsplit_once('/'));
                let base = beside.map_or(place, |(base, _)| base);
                download(&format!("{base}/{file}"))?
            }
            false => fs::read(Path::new(&self.from).join(file))
                .with_context(|| format!("cannot read {file} in {}", self.from))?,
        };
        let path = folder.join(file);
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}
