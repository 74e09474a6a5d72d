use kagetsu_game::{Move, Outcome, Position, Side};

/// The result of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GameResult {
    /// A side won.
    Won(Side),
    /// Neither side won.
    Drawn,
    /// The result is not known.
    #[default]
    Unknown,
}

impl GameResult {
    /// Returns the result of a position by the rules.
    #[must_use]
    pub fn of(position: &Position) -> Self {
        match position.outcome() {
            Some(Outcome::Win(side)) => Self::Won(side),
            Some(Outcome::Draw) => Self::Drawn,
            None => Self::Unknown,
        }
    }

    /// All results by their codes in a file of games, with their texts as PGN writes them.
    const CODES: [(Self, &'static str); 4] = [
        (Self::Unknown, "*"),
        (Self::Won(Side::First), "1-0"),
        (Self::Drawn, "1/2-1/2"),
        (Self::Won(Side::Second), "0-1"),
    ];

    pub(crate) fn code(self) -> i64 {
        let code = Self::CODES.iter().position(|(known, _)| *known == self);
        code.unwrap_or(0) as i64
    }

    pub(crate) fn of_code(code: i64) -> Self {
        let known = usize::try_from(code)
            .ok()
            .and_then(|at| Self::CODES.get(at));
        known.map_or(Self::Unknown, |known| known.0)
    }

    /// Returns the result as PGN writes it.
    #[must_use]
    pub fn text(self) -> &'static str {
        Self::CODES[self.code() as usize].1
    }

    /// Reads a result as PGN writes it; any other text is no result.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let known = Self::CODES.iter().find(|(_, known)| *known == text);
        known.map_or(Self::Unknown, |known| known.0)
    }
}

/// The facts that a file gives about a game; empty where it gives none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameTags {
    /// The player of the first side.
    pub first: String,
    /// The player of the second side.
    pub second: String,
    /// The tournament or match.
    pub event: String,
    /// The day as the file writes it, with `-` between year, month and day where it is numeric.
    pub date: String,
    /// The round of the event.
    pub round: String,
    /// The file that the game comes from.
    pub source: String,
}

impl GameTags {
    /// Whether the file names a player, an event or a date.
    #[must_use]
    pub fn is_named(&self) -> bool {
        [&self.first, &self.second, &self.event, &self.date]
            .iter()
            .any(|text| !text.is_empty())
    }

    /// Writes a numeric date as `1997-11-16`, so that dates compare as texts.
    #[must_use]
    pub fn date_of(text: &str) -> String {
        let plain = text.trim().replace(['年', '月'], "-").replace('日', "");
        let is_numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '/' | '?');
        if !plain.chars().all(is_numeric) {
            return text.trim().into();
        }
        let text = plain.trim_end_matches('-');
        if text.is_empty() {
            return String::new();
        }
        let parts: Vec<&str> = text.split(['.', '-', '/']).collect();
        let known = parts.iter().take_while(|part| !part.contains('?'));
        let known: Vec<String> = known.map(|part| format!("{part:0>2}")).collect();
        known.join("-")
    }
}

/// A game that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The last position, with all moves from the first one, as far as the rules let a game go on.
    pub played: Position,
    /// The moves behind the end of the game by the rules: some go on after a third repetition.
    pub tail: Vec<Move>,
    /// The result.
    pub result: GameResult,
    /// Its players, event and date.
    pub tags: GameTags,
}

impl GameRecord {
    /// Returns a game with its moves, up to the first one that cannot be made even without the
    /// moves before it.
    #[must_use]
    pub fn new(start: &Position, moves: &[Move], result: GameResult, tags: GameTags) -> Self {
        let (mut played, mut at) = (start.clone(), 0);
        while let Some(next) = moves.get(at).and_then(|m| played.play(*m).ok()) {
            (played, at) = (next, at + 1);
        }
        let (mut last, mut tail) = (played.clone(), Vec::new());
        for m in &moves[at..] {
            let Some(next) = after(&last, *m) else { break };
            last = next;
            tail.push(*m);
        }
        Self {
            played,
            tail,
            result,
            tags,
        }
    }

    /// Returns all moves.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        [self.played.moves(), &self.tail].concat()
    }

    /// Returns the positions of the game, the first one first.
    #[must_use]
    pub fn positions(&self) -> Vec<Position> {
        let mut positions: Vec<_> = self.played.prefixes().rev().collect();
        positions.push(self.played.clone());
        for m in &self.tail {
            let Some(next) = positions.last().and_then(|last| after(last, *m)) else {
                break;
            };
            positions.push(next);
        }
        positions
    }
}

/// Returns the position after a move, even if the game was over by repetition and went on.
#[must_use]
pub fn after(position: &Position, m: Move) -> Option<Position> {
    let made = position.play(m).ok();
    made.or_else(|| without_history(position)?.play(m).ok())
}

/// Reads a legal move, even if the game was over by repetition.
#[must_use]
pub fn read_move(position: &Position, text: &str) -> Option<Move> {
    let read = position.parse_move(text).ok();
    read.or_else(|| without_history(position)?.parse_move(text).ok())
}

/// Returns the position without its history and its count of quiet plies, if it has a FEN.
#[must_use]
pub fn without_history(position: &Position) -> Option<Position> {
    let fen = position.fen().ok()?;
    let board: Vec<&str> = fen.split(' ').take(2).collect();
    Position::from_fen(position.variant(), &board.join(" ")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_dates_compare_as_texts() {
        for (written, read) in [
            ("1997.11.16", "1997-11-16"),
            ("1997.3.6", "1997-03-06"),
            ("1997/03/06", "1997-03-06"),
            ("1997.??.??", "1997"),
            ("????.??.??", ""),
            ("1997年11月6日", "1997-11-06"),
            ("1997年", "1997"),
            ("20世纪30年代", "20世纪30年代"),
            ("", ""),
        ] {
            assert_eq!(GameTags::date_of(written), read);
        }
    }
}
