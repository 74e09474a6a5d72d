//! Colours of an output stream.

use std::fmt::Display;

use console::{Style, StyledObject, colors_enabled, colors_enabled_stderr};
use kagetsu_game::Score;

/// Colours for one output stream.
#[derive(Clone, Copy, Debug)]
pub struct Colours(bool);

impl Colours {
    /// Returns the colours of stdout: none where it is no terminal or `NO_COLOR` is set.
    #[must_use]
    pub fn stdout() -> Self {
        Self(colors_enabled())
    }

    /// Returns the colours of stderr, by the same rule.
    #[must_use]
    pub fn stderr() -> Self {
        Self(colors_enabled_stderr())
    }

    fn style(self) -> Style {
        Style::new().force_styling(self.0)
    }

    /// Styles secondary text.
    pub fn dim<T: Display>(self, what: T) -> StyledObject<T> {
        self.style().dim().apply_to(what)
    }

    /// Styles emphasised text.
    pub fn bold<T: Display>(self, what: T) -> StyledObject<T> {
        self.style().bold().apply_to(what)
    }

    /// Colours text by a value: wins green, losses red.
    pub fn valued<T: Display>(self, score: Score, what: T) -> StyledObject<T> {
        let style = match (score.win_plies(), score.loss_plies()) {
            (Some(_), _) => self.style().green(),
            (_, Some(_)) => self.style().red(),
            _ => self.style(),
        };
        style.apply_to(what)
    }

    /// Colours a drawn gomoku board: stones, last move, marks, and empty points.
    #[must_use]
    pub fn board(self, drawn: &str) -> String {
        const LABEL: usize = 3;
        let point = |c: char| match c {
            'X' => self.style().cyan().bold().apply_to(c).to_string(),
            'O' => self.style().yellow().bold().apply_to(c).to_string(),
            '1'..='9' => self.style().green().bold().apply_to(c).to_string(),
            '[' | ']' => self.bold(c).to_string(),
            ' ' => c.to_string(),
            _ => self.dim(c).to_string(),
        };
        let line = |line: &str| {
            let (label, points) = line.split_at_checked(LABEL).unwrap_or((line, ""));
            format!(
                "{}{}\n",
                self.dim(label),
                points.chars().map(point).collect::<String>()
            )
        };
        drawn.lines().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use console::strip_ansi_codes;
    use kagetsu_game::{Position, Variant};

    use super::*;

    #[test]
    fn colours_change_nothing_but_colours() {
        let position = Position::from_line(Variant::FREESTYLE_15, "h8 i9 j10").expect("legal");
        let marks = [("k11", '1'), ("g7", '2')]
            .map(|(m, mark)| (position.parse_move(m).expect("legal"), mark));
        let drawn = position.draw_marked(&marks);
        assert_eq!(Colours(false).board(&drawn), drawn);
        let painted = Colours(true).board(&drawn);
        assert_ne!(painted, drawn);
        assert_eq!(strip_ansi_codes(&painted), drawn);
        assert_eq!(
            Colours(false)
                .valued(Score::win_in(3), "win in 3")
                .to_string(),
            "win in 3"
        );
    }
}
