//! Checks the proofs of a book by the rules of the game.

use std::collections::HashMap;

use anyhow::Result;
use kagetsu_book::{Book, Entry};
use kagetsu_certificate::{ProofDag, Tree, check};
use kagetsu_game::{Claim, Effort, Key, Move, Outcome, Position, Proof, ProofKind, Verdict};
use kagetsu_search::Control;
use kagetsu_search::threats::ThreatSearch;

mod findings;

use findings::Status;
pub use findings::{Count, FailedClaim, Findings};

use crate::tree_builder::plant;
use crate::{LineError, tree_of_line};

/// Replays the claims of a book, each once.
pub struct Ledger<'a> {
    book: &'a Book,
    /// The maximum number of claims to describe, of each kind.
    most: usize,
    /// The threat search for wins without a line in the book, and its node limit for each.
    player: Option<(ThreatSearch, u64)>,
    positions: HashMap<(u32, Key), Status>,
    /// The results so far.
    pub findings: Findings,
}

impl<'a> Ledger<'a> {
    /// Returns a ledger that describes at most `most` claims of each kind. `player` searches again
    /// the wins of which the book has no line, within a number of positions for each.
    #[must_use]
    pub fn new(book: &'a Book, most: usize, player: Option<(ThreatSearch, u64)>) -> Self {
        Self {
            book,
            most,
            player,
            positions: HashMap::new(),
            findings: Findings::default(),
        }
    }

    /// Checks the claims of a position and of its moves. The position is in canonical orientation.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub fn replay(&mut self, entry: &Entry) -> Result<()> {
        self.position(entry).map(drop)
    }

    fn position(&mut self, entry: &Entry) -> Result<Status> {
        let key = (entry.position.variant().code(), entry.position.key());
        if let Some(status) = self.positions.get(&key) {
            return Ok(*status);
        }
        // A claim that rests on itself is not proven.
        if entry.derived.proof.is_some() {
            self.positions.insert(key, Status::Open);
        }
        let mut moves = HashMap::new();
        for (m, verdict) in entry.facts.verdicts() {
            let Some(proof) = verdict.proof else { continue };
            let status = self.searched(entry, *m, verdict, proof)?;
            self.findings.moves.add(status);
            moves.insert(*m, (proof, status));
        }
        let Some(proof) = entry.derived.proof else {
            return Ok(Status::Open);
        };
        let status = self.derived(entry, proof, &moves)?;
        if status == Status::Failed {
            let why = "its moves do not prove it".into();
            self.tell(entry, None, proof, status, why);
        }
        self.findings.positions.add(status);
        self.positions.insert(key, status);
        Ok(status)
    }

    /// Checks the claim of a position from what is known of its moves.
    fn derived(
        &mut self,
        entry: &Entry,
        proof: Proof,
        moves: &HashMap<Move, (Proof, Status)>,
    ) -> Result<Status> {
        let position = &entry.position;
        if let (Claim::Win | Claim::Draw, best) = (proof.claim, entry.derived.best) {
            let Some(m) = best else {
                return Ok(Status::Failed);
            };
            let status = self.after(entry, m, &[proof], moves)?;
            if proof.claim == Claim::Win || status == Status::Failed {
                return Ok(status);
            }
        }
        // Every move loses within that many plies, or is no better than a draw.
        let lost = |plies| Proof {
            claim: Claim::Loss,
            plies,
            ..proof
        };
        let enough = if proof.claim == Claim::Loss {
            vec![proof]
        } else {
            vec![proof, lost(u16::MAX)]
        };
        let known: Vec<Move> = entry.facts.verdicts().iter().map(|(m, _)| *m).collect();
        let mut by_child: HashMap<Key, Vec<Move>> = HashMap::new();
        for (m, child) in known.iter().zip(position.children(&known)) {
            by_child.entry(child.key).or_default().push(*m);
        }
        let distinct = position.distinct_moves();
        let mut least = Status::Holds;
        for (m, child) in distinct.iter().zip(position.children(&distinct)) {
            let mut best = Status::Failed;
            for m in by_child
                .get(&child.key)
                .map_or(std::slice::from_ref(m), Vec::as_slice)
            {
                best = best.max(self.after(entry, *m, &enough, moves)?);
            }
            least = least.min(best);
        }
        Ok(least)
    }

    /// Checks that a move has one of the given proofs, from the view of the side that makes it: by
    /// the rules, by the position after it, or by its search.
    fn after(
        &mut self,
        entry: &Entry,
        m: Move,
        enough: &[Proof],
        moves: &HashMap<Move, (Proof, Status)>,
    ) -> Result<Status> {
        let is_enough = |proof: Proof| {
            enough.iter().any(|one| {
                one.claim == proof.claim && (proof.claim == Claim::Draw || proof.plies <= one.plies)
            })
        };
        let Ok(next) = entry.position.play(m) else {
            return Ok(Status::Failed);
        };
        if let Some(claim) = claim_after(&entry.position, &next) {
            let proof = Proof::new(claim, ProofKind::Terminal, u16::from(claim != Claim::Draw));
            return Ok(if is_enough(proof) {
                Status::Holds
            } else {
                Status::Failed
            });
        }
        let searched = moves
            .get(&m)
            .filter(|(proof, _)| is_enough(*proof))
            .map(|(_, status)| *status);
        if searched == Some(Status::Holds) {
            return Ok(Status::Holds);
        }
        let behind = self.behind(&next, is_enough)?;
        Ok(behind.max(searched).unwrap_or(Status::Failed))
    }

    /// Returns the result for the position after a move, if its claim is strong enough for the
    /// move.
    fn behind(
        &mut self,
        next: &Position,
        is_enough: impl Fn(Proof) -> bool,
    ) -> Result<Option<Status>> {
        let next = Position::unpack(next.variant(), next.canonical().packed)?;
        let Some(child) = self.book.lookup(&next)? else {
            return Ok(None);
        };
        if child
            .derived
            .proof
            .is_some_and(|proof| is_enough(proof.before()))
        {
            return self.position(&child).map(Some);
        }
        Ok(None)
    }

    /// Checks the claim of a search about a move.
    fn searched(
        &mut self,
        entry: &Entry,
        m: Move,
        verdict: &Verdict,
        proof: Proof,
    ) -> Result<Status> {
        let wrong = |why: &str| Err(LineError::Wrong(why.into()));
        let next = entry.position.play(m).ok();
        let replayed = match next
            .as_ref()
            .map(|next| (next, claim_after(&entry.position, next)))
        {
            None => wrong("the move is not legal"),
            Some((_, Some(claim))) if claim == proof.claim => Ok(()),
            Some((_, Some(claim))) => wrong(&format!("the game is over after it: a {claim}")),
            Some((next, None)) => match by_the_rules(next, proof) {
                Some(ruled) => ruled.or_else(wrong),
                None => self.line(&entry.position, next, m, verdict, proof)?,
            },
        };
        let (status, why) = match replayed {
            Ok(()) => return Ok(Status::Holds),
            Err(LineError::Wrong(why)) => (Status::Failed, why),
            Err(LineError::Open(why)) => (Status::Open, why),
        };
        let is_enough = |other: Proof| other.claim == proof.claim && other.plies <= proof.plies;
        if let (Status::Open, Some(next)) = (status, &next) {
            let behind = self.behind(next, is_enough)?;
            if let Some(behind) = behind.filter(|behind| *behind != Status::Failed) {
                return Ok(behind);
            }
        }
        self.tell(entry, Some(m), proof, status, why);
        Ok(status)
    }

    /// Replays the line of a move, or a win found in its place.
    fn line(
        &mut self,
        position: &Position,
        next: &Position,
        m: Move,
        verdict: &Verdict,
        proof: Proof,
    ) -> Result<Result<(), LineError>> {
        let open = |why: &str| Ok(Err(LineError::Open(why.into())));
        match proof.kind {
            ProofKind::Manual => return open("it is only claimed"),
            _ if verdict.line.first() != Some(&m) && self.player.is_none() => {
                return open("it has no line");
            }
            _ => {}
        }
        // The winner's line shows the win.
        let (from, line, plies) = match proof.claim {
            Claim::Win => (position, &verdict.line[..], proof.plies),
            Claim::Loss => (
                next,
                verdict.line.get(1..).unwrap_or_default(),
                proof.plies.saturating_sub(1),
            ),
            Claim::Draw => return open("no line shows a draw"),
        };
        let replayed = match tree_of_line(from, Claim::Win, line) {
            Ok(tree) => within(&tree, plies),
            Err(line_error) => Err(line_error),
        };
        let (Err(LineError::Open(_)), Some((threats, nodes))) = (&replayed, &mut self.player)
        else {
            return Ok(replayed);
        };
        if !from.variant().has_threat_search() {
            return Ok(replayed);
        }
        let Some(plan) = threats.strategy(from, Effort::nodes(*nodes), &Control::new())? else {
            return Ok(Err(LineError::Open(format!(
                "its win was not found again in {nodes} positions"
            ))));
        };
        let mut dag = ProofDag::default();
        let root = plant(&mut dag, &plan);
        if proof.claim == Claim::Win && dag.node(root).at != Some(m) {
            return Ok(replayed);
        }
        Ok(within(&dag.tree(root, from.clone(), Claim::Win), plies))
    }

    fn tell(&mut self, entry: &Entry, m: Option<Move>, proof: Proof, status: Status, why: String) {
        let list = if status == Status::Failed {
            &mut self.findings.failed
        } else {
            &mut self.findings.open
        };
        if list.len() < self.most {
            let position = &entry.position;
            list.push(FailedClaim {
                variant: position.variant().to_string(),
                position: position.notation(),
                at: m.map(|m| position.write_move(m)),
                claim: proof.claim.to_string(),
                proof_kind: proof.kind.to_string(),
                plies: proof.plies,
                why,
            });
        }
    }
}

