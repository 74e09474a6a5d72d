//! Trees that were grown, and the tools to grow more.

use anyhow::{Result, bail, ensure};
use kagetsu_certificate::{Reference, Tree};
use kagetsu_game::{Move, Position, Side, Variant};
use kagetsu_search::threats::ThreatSearch;
use kagetsu_search::{Control, Engine, EngineOptions};

use crate::nodes::{NodePool, PlacedNodes};

/// Memory of the threat search, in bytes.
const TABLE: usize = 256 << 20;

/// Positions that the threats with which a guide wins may cost.
const GUIDE_POSITIONS: u64 = 20_000;

/// The trees of one variant that were grown, and the tools to grow more. They stay valid when the
/// book changes.
pub struct ProofCache {
    pub(crate) pool: NodePool,
    pub(crate) threats: ThreatSearch,
    engine: Option<Engine>,
    pub(crate) nodes: u64,
    pub(crate) control: Control,
    /// The side that wins in the trees that were given.
    pub(crate) winner: Option<Side>,
    /// Nodes for positions of trees whose moves are tried.
    pub(crate) guides: PlacedNodes,
    /// Whether the guides are trees of this rule, which win.
    pub(crate) trusts_guides: bool,
    /// Trees grown as [`crate::ReplyProver`] grew them.
    pub(crate) again: Option<Box<Self>>,
}

impl ProofCache {
    /// Returns an empty cache; `nodes` is the most that a search may visit, or 0 for no search.
    #[must_use]
    pub fn new(variant: Variant, nodes: u64) -> Self {
        Self {
            pool: NodePool::new(variant, true),
            control: Control::new(),
            threats: ThreatSearch::new(if nodes == 0 { 0 } else { TABLE }),
            engine: None,
            nodes,
            winner: None,
            guides: PlacedNodes::default(),
            trusts_guides: false,
            again: None,
        }
    }

    /// The same, for trees that may be larger than need be; `control` ends its searches.
    pub(crate) fn quick(variant: Variant, nodes: u64, control: Control) -> Self {
        Self {
            threats: ThreatSearch::new(TABLE).with_any_length(),
            control,
            pool: NodePool::new(variant, false),
            ..Self::new(variant, nodes)
        }
    }

    /// Returns the engine, and what ends its searches.
    pub(crate) fn engine(&mut self) -> Result<(&mut Engine, &Control)> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => Engine::new(EngineOptions::default())?,
        };
        Ok((self.engine.insert(engine), &self.control))
    }

    /// Adds a win tree. Its position, or those after the loser's replies, need no other proof, and
    /// what wins there is tried elsewhere. A tree of another rule proves nothing: its moves are
    /// tried first.
    ///
    /// # Errors
    /// If it is no tree of gomoku on the same board, or if the trees win for different sides.
    pub fn load(&mut self, tree: &Tree) -> Result<()> {
        let variant = self.pool.variant;
        let size = |variant: Variant| variant.gomoku().map(|(_, size)| size);
        let is_gomoku = size(variant).is_some() && size(tree.position.variant()) == size(variant);
        ensure!(
            is_gomoku,
            "a tree of {} is no part of one of {variant}",
            tree.position.variant()
        );
        let is_guide = self.trusts_guides || tree.position.variant() != variant;
        let position = match tree.position.line() {
            _ if tree.position.variant() == variant => tree.position.clone(),
            Some(line) => line
                .into_iter()
                .try_fold(Position::start(variant), |position, m| position.play(m))?,
            None => bail!("no line of moves leads to the position of the tree"),
        };
        let winner = tree.winner();
        ensure!(
            self.winner.is_none_or(|known| known == winner),
            "a part of a tree wins for the other side"
        );
        self.winner = Some(winner);
        let root = Reference::to(self.pool.dag.load(tree));
        let mut starts = vec![(position.clone(), root)];
        if winner != position.side() {
            if is_guide {
                self.guides.insert(&position, root);
            }
            starts.clear();
            for reply in position.distinct_moves() {
                let next = position.play(reply)?;
                let answer = self.pool.answer(root, reply);
                starts.extend(answer.map(|answer| (next, answer)));
            }
        }
        for (position, at) in &starts {
            match is_guide {
                true => self.guides.insert(position, *at),
                false => self.pool.known.insert(position, *at),
            }
            if !self.trusts_guides {
                self.pool.note_all(position, *at);
            }
        }
        Ok(())
    }

    /// Returns a guide that makes this move: the given one, or one that won where the winner had
    /// the same stones.
    pub(crate) fn guide_of_move(
        &self,
        position: &Position,
        m: Move,
        guide: Option<Reference>,
    ) -> Option<Reference> {
        if !self.pool.tries_nodes(position.side()) {
            return None;
        }
        let alike = self.pool.alike(position);
        let makes_move = |at: &Reference| self.pool.own_move(*at) == Some(m);
        guide.into_iter().chain(alike).find(makes_move)
    }

    /// Returns a node that wins here, and won where the winner had the same stones, or the guide if
    /// it wins here.
    pub(crate) fn like(
        &mut self,
        position: &Position,
        guide: Option<Reference>,
    ) -> Option<Reference> {
        if self.trusts_guides {
            let guide = guide.filter(|guide| !self.pool.is_quiet(*guide));
            return self.pool.like(position).or(guide);
        }
        if !self.pool.tries_nodes(position.side()) {
            return None;
        }
        let threats = guide.filter(|guide| !self.pool.is_quiet(*guide));
        let wins = |at: &Reference| self.pool.wins(position, *at, GUIDE_POSITIONS);
        threats.filter(wins).or_else(|| self.pool.like(position))
    }
}
