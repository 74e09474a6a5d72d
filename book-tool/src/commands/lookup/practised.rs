//! The positions that a user has answered in practice, and the day when each comes again: the file
//! that the page saves and reads, too.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kagetsu_api::read_position;
use kagetsu_book::Day;
use kagetsu_files::{Readers, replace_file, user_folder};
use kagetsu_game::{Position, Variant};
use serde::{Deserialize, Serialize};

/// Days until a position is due again, after so many right answers in a row.
const PAUSE_DAYS: [u32; 6] = [1, 3, 7, 16, 35, 90];

/// A position that the user has answered.
#[derive(Debug, Deserialize, Serialize)]
struct PractisedPosition {
    variant: String,
    fen: String,
    moves: String,
    side: String,
    /// Right answers in a row.
    row: usize,
    /// The day when it comes again.
    due: u32,
}

/// The positions that the user has answered, by their keys.
#[derive(Debug)]
pub(super) struct PractisedFile {
    path: PathBuf,
    positions: BTreeMap<String, PractisedPosition>,
}

impl PractisedFile {
    /// Reads the file, by default `kagetsu/practice.json` in the folder of the user's data; without
    /// one it is empty.
    ///
    /// # Errors
    /// If the file is damaged, or the user has no such folder.
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        let usual = || Some(user_folder("XDG_DATA_HOME", ".local/share")?.join("practice.json"));
        let path = path.map(Path::to_path_buf).or_else(usual);
        let path = path.context("this user has no home folder: name a file by --file")?;
        let name = || format!("cannot read {}; name another --file", path.display());
        let positions = match path.exists() {
            true => serde_json::from_str(&kagetsu_files::read_text(&path).with_context(name)?),
            false => Ok(BTreeMap::new()),
        };
        let positions = positions.with_context(name)?;
        Ok(Self { path, positions })
    }

    /// Keeps how the user has answered in a position.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn record(&mut self, at: &Position, is_right: bool) -> Result<()> {
        let key = at.key().to_string();
        let row = self.positions.get(&key).map_or(0, |known| known.row);
        let row = if is_right { row + 1 } else { 0 };
        let fen = at.fen().unwrap_or_default();
        let line = at.line().filter(|_| fen.is_empty()).unwrap_or_default();
        let names: Vec<String> = line.iter().map(|&m| at.write_move(m)).collect();
        let pause = PAUSE_DAYS[row.clamp(1, PAUSE_DAYS.len()) - 1];
        let position = PractisedPosition {
            variant: at.variant().to_string(),
            fen,
            moves: names.join(" "),
            side: at.side().to_string(),
            row,
            due: Day::today().0 + pause,
        };
        self.positions.insert(key, position);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(folder).and_then(|()| {
            replace_file(&self.path, Readers::Usual, |out: &mut dyn Write| {
                serde_json::to_writer(out, &self.positions).map_err(std::io::Error::from)
            })
        });
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Returns the positions of a game that are due, the latest first.
    pub(super) fn due(&self, variant: Variant) -> Vec<Position> {
        let name = variant.to_string();
        let known = self.positions.values();
        let mut due: Vec<_> = known
            .filter(|known| known.variant == name && known.due <= Day::today().0)
            .collect();
        due.sort_by_key(|known| std::cmp::Reverse(known.due));
        let position =
            |known: &&PractisedPosition| read_position(&name, Some(&known.fen), &known.moves).ok();
        due.iter().filter_map(position).collect()
    }
}
