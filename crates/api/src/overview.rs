use kagetsu_compiled::{Overview, RootOverview, VariantOverview};
use kagetsu_game::{Position, Variant};
use serde::{Deserialize, Serialize};

use crate::answer::ValueJson;
use crate::position::read_position;

/// The content of a book in short.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Overview))]
pub struct OverviewJson {
    /// The variants that the book holds.
    pub variants: Vec<VariantOverviewJson>,
}

/// The positions of one variant.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = VariantOverview))]
pub struct VariantOverviewJson {
    /// The variant, as in `renju-15`.
    pub variant: String,
    /// The number of its positions.
    pub positions: u64,
    /// The positions where the book begins, at most 100.
    pub roots: Vec<RootJson>,
    /// The number of all roots.
    pub all_roots: u64,
}

/// A position where a book begins.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Root))]
pub struct RootJson {
    /// The moves from the start of the game, or from `fen`.
    pub moves: Vec<String>,
    /// The position before the first move as FEN; null at the start of a game.
    pub fen: Option<String>,
    /// The side to move: `first` or `second`.
    pub side: String,
    /// 32 hex digits, the same for every order of moves and every symmetry of the board.
    pub key: String,
    /// Positions of the book that its moves lead to, this one included; 0 if the book does not
    /// hold it yet.
    pub positions: u64,
    /// Whether there may be more positions: the count ended at a limit.
    pub is_more: bool,
    /// The best move; null where the book knows no value.
    pub best: Option<String>,
    /// The value of the position from the view of the side to move.
    #[serde(flatten)]
    pub value: ValueJson,
}

impl From<&Overview> for OverviewJson {
    fn from(overview: &Overview) -> Self {
        let variant = |held: &VariantOverview| VariantOverviewJson {
            variant: held.variant.to_string(),
            positions: held.positions,
            roots: held.roots.iter().map(RootJson::from).collect(),
            all_roots: held.all_roots,
        };
        Self {
            variants: overview.variants.iter().map(variant).collect(),
        }
    }
}

impl From<&RootOverview> for RootJson {
    fn from(root: &RootOverview) -> Self {
        let position = &root.position;
        let line = position.line();
        let moves = line.as_deref().unwrap_or(position.moves());
        let setup = position.setup().filter(|_| line.is_none());
        let fen = setup.and_then(|_| position.prefix(0).fen().ok());
        Self {
            moves: moves.iter().map(|&m| position.write_move(m)).collect(),
            fen,
            side: position.side().to_string(),
            key: position.key().to_string(),
            positions: root.positions,
            is_more: root.is_more,
            best: None,
            value: ValueJson::unknown(),
        }
    }
}

impl OverviewJson {
    /// Returns the overview that this JSON was made from.
    ///
    /// # Errors
    /// If a variant or a position is impossible.
    pub fn overview(&self) -> Result<Overview, String> {
        let variant = |held: &VariantOverviewJson| {
            let root = |root: &RootJson| {
                Ok(RootOverview {
                    position: root.position(&held.variant)?,
                    positions: root.positions,
                    is_more: root.is_more,
                })
            };
            let variant: Result<Variant, _> = held.variant.parse();
            Ok(VariantOverview {
                variant: variant.map_err(|error| error.to_string())?,
                positions: held.positions,
                roots: held.roots.iter().map(root).collect::<Result<_, String>>()?,
                all_roots: held.all_roots,
            })
        };
        let variants = self.variants.iter().map(variant);
        Ok(Overview {
            variants: variants.collect::<Result<_, String>>()?,
        })
    }
}

impl RootJson {
    fn position(&self, variant: &str) -> Result<Position, String> {
        let read = read_position(variant, self.fen.as_deref(), &self.moves.join(" "));
        read.map_err(|bad| bad.error.message)
    }

    /// Writes the position as commands take it, as in `freestyle-15 h8 i9`.
    #[must_use]
    pub fn text(&self, variant: &str) -> String {
        let position = self.position(variant);
        position.map_or_else(|fault| fault, |position| position.to_string())
    }
}
