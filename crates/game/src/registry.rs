use crate::{Game, Move, Symmetry, Variant};

/// Runs `$body` with `$G` naming the [`Game`](crate::Game) type that plays `$variant`. The one place where a run-time
/// variant becomes a type.
#[macro_export]
macro_rules! with_game {
    ($variant:expr, $G:ident => $body:expr) => {
        match $variant {
            $crate::Variant::Gomoku {
                rule: $crate::RuleName::Freestyle,
                ..
            } => {
                type $G = $crate::gomoku::Gomoku<$crate::gomoku::Freestyle>;
                $body
            }
            $crate::Variant::Gomoku {
                rule: $crate::RuleName::Standard,
                ..
            } => {
                type $G = $crate::gomoku::Gomoku<$crate::gomoku::Standard>;
                $body
            }
            $crate::Variant::Gomoku {
                rule: $crate::RuleName::Renju,
                ..
            } => {
                type $G = $crate::gomoku::Gomoku<$crate::gomoku::Renju>;
                $body
            }
            $crate::Variant::Xiangqi { .. } => {
                type $G = $crate::xiangqi::Xiangqi;
                $body
            }
            $crate::Variant::Surakarta { .. } => {
                type $G = $crate::surakarta::Surakarta;
                $body
            }
        }
    };
}

impl Variant {
    /// All ways of turning a board onto itself under which this game is the same game; the identity comes first.
    pub fn symmetries(self) -> impl Iterator<Item = Symmetry> + Clone {
        (0..with_game!(self, G => G::SYMMETRIES)).map(Symmetry::new)
    }

    /// Where `symmetry` takes a move.
    #[must_use]
    pub fn image(self, m: Move, symmetry: Symmetry) -> Move {
        with_game!(self, G => G::image(self, m, symmetry))
    }

    /// The symmetry that undoes `symmetry`.
    #[must_use]
    pub fn inverse(self, symmetry: Symmetry) -> Symmetry {
        with_game!(self, G => G::inverse(symmetry))
    }
}
