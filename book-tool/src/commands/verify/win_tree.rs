//! Win trees of a book's proofs, in which the wins found by search are played out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io::Write;

use anyhow::{Result, bail};
use kagetsu_book::Book;
use kagetsu_game::{Claim, Effort, Key, Move, Outcome, Position, Proof, Question, with_game};
use kagetsu_search::threats::{Strategy, ThreatSearch};
use kagetsu_search::{Control, Engine, EngineOptions};
use kagetsu_verify::{Node, ProofDag, Reference};

/// Memory of the threat search, in bytes.
const TABLE: usize = 256 << 20;
/// The number of known plans to try as an answer before searching for a new one.
const TRIED: usize = 6;

/// The size of a win tree, counted in two ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeSize {
    /// Nodes of the file.
    pub(crate) nodes: u64,
    /// Positions of the book with the winner to move, up to symmetry; the rest of the tree are
    /// wins by threats alone.
    pub(crate) positions: u64,
}

impl fmt::Display for TreeSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, positions } = self;
        write!(
            f,
            "{nodes} nodes; {positions} positions lead to wins by threats alone"
        )
    }
}

/// The arguments of `--format proof`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProofArgs {
    /// For --format proof: maximum number of positions to visit when a win of the book is searched
    /// again
    #[arg(long, default_value_t = 20_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
}

/// Writes the win tree of a position, and returns its size.
pub(crate) fn write(
    book: &Book,
    position: &Position,
    args: &ProofArgs,
    out: &mut dyn Write,
) -> Result<TreeSize> {
    let engine = Engine::new(EngineOptions::default())?;
    let (dag, threats) = (ProofDag::default(), ThreatSearch::new(TABLE));
    let mut forester = Forester {
        book,
        dag,
        threats,
        engine,
        nodes: args.nodes,
        known: HashMap::new(),
        plans: BTreeSet::new(),
    };
    let tree = forester.tree(position)?;
    tree.write(out)?;
    Ok(TreeSize {
        nodes: tree.nodes().len() as u64,
        positions: forester.known.len() as u64,
    })
}

/// Grows the tree.
struct Forester<'a> {
    book: &'a Book,
    dag: ProofDag,
    threats: ThreatSearch,
    engine: Engine,
    nodes: u64,
    /// Nodes of canonical gomoku positions with the winner to move.
    known: HashMap<Key, u32>,
    /// Nodes that consist of threats only, and so are cheap to try in another position.
    plans: BTreeSet<u32>,
}

