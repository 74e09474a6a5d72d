use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use kagetsu_game::{Key, Move, Packed, Position, Variant};
use rusqlite::{Connection, OpenFlags, Row, params};

use crate::found::{FoundGame, FoundGames, GameFilter, MoveScore};
use crate::record::{GameRecord, GameResult, GameTags, without_history};

/// The file of the games in a book's folder.
const FILE: &str = "games.sqlite";
/// The version of the tables below.
const SCHEMA_VERSION: i64 = 1;
const SCHEMA: &str = "
    CREATE TABLE game (
        id INTEGER PRIMARY KEY,
        variant INTEGER NOT NULL,
        setup BLOB NOT NULL,
        moves BLOB NOT NULL,
        result INTEGER NOT NULL,
        first TEXT NOT NULL,
        second TEXT NOT NULL,
        event TEXT NOT NULL,
        date TEXT NOT NULL,
        round TEXT NOT NULL,
        source TEXT NOT NULL,
        UNIQUE (variant, setup, moves, first, second, event, date, round)
    );
    CREATE TABLE step (
        key BLOB NOT NULL,
        game INTEGER NOT NULL,
        ply INTEGER NOT NULL,
        next BLOB NOT NULL,
        PRIMARY KEY (key, game, ply)
    ) WITHOUT ROWID;
";
/// The games through a position that pass a filter; `?1` to `?5` are the key, the variant, the
/// player, the event and the result.
const PASSING: &str = "
    FROM step JOIN game ON game.id = step.game
    WHERE step.key = ?1 AND game.variant = ?2
        AND (?3 = '' OR instr(lower(game.first), ?3) > 0 OR instr(lower(game.second), ?3) > 0)
        AND (?4 = '' OR instr(lower(game.event), ?4) > 0)
        AND (?5 < 0 OR game.result = ?5)";

/// For the key of each position the keys behind its moves, with the numbers of games without a
/// known result, won by the first side, drawn, and won by the second.
pub type KeyedResults = BTreeMap<u128, Vec<(u128, [u32; 4])>>;

/// An error of the games of a book.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GameStoreError {
    /// The file cannot be read or written.
    #[error("the games {}: {}", .0.display(), .1)]
    File(PathBuf, #[source] rusqlite::Error),
    /// The file is of another version of the program.
    #[error("the games {} have format {}; this program reads {SCHEMA_VERSION}", .0.display(), .1)]
    Version(PathBuf, i64),
}

/// The games of a book.
///
/// ```
/// use kagetsu_game::{Position, Variant};
/// use kagetsu_games::{GameFilter, GameRecord, GameResult, GameStore, GameTags};
/// let folder = tempfile::tempdir()?;
/// let mut store = GameStore::create(folder.path())?;
/// let played = Position::from_line(Variant::FREESTYLE_15, "h8 i9 h9")?;
/// let tags = GameTags { first: "Sakata".into(), ..GameTags::default() };
/// let start = Position::start(Variant::FREESTYLE_15);
/// store.add(&[GameRecord::new(&start, played.moves(), GameResult::Unknown, tags)])?;
/// let found = store.find(&Position::start(Variant::FREESTYLE_15), &GameFilter::default(), 10)?;
/// assert_eq!((found.games, found.moves.len()), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GameStore {
    path: PathBuf,
    connection: Connection,
}

impl GameStore {
    /// Opens the games of a book to add some; makes the file if there is none.
    ///
    /// # Errors
    /// If the file cannot be read or written, or has another format.
    pub fn create(folder: &Path) -> Result<Self, GameStoreError> {
        let path = folder.join(FILE);
        let is_new = !path.exists();
        let connection = Connection::open(&path).map_err(failed(&path))?;
        let store = Self { path, connection };
        if is_new {
            let sql = format!("BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;");
            store
                .connection
                .execute_batch(&sql)
                .map_err(store.failed())?;
        }
        store.checked()
    }

