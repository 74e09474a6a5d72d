use kagetsu_book::{Overview, RootOverview, VariantOverview};
use kagetsu_game::{Position, Variant};
use kagetsu_proto::{WireError, v1};
use serde::Serialize;

use crate::answer::ValueJson;

/// The content of a book in short.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Overview))]
pub struct OverviewJson {
    /// The variants that the book holds.
    pub variants: Vec<VariantOverviewJson>,
}

/// The positions of one variant.
#[derive(Debug, Serialize)]
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
#[derive(Debug, Serialize)]
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
    /// The best move and its value, where the server adds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<String>,
    /// The value of the position from the view of the side to move.
    #[serde(flatten)]
    pub value: Option<ValueJson>,
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
        let setup = position.setup().filter(|_| line.is_none()).cloned();
        let fen = setup.and_then(|packed| {
            let setup = Position::unpack(position.variant(), packed).ok()?;
            setup.fen().ok()
        });
        Self {
            moves: moves.iter().map(|&m| position.write_move(m)).collect(),
            fen,
            side: position.side().to_string(),
            key: position.key().to_string(),
            positions: root.positions,
            is_more: root.is_more,
            best: None,
            value: None,
        }
    }
}

/// Returns an overview as a message.
#[must_use]
pub fn overview_message(overview: &Overview) -> v1::BookOverview {
    let root = |root: &RootOverview| v1::RootOverview {
        position: Some((&root.position).into()),
        positions: root.positions,
        is_more: root.is_more,
    };
    let variant = |held: &VariantOverview| v1::VariantOverview {
        variant: held.variant.to_string(),
        positions: held.positions,
        roots: held.roots.iter().map(root).collect(),
        all_roots: held.all_roots,
    };
    v1::BookOverview {
        variants: overview.variants.iter().map(variant).collect(),
    }
}

/// Returns the overview of a message.
///
/// # Errors
/// If a variant or a position is impossible.
pub fn read_overview(message: &v1::BookOverview) -> Result<Overview, WireError> {
    let root = |root: &v1::RootOverview| {
        let position = root.position.as_ref();
        Ok(RootOverview {
            position: Position::try_from(position.ok_or(WireError::Missing("the root"))?)?,
            positions: root.positions,
            is_more: root.is_more,
        })
    };
    let variant = |held: &v1::VariantOverview| {
        Ok(VariantOverview {
            variant: held.variant.parse::<Variant>()?,
            positions: held.positions,
            roots: held
                .roots
                .iter()
                .map(root)
                .collect::<Result<_, WireError>>()?,
            all_roots: held.all_roots,
        })
    };
    let variants = message.variants.iter().map(variant);
    Ok(Overview {
        variants: variants.collect::<Result<_, WireError>>()?,
    })
}