impl Forester<'_> {
    fn tree(&mut self, position: &Position) -> Result<kagetsu_verify::Tree> {
        let proof = self.proof(position)?;
        let claim = proof.map(|proof| proof.claim);
        let root = match claim {
            Some(Claim::Win) => self.node(position)?,
            Some(Claim::Loss) => {
                let root = self.answers(None, position)?;
                self.dag.add(root)
            }
            Some(Claim::Draw) | None => {
                bail!(
                    "the book has proven no win of {position}; `kagetsu build --policy prove` looks for one"
                )
            }
        };
        Ok(self
            .dag
            .tree(root, position.clone(), claim.unwrap_or(Claim::Win)))
    }

    /// Returns the book's proof of a position, unless it is of kind `manual`.
    fn proof(&self, position: &Position) -> Result<Option<Proof>> {
        let entry = self.book.lookup(position)?;
        Ok(entry
            .and_then(|entry| entry.derived.proof)
            .filter(|proof| proof.kind != kagetsu_game::ProofKind::Manual))
    }

    /// Returns the winner's continuation after a reply at `before`, which leads to `position`. In
    /// gomoku one node serves all images of a position.
    fn winner(&mut self, before: &Position, reply: Move, position: &Position) -> Result<Reference> {
        let variant = position.variant();
        if !variant.is_square() {
            return Ok(Reference::to(self.node(position)?));
        }
        let canonical = position.canonical();
        let turn = variant.inverse(canonical.symmetry);
        if let Some(&node) = self.known.get(&canonical.key) {
            return Ok(Reference { node, turn });
        }
        // Outside the book the position keeps its orientation, so that similar positions get
        // similar trees.
        if self.proof(position)?.is_none() {
            return match self
                .threats
                .refute(before, reply, self.nodes, &Control::new())?
            {
                Some(plan) => Ok(Reference::to(self.add(&plan))),
                None => Ok(Reference::to(self.search(position)?)),
            };
        }
        let node = self.node(&Position::unpack(variant, canonical.packed)?)?;
        self.known.insert(canonical.key, node);
        Ok(Reference { node, turn })
    }

    /// Returns the node of a position that its side to move wins, in the position's own
    /// orientation.
    fn node(&mut self, position: &Position) -> Result<u32> {
        let entry = self.book.lookup(position)?.map(|entry| entry.derived);
        let best =
            entry.filter(|derived| derived.proof.is_some_and(|proof| proof.claim == Claim::Win));
        let Some(m) = best.and_then(|derived| derived.best) else {
            return self.search(position);
        };
        let next = position.play(m)?;
        if next.outcome().is_some() {
            return Ok(self.dag.add(Node {
                at: Some(m),
                ..Node::default()
            }));
        }
        if self
            .proof(&next)?
            .is_none_or(|proof| proof.claim != Claim::Loss)
        {
            return self.search(position);
        }
        let node = self.answers(Some(m), &next)?;
        Ok(self.dag.add(node))
    }

    /// Returns the node of a move `at` to a position, with an answer to every legal move of the
    /// loser.
    fn answers(&mut self, at: Option<Move>, position: &Position) -> Result<Node> {
        let mut answers: Vec<(Move, Reference)> = Vec::new();
        let mut counts: BTreeMap<Reference, usize> = BTreeMap::new();
        // Replies that the book knows come first, so that the search for the others stays at one
        // position.
        let (mut known, mut open) = (Vec::new(), Vec::new());
        for reply in position.legal_moves() {
            let next = position.play(reply)?;
            if next.outcome() == Some(Outcome::Win(position.side().other())) {
                continue;
            }
            if self.proof(&next)?.is_some() {
                known.push((reply, next))
            } else {
                open.push((reply, next))
            }
        }
        for (reply, next) in known.into_iter().chain(open) {
            let answer = match self.answered(&next, &counts) {
                Some(answer) => answer,
                None => self.winner(position, reply, &next)?,
            };
            *counts.entry(answer).or_default() += 1;
            answers.push((reply, answer));
        }
        answers.sort_by_key(|(reply, _)| *reply);
        let most = counts
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .map(|(answer, _)| answer);
        answers.retain(|(_, answer)| Some(*answer) != most);
        Ok(Node {
            at,
            replies: answers,
            otherwise: most,
        })
    }

    /// Returns the most used answer to other replies that answers this one too.
    fn answered(&self, next: &Position, counts: &BTreeMap<Reference, usize>) -> Option<Reference> {
        let mut tried: Vec<_> = counts
            .iter()
            .filter(|(answer, _)| self.plans.contains(&answer.node))
            .collect();
        tried.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let wins = |answer: &Reference| with_game!(next.variant(), G => self.dag.wins(&mut next.game::<G>(), *answer));
        tried
            .into_iter()
            .take(TRIED)
            .map(|(answer, _)| *answer)
            .find(wins)
    }

    /// Searches a position for a win, by threats or else by the engine, and returns its node.
    fn search(&mut self, position: &Position) -> Result<u32> {
        let effort = Effort::nodes(self.nodes);
        if position.variant().has_threat_search()
            && let Some(plan) = self.threats.strategy(position, effort, &Control::new())?
        {
            return Ok(self.add(&plan));
        }
        let answer = self.engine.answer(
            &Question::new(position.clone(), effort),
            &Control::new(),
            &mut |_| {},
        )?;
        let won = answer
            .best()
            .filter(|(_, verdict)| verdict.proof.is_some_and(|proof| proof.claim == Claim::Win));
        let Some((m, _)) = won else {
            bail!(
                "the win of {position} was not found again in {} positions; give more --nodes",
                self.nodes
            );
        };
        let next = position.play(m)?;
        if next.outcome().is_some() {
            return Ok(self.dag.add(Node {
                at: Some(m),
                ..Node::default()
            }));
        }
        let node = self.answers(Some(m), &next)?;
        Ok(self.dag.add(node))
    }

    fn add(&mut self, plan: &Strategy) -> u32 {
        let first = plant(&mut self.dag, plan);
        self.plans.insert(first);
        first
    }
}

/// Steps of a plan as nodes; gives the number of its first.
pub(crate) fn plant(dag: &mut ProofDag, plan: &Strategy) -> u32 {
    let mut numbers: Vec<u32> = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        let to = |step: u32| Reference::to(numbers[step as usize]);
        let replies = step
            .replies
            .iter()
            .map(|(m, next)| (*m, to(*next)))
            .collect();
        let node = Node {
            at: Some(step.at),
            replies,
            otherwise: step.otherwise.map(to),
        };
        numbers.push(dag.add(node));
    }
    numbers.last().copied().unwrap_or_default()
}