    /// Opens the games of a book to read them; `None` if it has none.
    ///
    /// # Errors
    /// If the file cannot be read, or has another format.
    pub fn open(folder: &Path) -> Result<Option<Self>, GameStoreError> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(failed(&path))?;
        Self { path, connection }.checked().map(Some)
    }

    fn checked(self) -> Result<Self, GameStoreError> {
        let found = self
            .connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(self.failed())?;
        if found != SCHEMA_VERSION {
            return Err(GameStoreError::Version(self.path, found));
        }
        Ok(self)
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> GameStoreError + use<> {
        failed(&self.path)
    }

    /// Returns the number of games.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn count(&self) -> Result<u64, GameStoreError> {
        let count = self
            .connection
            .query_row("SELECT count(*) FROM game", [], |row| row.get::<_, i64>(0));
        Ok(count.map_err(self.failed())?.unsigned_abs())
    }

    /// Adds games, all or none of them. A game that is there already changes nothing. Returns the
    /// number of new games.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, games: &[GameRecord]) -> Result<u64, GameStoreError> {
        let failed = self.failed();
        self.add_all(games).map_err(failed)
    }

    fn add_all(&mut self, games: &[GameRecord]) -> rusqlite::Result<u64> {
        const GAME: &str = "INSERT OR IGNORE INTO game (variant, setup, moves, result, first, \
                            second, event, date, round, source) \
                            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        const STEP: &str =
            "INSERT OR IGNORE INTO step (key, game, ply, next) VALUES (?1, ?2, ?3, ?4)";
        let transaction = self.connection.transaction()?;
        let mut new = 0;
        {
            let mut insert_game = transaction.prepare(GAME)?;
            let mut insert_step = transaction.prepare(STEP)?;
            for game in games {
                let GameRecord {
                    played,
                    result,
                    tags,
                    ..
                } = game;
                let setup = played.setup().map_or(&[][..], |packed| &packed.0);
                let moves = game.moves();
                let moves: Vec<u8> = moves.iter().flat_map(|m| m.code().to_le_bytes()).collect();
                let added = insert_game.execute(params![
                    played.variant().code(),
                    setup,
                    moves,
                    result.code(),
                    tags.first,
                    tags.second,
                    tags.event,
                    tags.date,
                    tags.round,
                    tags.source
                ])?;
                if added == 0 {
                    continue;
                }
                new += 1;
                let id = transaction.last_insert_rowid();
                let positions = game.positions();
                let keys: Vec<Key> = positions.iter().map(Position::key).collect();
                let mut passed = HashSet::new();
                for (ply, pair) in keys.windows(2).enumerate() {
                    let [key, next] = [pair[0], pair[1]].map(|key| key.0.to_be_bytes());
                    // A game counts once in a position, however often it comes back to it.
                    if passed.insert(key) {
                        insert_step.execute(params![key, id, ply as i64, next])?;
                    }
                }
            }
        }
        transaction.commit()?;
        Ok(new)
    }

    /// Returns the games that passed a position and pass the filter, with the first `most` of them
    /// listed.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn find(
        &self,
        position: &Position,
        filter: &GameFilter,
        most: u32,
    ) -> Result<FoundGames, GameStoreError> {
        self.find_all(position, filter, most).map_err(self.failed())
    }

    fn find_all(
        &self,
        position: &Position,
        filter: &GameFilter,
        most: u32,
    ) -> rusqlite::Result<FoundGames> {
        let key = position.key().0.to_be_bytes();
        let (player, event) = (
            filter.player.to_ascii_lowercase(),
            filter.event.to_ascii_lowercase(),
        );
        let result = filter.result.map_or(-1, GameResult::code);
        let variant = position.variant().code();
        let sql = format!(
            "SELECT step.next, game.result, substr(game.moves, 2 * step.ply + 1, 2), count(*) \
             {PASSING} GROUP BY 1, 2, 3"
        );
        let mut counting = self.connection.prepare(&sql)?;
        let mut rows = counting.query(params![key, variant, player, event, result])?;
        let mut by_next: BTreeMap<[u8; 16], [u64; 4]> = BTreeMap::new();
        let mut made: BTreeMap<u16, u64> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let (next, result): ([u8; 16], i64) = (row.get(0)?, row.get(1)?);
            let games = row.get::<_, i64>(3)?.unsigned_abs();
            by_next.entry(next).or_default()[result.clamp(0, 3) as usize] += games;
            *made.entry(u16::from_le_bytes(row.get(2)?)).or_default() += games;
        }
        let games = by_next.values().flatten().sum();
        let sql = format!(
            "SELECT game.variant, game.setup, game.moves, game.result, game.first, game.second, \
             game.event, game.date, game.round, game.source, step.ply {PASSING} \
             ORDER BY game.date DESC, game.id LIMIT ?6"
        );
        let mut listing = self.connection.prepare(&sql)?;
        let listed = listing.query_map(
            params![key, variant, player, event, result, most],
            found_game,
        )?;
        let played: Vec<_> = listed.collect::<rusqlite::Result<_>>()?;
        let played: Vec<FoundGame> = played.into_iter().flatten().collect();
        Ok(FoundGames {
            games,
            moves: scores(position, &mut by_next, &made),
            played,
        })
    }

    /// Returns the numbers of games that passed a position, for each position behind it, by the
    /// codes of their results: unknown, won by the first side, drawn, won by the second. A game
    /// counts once; with a half-life in years it counts half as much for each such time that it is
    /// older than the newest of these games, and a game without a year as much as the oldest.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn results(
        &self,
        position: &Position,
        half_life: Option<f64>,
    ) -> Result<Vec<(Key, [f64; 4])>, GameStoreError> {
        const SQL: &str = "
            SELECT step.next, game.result, CAST(substr(game.date, 1, 4) AS INTEGER), count(*)
            FROM step JOIN game ON game.id = step.game
            WHERE step.key = ?1 AND game.variant = ?2 GROUP BY 1, 2, 3";
        let read = || {
            let mut counting = self.connection.prepare_cached(SQL)?;
            let key = position.key().0.to_be_bytes();
            let rows = counting.query_map(params![key, position.variant().code()], |row| {
                let next: [u8; 16] = row.get(0)?;
                let numbers: [i64; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
                Ok((Key(u128::from_be_bytes(next)), numbers))
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        let rows = read().map_err(self.failed())?;
        let years = || {
            rows.iter()
                .map(|(_, [_, year, _])| *year)
                .filter(|year| *year > 0)
        };
        let (newest, oldest) = (years().max().unwrap_or(0), years().min().unwrap_or(0));
        let mut results: Vec<(Key, [f64; 4])> = Vec::new();
        for (next, [result, year, games]) in rows {
            let year = if year > 0 { year } else { oldest };
            let age = (newest - year) as f64;
            let weight = half_life.map_or(1.0, |years| 0.5_f64.powf(age / years));
            let at = results.iter().position(|(known, _)| *known == next);
            let at = at.unwrap_or_else(|| {
                results.push((next, [0.0; 4]));
                results.len() - 1
            });
            let code = GameResult::of_code(result).code();
            results[at].1[code as usize] += weight * games as f64;
        }
        Ok(results)
    }

    /// Returns the results of all games.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn all_results(&self) -> Result<KeyedResults, GameStoreError> {
        const SQL: &str = "
            SELECT step.key, step.next, sum(result = 0), sum(result = 1), sum(result = 2),
                sum(result = 3)
            FROM step JOIN game ON game.id = step.game GROUP BY 1, 2";
        let read = || {
            let mut counting = self.connection.prepare(SQL)?;
            let mut rows = counting.query([])?;
            let mut all = KeyedResults::new();
            while let Some(row) = rows.next()? {
                let [key, next] =
                    [row.get::<_, [u8; 16]>(0)?, row.get(1)?].map(u128::from_be_bytes);
                let counts = [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
                all.entry(key).or_default().push((next, counts));
            }
            rusqlite::Result::Ok(all)
        };
        read().map_err(self.failed())
    }

    /// Adds the games of one folder to those of another, which gets a file if it has none. Returns
    /// the number of new games.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn bring(from: &Path, into: &Path) -> Result<u64, GameStoreError> {
        let Some(source) = Self::open(from)? else {
            return Ok(0);
        };
        let mut target = Self::create(into)?;
        let mut new = 0;
        source.for_each(|games| {
            new += target.add(games)?;
            Ok::<_, GameStoreError>(())
        })?;
        Ok(new)
    }

    /// Calls `take` with all games, some hundred at a time.
    ///
    /// # Errors
    /// If the file cannot be read, or the first error of `take`.
    pub fn for_each<E: From<GameStoreError>>(
        &self,
        mut take: impl FnMut(&[GameRecord]) -> Result<(), E>,
    ) -> Result<(), E> {
        const PART: i64 = 500;
        const SQL: &str = "SELECT variant, setup, moves, result, first, second, event, date, \
                           round, source, id FROM game WHERE id > ?1 ORDER BY id LIMIT ?2";
        let mut last = 0_i64;
        loop {
            let read = || {
                let mut listing = self.connection.prepare(SQL)?;
                let rows = listing.query_map(params![last, PART], |row| {
                    Ok((row.get::<_, i64>(10)?, record(row)?))
                })?;
                rows.collect::<rusqlite::Result<Vec<_>>>()
            };
            let part = read().map_err(self.failed())?;
            let Some((id, _)) = part.last() else {
                return Ok(());
            };
            last = *id;
            let games: Vec<GameRecord> = part.into_iter().filter_map(|(_, game)| game).collect();
            take(&games)?;
        }
    }
}

fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> GameStoreError + use<> {
    let path = path.to_path_buf();
    move |error| GameStoreError::File(path.clone(), error)
}

/// Gives the moves of a position their scores, which are known by the key of the position behind.
/// Among moves that are equal by symmetry, the one that most of the games made stands for all.
fn scores(
    position: &Position,
    by_next: &mut BTreeMap<[u8; 16], [u64; 4]>,
    made: &BTreeMap<u16, u64>,
) -> Vec<MoveScore> {
    let bare = without_history(position);
    let position = bare.as_ref().unwrap_or(position);
    let mut moves = position.legal_moves();
    moves.sort_by_cached_key(|m| std::cmp::Reverse(made.get(&m.code())));
    let mut scores = Vec::new();
    for m in moves {
        if by_next.is_empty() {
            break;
        }
        let Ok(after) = position.play(m) else {
            continue;
        };
        let Some(counts) = by_next.remove(&after.key().0.to_be_bytes()) else {
            continue;
        };
        let [_, first_wins, draws, second_wins] = counts;
        scores.push(MoveScore {
            at: m,
            games: counts.iter().sum(),
            first_wins,
            draws,
            second_wins,
        });
    }
    scores.sort_by_key(|score| (std::cmp::Reverse(score.games), score.at.code()));
    scores
}

fn found_game(row: &Row<'_>) -> rusqlite::Result<Option<FoundGame>> {
    let ply = row.get::<_, i64>(10)?.unsigned_abs() as usize;
    Ok(record(row)?.map(|game| FoundGame { game, ply }))
}

/// Reads a game; `None` if the rules do not allow it.
fn record(row: &Row<'_>) -> rusqlite::Result<Option<GameRecord>> {
    let (variant, setup, moves): (u32, Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let tags = GameTags {
        first: row.get(4)?,
        second: row.get(5)?,
        event: row.get(6)?,
        date: row.get(7)?,
        round: row.get(8)?,
        source: row.get(9)?,
    };
    let setup = Some(setup).filter(|setup| !setup.is_empty()).map(Packed);
    let moves: Vec<Move> = moves
        .chunks_exact(2)
        .map(|pair| Move::new(u16::from_le_bytes([pair[0], pair[1]])))
        .collect();
    let result = GameResult::of_code(row.get(3)?);
    let variant = Variant::from_code(variant).ok();
    let start = variant.and_then(|variant| Position::new(variant, setup, &[]).ok());
    let game = start.map(|start| GameRecord::new(&start, &moves, result, tags));
    Ok(game.filter(|game| game.moves().len() == moves.len()))
}

#[cfg(test)]
mod tests;
