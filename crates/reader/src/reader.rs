use anyhow::{Result, bail};
use kagetsu_api::StatisticsJson;
use kagetsu_book::{Book, CheckReport, Nearest, Overview};
use kagetsu_game::{Answer, Position};
use kagetsu_games::{FoundGames, GameFilter};

/// The most earlier positions of a line that are looked up for a message.
const MAX_PREFIXES: usize = 64;

/// A book that a command reads. No method changes the book.
///
/// Every method fails if the book is damaged, or its server cannot be reached.
pub trait BookReader: Send {
    /// Looks up a position: its answer with the values from the positions behind the moves.
    ///
    /// # Errors
    /// See [`BookReader`].
    fn lookup(&mut self, position: &Position) -> Result<Option<Answer>>;

    /// Looks up a position: its answer as it was searched.
    ///
    /// # Errors
    /// See [`BookReader`]; or if the book does not keep these values.
    fn lookup_searched(&mut self, position: &Position) -> Result<Option<Answer>>;

    /// Returns the variants and roots of the book.
    ///
    /// # Errors
    /// See [`BookReader`].
    fn overview(&mut self) -> Result<Overview>;

    /// Counts the positions, and how well they are searched.
    ///
    /// # Errors
    /// See [`BookReader`].
    fn statistics(&mut self) -> Result<StatisticsJson>;

    /// Returns the size on disk, in bytes; `None` for a book on a server.
    ///
    /// # Errors
    /// See [`BookReader`].
    fn bytes(&self) -> Result<Option<u64>>;

    /// Returns the number of positions, if it is known without reading all of them.
    fn positions(&self) -> Option<u64>;

    /// Checks the integrity of the book. `progress` gets the number of checked positions.
    ///
    /// # Errors
    /// See [`BookReader`]; or if the book is not on this machine.
    fn check(&mut self, progress: &mut dyn FnMut(u64)) -> Result<CheckReport>;

    /// Returns the whole contents: every position with its moves as they were searched. The book
    /// of a server is copied for this; `progress` gets the number of positions copied so far.
    ///
    /// # Errors
    /// See [`BookReader`]; or if the book does not keep its positions.
    fn contents(&mut self, progress: &mut dyn FnMut(u64)) -> Result<&Book>;

    /// Returns the imported games that passed a position, with the first `top` of them listed.
    ///
    /// # Errors
    /// See [`BookReader`]; or if such a book has no games.
    fn games(&mut self, _: &Position, _: &GameFilter, _top: u32) -> Result<FoundGames> {
        bail!(
            "only a book folder and its server have games, and this book holds positions alone: \
             give the folder into which the games were imported"
        )
    }
}

/// Returns the message about a position that the book does not hold. It names the nearest part that
/// the book holds.
///
/// # Errors
/// See [`BookReader`].
pub fn not_held(reader: &mut dyn BookReader, position: &Position) -> Result<String> {
    let mut line = None;
    for before in Nearest::prefixes(position, MAX_PREFIXES) {
        if reader.lookup(&before)?.is_some() {
            line = Some(before);
            break;
        }
    }
    let overview = reader.overview()?;
    Ok(overview.nearest(position, line).message(position))
}