/// Returns how the game has ended after a move, from the view of the side that made it.
fn claim_after(position: &Position, next: &Position) -> Option<Claim> {
    Some(match next.outcome()? {
        Outcome::Draw => Claim::Draw,
        Outcome::Win(side) if side == position.side() => Claim::Win,
        Outcome::Win(_) => Claim::Loss,
    })
}

/// Checks by the rules alone a claim about a move that does not end the game: that the game ends at
/// once, or that the reply ends it.
fn by_the_rules(next: &Position, proof: Proof) -> Option<Result<(), &'static str>> {
    let is_at_once = proof.claim != Claim::Draw && proof.plies <= 1;
    if is_at_once || (proof.kind == ProofKind::Terminal && proof.claim != Claim::Loss) {
        return Some(Err("the game goes on after it"));
    }
    let ends = |m: Move| {
        next.play(m)
            .is_ok_and(|after| claim_after(next, &after) == Some(Claim::Win))
    };
    let is_lost = || next.distinct_moves().into_iter().any(ends);
    (proof.kind == ProofKind::Terminal).then(|| {
        if is_lost() {
            Ok(())
        } else {
            Err("no reply to it ends the game")
        }
    })
}

/// Plays the tree, which must end the game within that many plies.
fn within(tree: &Tree, plies: u16) -> Result<(), LineError> {
    let checked = check(tree).map_err(|fault| LineError::Open(fault.to_string()))?;
    if checked.plies > plies {
        return Err(LineError::Open(format!(
            "what can be replayed takes {} plies",
            checked.plies
        )));
    }
    Ok(())
}
