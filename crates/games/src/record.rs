use kagetsu_game::{Outcome, Position, Side};

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

    /// Returns the result as PGN writes it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Won(Side::First) => "1-0",
            Self::Won(Side::Second) => "0-1",
            Self::Drawn => "1/2-1/2",
            Self::Unknown => "*",
        }
    }

    /// Reads a result as PGN writes it; any other text is no result.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        match text {
            "1-0" => Self::Won(Side::First),
            "0-1" => Self::Won(Side::Second),
            "1/2-1/2" => Self::Drawn,
            _ => Self::Unknown,
        }
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
    /// The last position, with all moves from the first one.
    pub played: Position,
    /// The result.
    pub result: GameResult,
    /// Its players, event and date.
    pub tags: GameTags,
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
