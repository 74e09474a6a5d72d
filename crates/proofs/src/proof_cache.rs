//! Trees that were grown, and the tools to grow more.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Result, ensure};
use kagetsu_game::{Claim, Key, Move, Position, Variant};
use kagetsu_search::threats::ThreatSearch;
use kagetsu_search::{Control, Engine, EngineOptions};
use kagetsu_verify::{ProofDag, Reference, Tree, WinsByStones, ZoneChecker};

/// Memory of the threat search, in bytes.
const TABLE: usize = 256 << 20;

/// Positions that a known answer to another reply may cost.
pub(crate) const ANSWER_POSITIONS: u64 = 3_000;

/// The trees of one variant that were grown, and the tools to grow more. They stay valid when the
/// book changes.
pub struct ProofCache {
    pub(crate) dag: ProofDag,
    pub(crate) threats: ThreatSearch,
    pub(crate) engine: Engine,
    pub(crate) nodes: u64,
    pub(crate) control: Control,
    /// Nodes of gomoku positions with the winner to move, seen from their canonical images.
    pub(crate) known: HashMap<Key, Reference>,
    /// Nodes that won, where they are tried on other positions.
    pub(crate) by_stones: Option<WinsByStones>,
    /// Whether trees were given for positions.
    pub(crate) has_parts: bool,
    /// Nodes that consist of threats only, and so are cheap to try in another position.
    pub(crate) plans: BTreeSet<u32>,
    /// `None` for a variant without zones.
    pub(crate) zones: Option<ZoneChecker>,
    /// Trees grown as [`crate::ReplyProver`] grew them.
    pub(crate) again: Option<Box<Self>>,
}

impl ProofCache {
    /// Returns an empty cache; `nodes` is the most that a search may visit.
    ///
    /// # Errors
    /// If there is no memory for the searches.
    pub fn new(variant: Variant, nodes: u64) -> Result<Self> {
        let zones = ZoneChecker::new(variant);
        Ok(Self {
            control: Control::new(),
            dag: ProofDag::default(),
            threats: ThreatSearch::new(TABLE),
            engine: Engine::new(EngineOptions::default())?,
            nodes,
            known: HashMap::new(),
            by_stones: zones.is_some().then(|| WinsByStones::new(variant)),
            has_parts: false,
            plans: BTreeSet::new(),
            zones,
            again: None,
        })
    }

    /// The same, for trees that may be larger than need be; `control` ends its searches.
    pub(crate) fn quick(variant: Variant, nodes: u64, control: Control) -> Result<Self> {
        Ok(Self {
            threats: ThreatSearch::new(TABLE).with_any_length(),
            control,
            by_stones: None,
            ..Self::new(variant, nodes)?
        })
    }

    /// Adds a win tree. Its position needs no other proof, and what wins there is tried elsewhere.
    ///
    /// # Errors
    /// If it is no tree of gomoku that wins for the side to move.
    pub fn load(&mut self, tree: &Tree) -> Result<()> {
        let position = &tree.position;
        ensure!(
            position.variant().gomoku().is_some() && tree.claim == Claim::Win,
            "only a tree of gomoku that wins for the side to move becomes a part of another"
        );
        let root = Reference::to(self.dag.load(tree));
        let canonical = position.canonical();
        self.known
            .insert(canonical.key, root.turned(canonical.symmetry));
        self.has_parts = true;
        if let Some(by_stones) = &mut self.by_stones {
            by_stones.add_all(&self.dag, position, root);
        }
        Ok(())
    }

    /// Returns the node of a position with the winner to move.
    pub(crate) fn known(&self, position: &Position) -> Option<Reference> {
        let canonical = position.canonical();
        let seen = self.known.get(&canonical.key)?;
        let back = position.variant().inverse(canonical.symmetry);
        Some(seen.turned(back))
    }

    /// Returns a node that wins here, and won where the winner had the same stones.
    pub(crate) fn like(&mut self, position: &Position) -> Option<Reference> {
        let tried = self.by_stones.as_ref()?.like(position);
        let Self { dag, zones, .. } = self;
        let zones = zones.as_mut()?;
        let mut tried = tried.into_iter();
        tried.find(|at| zones.wins(dag, position, *at, ANSWER_POSITIONS))
    }

    /// Notes a node that wins in a position.
    pub(crate) fn place(&mut self, position: &Position, node: u32) -> Reference {
        let at = Reference::to(node);
        if let Some(by_stones) = &mut self.by_stones {
            by_stones.add(position, at);
        }
        at
    }

    /// Whether an answer wins after a reply, within so many positions.
    pub(crate) fn wins(
        &mut self,
        position: &Position,
        reply: Move,
        answer: Reference,
        most: u64,
    ) -> bool {
        let Self { dag, zones, .. } = self;
        match (position.play(reply), zones) {
            (Ok(next), Some(zones)) if next.outcome().is_none() => {
                zones.wins(dag, &next, answer, most)
            }
            _ => false,
        }
    }
}
