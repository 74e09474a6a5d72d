use kagetsu_game::{Move, Packed, Position, Variant};
use serde::{Deserialize, Serialize};

/// The content of a book in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// The variants of its positions and of its jobs, in the order of their codes.
    pub variants: Vec<VariantOverview>,
}

/// The positions of one variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantOverview {
    /// The variant.
    pub variant: Variant,
    /// The number of its positions.
    pub positions: u64,
    /// The first 100 positions where the book begins: the start of the game if the book holds it,
    /// then the roots of its jobs. A book without either begins at positions to which no other
    /// leads.
    pub roots: Vec<RootOverview>,
    /// The number of all roots.
    pub all_roots: u64,
}

/// A position where a book begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootOverview {
    /// The position, with the moves to it where they are known.
    pub position: Position,
    /// Positions of the book that its moves lead to, this one included; 0 if the book does not
    /// hold it yet.
    pub positions: u64,
    /// Whether there may be more positions: the count ended at a limit.
    pub is_more: bool,
}

impl Overview {
    /// Returns the overview of a book whose positions lie behind one root.
    #[must_use]
    pub fn of_root(position: Position, positions: u64) -> Self {
        let root = RootOverview {
            position,
            positions,
            is_more: false,
        };
        let held = VariantOverview {
            variant: root.position.variant(),
            positions,
            roots: vec![root],
            all_roots: 1,
        };
        Self {
            variants: vec![held],
        }
    }

    /// Returns the part of a variant.
    #[must_use]
    pub fn variant(&self, variant: Variant) -> Option<&VariantOverview> {
        self.variants.iter().find(|held| held.variant == variant)
    }
}

/// An overview as a compiled book stores it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OverviewBody(Vec<VariantBody>);

#[derive(Debug, Serialize, Deserialize)]
struct VariantBody {
    code: u32,
    positions: u64,
    roots: Vec<RootBody>,
    all_roots: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct RootBody {
    setup: Option<Vec<u8>>,
    moves: Vec<u16>,
    positions: u64,
    is_more: bool,
}

impl From<&Overview> for OverviewBody {
    fn from(overview: &Overview) -> Self {
        let root = |root: &RootOverview| RootBody {
            setup: root.position.setup().map(|packed| packed.0.clone()),
            moves: root.position.moves().iter().map(|m| m.code()).collect(),
            positions: root.positions,
            is_more: root.is_more,
        };
        let variant = |held: &VariantOverview| VariantBody {
            code: held.variant.code(),
            positions: held.positions,
            roots: held.roots.iter().map(root).collect(),
            all_roots: held.all_roots,
        };
        Self(overview.variants.iter().map(variant).collect())
    }
}

impl OverviewBody {
    /// The overview; `None` for a body that names an impossible position.
    pub(crate) fn overview(self) -> Option<Overview> {
        let variant = |body: VariantBody| {
            let variant = Variant::from_code(body.code).ok()?;
            let root = |body: RootBody| {
                let moves: Vec<Move> = body.moves.into_iter().map(Move::new).collect();
                let position = Position::new(variant, body.setup.map(Packed), &moves).ok()?;
                Some(RootOverview {
                    position,
                    positions: body.positions,
                    is_more: body.is_more,
                })
            };
            Some(VariantOverview {
                variant,
                positions: body.positions,
                roots: body.roots.into_iter().map(root).collect::<Option<_>>()?,
                all_roots: body.all_roots,
            })
        };
        let variants = self.0.into_iter().map(variant).collect::<Option<_>>()?;
        Some(Overview { variants })
    }
}
