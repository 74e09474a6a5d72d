//! Trees that were grown, and the tools to grow more.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Result, bail, ensure};
use kagetsu_certificate::{ProofDag, Reference, Tree, ZoneChecker};
use kagetsu_game::{Key, Move, Position, Side, Variant};
use kagetsu_search::threats::ThreatSearch;
use kagetsu_search::{Control, Engine, EngineOptions};

use crate::shrink::{ThreatNodes, WinsByStones};

/// Memory of the threat search, in bytes.
const TABLE: usize = 256 << 20;

/// Positions that a known answer to another reply may cost.
pub(crate) const ANSWER_POSITIONS: u64 = 3_000;

/// Positions that the threats with which a guide wins may cost.
const GUIDE_POSITIONS: u64 = 20_000;

/// The trees of one variant that were grown, and the tools to grow more. They stay valid when the
/// book changes.
pub struct ProofCache {
    variant: Variant,
    pub(crate) dag: ProofDag,
    pub(crate) threats: ThreatSearch,
    pub(crate) engine: Engine,
    pub(crate) nodes: u64,
    pub(crate) control: Control,
    /// Nodes of gomoku positions with the winner to move, seen from their canonical images.
    pub(crate) known: HashMap<Key, Reference>,
    /// Nodes that won, where they are tried on other positions.
    pub(crate) by_stones: Option<WinsByStones>,
    /// The side that wins in the trees that were given.
    pub(crate) winner: Option<Side>,
    /// The same nodes for positions of trees of another rule, whose moves are tried.
    guides: HashMap<Key, Reference>,
    /// Which nodes of the graph play threats alone, as far as it was looked at.
    threat_nodes: ThreatNodes,
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
            variant,
            control: Control::new(),
            dag: ProofDag::default(),
            threats: ThreatSearch::new(TABLE),
            engine: Engine::new(EngineOptions::default())?,
            nodes,
            known: HashMap::new(),
            by_stones: zones.is_some().then(|| WinsByStones::new(variant)),
            winner: None,
            guides: HashMap::new(),
            threat_nodes: ThreatNodes::default(),
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

    /// Adds a win tree. Its position, or those after the loser's replies, need no other proof, and
    /// what wins there is tried elsewhere. A tree of another rule proves nothing: its moves are
    /// tried first.
    ///
    /// # Errors
    /// If it is no tree of gomoku on the same board, or if the trees win for different sides.
    pub fn load(&mut self, tree: &Tree) -> Result<()> {
        let variant = self.variant;
        let size = |variant: Variant| variant.gomoku().map(|(_, size)| size);
        let is_gomoku = size(variant).is_some() && size(tree.position.variant()) == size(variant);
        ensure!(
            is_gomoku,
            "a tree of {} is no part of one of {variant}",
            tree.position.variant()
        );
        let is_guide = tree.position.variant() != variant;
        let position = match tree.position.line() {
            _ if !is_guide => tree.position.clone(),
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
        let root = Reference::to(self.dag.load(tree));
        let map = if is_guide {
            &mut self.guides
        } else {
            &mut self.known
        };
        let mut note = |position: &Position, at: Reference| {
            let canonical = position.canonical();
            map.insert(canonical.key, at.turned(canonical.symmetry));
        };
        let mut starts = vec![(position.clone(), root)];
        if winner != position.side() {
            if is_guide {
                note(&position, root);
            }
            starts.clear();
            for reply in position.distinct_moves() {
                let next = position.play(reply)?;
                let answer = self.dag.answer(variant, root, reply);
                starts.extend(answer.map(|answer| (next, answer)));
            }
        }
        for (position, at) in &starts {
            note(position, *at);
            if let Some(by_stones) = &mut self.by_stones {
                by_stones.add_all(&self.dag, position, *at);
            }
        }
        Ok(())
    }

    /// Whether a node plays more than threats.
    pub(crate) fn is_quiet(&mut self, at: Reference) -> bool {
        for number in self.threat_nodes.len()..self.dag.nodes().len() {
            self.threat_nodes.push(self.dag.node(number as u32));
        }
        !self.threat_nodes.contains(at.node)
    }

    /// Returns the node that a tree of another rule has for a position.
    pub(crate) fn guide(&self, position: &Position) -> Option<Reference> {
        let canonical = position.canonical();
        let seen = self.guides.get(&canonical.key)?;
        let back = position.variant().inverse(canonical.symmetry);
        Some(seen.turned(back))
    }

    /// Returns a guide that makes this move: the given one, or one that won where the winner had
    /// the same stones.
    pub(crate) fn guide_of_move(
        &self,
        position: &Position,
        m: Move,
        guide: Option<Reference>,
    ) -> Option<Reference> {
        let alike = self.by_stones.as_ref()?.like(position);
        let makes_move = |at: &Reference| {
            let own = self.dag.node(at.node).at;
            own.is_some_and(|own| position.variant().image(own, at.turn) == m)
        };
        guide.into_iter().chain(alike).find(makes_move)
    }

    /// Returns the node of a position with the winner to move.
    pub(crate) fn known(&self, position: &Position) -> Option<Reference> {
        let canonical = position.canonical();
        let seen = self.known.get(&canonical.key)?;
        let back = position.variant().inverse(canonical.symmetry);
        Some(seen.turned(back))
    }

    /// Returns a node that wins here, and won where the winner had the same stones, or the guide if
    /// it wins here.
    pub(crate) fn like(
        &mut self,
        position: &Position,
        guide: Option<Reference>,
    ) -> Option<Reference> {
        let tried = self.by_stones.as_ref()?.like(position);
        let threats = guide.filter(|guide| !self.is_quiet(*guide));
        let Self { dag, zones, .. } = self;
        let zones = zones.as_mut()?;
        if let Some(guide) = threats
            && zones.wins(&*dag, position, guide, GUIDE_POSITIONS)
        {
            return Some(guide);
        }
        let mut tried = tried.into_iter();
        tried.find(|at| zones.wins(&*dag, position, *at, ANSWER_POSITIONS))
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
                zones.wins(&*dag, &next, answer, most)
            }
            _ => false,
        }
    }
}
