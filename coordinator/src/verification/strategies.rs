//! Strategies that workers send with their claims, checked by the rules alone.

use kagetsu_certificate::{Node, ProofDag, Reference, Zone, ZoneChecker};
use kagetsu_game::{Claim, Move, Position, Proof};
use kagetsu_proto::v1;

/// Positions that the check of one report's strategies may visit.
const MAX_POSITIONS: u64 = 1_000_000;

/// Bounds of the positions that a try of a strategy on another claim may cost.
const MIN_TRY_POSITIONS: u64 = 2_000;
const MAX_TRY_POSITIONS: u64 = 20_000;

/// The same, in times of the positions that the strategy itself cost.
const TRY_FACTOR: u64 = 2;

/// The strategies of one report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strategies {
    dag: ProofDag,
    /// The first node of each, with the losing move that it answers.
    first: Vec<(Option<Move>, Reference)>,
}

impl Strategies {
    /// Reads the strategies of a report, and leaves out those that cannot be read.
    pub(crate) fn read(messages: &[v1::Strategy]) -> Self {
        let mut strategies = Self::default();
        for message in messages {
            let reply = message.reply.map(narrow);
            if let (Some(first), None | Some(Some(_))) = (strategies.add(&message.steps), reply) {
                strategies.first.push((reply.flatten(), first));
            }
        }
        strategies
    }

    /// Adds the steps of a strategy. Returns its first node; `None` if a step refers to a later one
    /// or has no legible move.
    fn add(&mut self, steps: &[v1::StrategyStep]) -> Option<Reference> {
        let mut nodes: Vec<Reference> = Vec::with_capacity(steps.len());
        for step in steps {
            let to = |number: &u32| nodes.get(*number as usize).copied();
            if step.replies.len() != step.answers.len() {
                return None;
            }
            let replies = step.replies.iter().zip(&step.answers);
            let node = Node {
                at: Some(narrow(step.r#move)?),
                replies: replies
                    .map(|(reply, next)| Some((narrow(*reply)?, to(next)?)))
                    .collect::<Option<_>>()?,
                otherwise: match &step.otherwise {
                    Some(next) => Some(to(next)?),
                    None => None,
                },
            };
            nodes.push(Reference::to(self.dag.add(node)));
        }
        nodes.last().copied()
    }

    /// Removes the claims that a strategy proves by the rules. Returns those of them that need more
    /// plies, with these. Games without relevance zones keep all claims.
    pub(crate) fn prove(
        &self,
        position: &Position,
        open: &mut Vec<(Move, Proof)>,
    ) -> Vec<(Move, Proof)> {
        let mut longer = Vec::new();
        let Some(zones) = ZoneChecker::new(position.variant()) else {
            return longer;
        };
        let mut check = StrategyCheck {
            dag: &self.dag,
            position,
            zones,
            left: MAX_POSITIONS,
        };
        for &(reply, first) in &self.first {
            if open.iter().any(|(_, proof)| proof.claim == Claim::Loss) {
                check.losses(open, reply, first, &mut longer);
            }
            if reply.is_none() {
                check.win(open, first, &mut longer);
            }
        }
        longer
    }
}

/// A check of strategies at one position.
struct StrategyCheck<'a> {
    dag: &'a ProofDag,
    position: &'a Position,
    zones: ZoneChecker,
    /// Positions that it may still visit.
    left: u64,
}

impl StrategyCheck<'_> {
    /// Removes the claim of a win that begins with the strategy's first move, if it holds.
    fn win(
        &mut self,
        open: &mut Vec<(Move, Proof)>,
        first: Reference,
        longer: &mut Vec<(Move, Proof)>,
    ) {
        let m = self.dag.node(first.node).at;
        let is_its =
            |(claimed, proof): &(Move, Proof)| Some(*claimed) == m && proof.claim == Claim::Win;
        let Some(at) = open.iter().position(is_its) else {
            return;
        };
        if self.wins(self.position, first, u64::MAX) {
            found(open.swap_remove(at), self.dag.plies(first.node), longer);
        }
    }

    /// Removes the claims of losses that the strategy proves: those outside its relevance zone, and
    /// those after which it wins as it stands.
    fn losses(
        &mut self,
        open: &mut Vec<(Move, Proof)>,
        reply: Option<Move>,
        first: Reference,
        longer: &mut Vec<(Move, Proof)>,
    ) {
        let zone = self.zone(first);
        let visited = self.zones.visited() * TRY_FACTOR;
        let most = visited.clamp(MIN_TRY_POSITIONS, MAX_TRY_POSITIONS);
        let plies = self.dag.plies(first.node).saturating_add(1);
        open.retain(|&(m, proof)| {
            let most = if Some(m) == reply { u64::MAX } else { most };
            let holds = proof.claim == Claim::Loss
                && (zone.is_some_and(|zone| !zone.contains(m)) || self.loses(m, first, most));
            if holds {
                found((m, proof), plies, longer);
            }
            !holds
        });
    }

    fn zone(&mut self, first: Reference) -> Option<Zone> {
        let zone = self
            .zones
            .after_pass(self.dag, self.position, first, self.left);
        self.left = self.left.saturating_sub(self.zones.visited());
        zone
    }

    fn loses(&mut self, m: Move, first: Reference, most: u64) -> bool {
        let next = self.position.play(m);
        next.is_ok_and(|next| next.outcome().is_none() && self.wins(&next, first, most))
    }

    fn wins(&mut self, position: &Position, first: Reference, most: u64) -> bool {
        let most = most.min(self.left);
        let wins = self.zones.wins(self.dag, position, first, most);
        self.left = self.left.saturating_sub(self.zones.visited());
        wins
    }
}

/// Notes a proven claim that needs more plies than were claimed.
fn found((m, proof): (Move, Proof), plies: u16, longer: &mut Vec<(Move, Proof)>) {
    if plies > proof.plies {
        longer.push((m, Proof { plies, ..proof }));
    }
}

fn narrow(code: u32) -> Option<Move> {
    u16::try_from(code).ok().map(Move::new)
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{ProofKind, Variant};

    use super::*;

    /// Black has an open three, and White, to move, has stones far away.
    const THREE: &str = "h8 a1 i8 a3 j8";

    fn position() -> Position {
        Position::from_line(Variant::STANDARD_15, THREE).expect("a line")
    }

    fn code(text: &str) -> u32 {
        position().parse_move(text).expect("a move").code().into()
    }

    fn step(m: &str, replies: &[(&str, u32)], otherwise: Option<u32>) -> v1::StrategyStep {
        v1::StrategyStep {
            r#move: code(m),
            replies: replies.iter().map(|(m, _)| code(m)).collect(),
            answers: replies.iter().map(|(_, next)| *next).collect(),
            otherwise,
        }
    }

    /// The open four at k8, and the five at g8 or l8.
    fn right() -> v1::Strategy {
        v1::Strategy {
            reply: None,
            steps: vec![
                step("l8", &[], None),
                step("g8", &[], None),
                step("k8", &[("g8", 0)], Some(1)),
            ],
        }
    }

    fn claims(claim: Claim, plies: u16) -> Vec<(Move, Proof)> {
        let proof = Proof::new(claim, ProofKind::Vct, plies);
        let moves = position().legal_moves();
        moves.into_iter().map(|m| (m, proof)).collect()
    }

    /// Returns the moves whose claims are left, and the number of claims that need more plies.
    fn left(strategies: &[v1::Strategy], claim: Claim, plies: u16) -> (Vec<String>, usize) {
        let mut open = claims(claim, plies);
        let longer = Strategies::read(strategies).prove(&position(), &mut open);
        assert!(longer.iter().all(|(_, proof)| proof.plies > plies));
        let left = open.iter().map(|(m, _)| position().write_move(*m));
        (left.collect(), longer.len())
    }

    #[test]
    fn one_strategy_proves_the_losses_outside_its_zone() {
        let zone = ["g8", "k8", "l8"];
        for plies in [4, 40] {
            let (open, longer) = left(&[right()], Claim::Loss, plies);
            assert_eq!((open, longer), (zone.map(String::from).into(), 0));
        }
        let total = claims(Claim::Loss, 3).len();
        let (open, longer) = left(&[right()], Claim::Loss, 3);
        assert_eq!((open.len(), longer), (3, total - 3));
    }

    #[test]
    fn wrong_strategies_prove_nothing() {
        let mut wrong = vec![right(); 9];
        // No move after most replies; no five on either side; steps that are not there yet; a point
        // twice; a point outside the board; an answer too many; no step.
        wrong[0].steps[2].otherwise = None;
        wrong[1].steps[1] = step("m8", &[], None);
        wrong[2].steps[0] = step("l7", &[], None);
        wrong[3].steps[2].otherwise = Some(2);
        wrong[4].steps[2].answers = vec![7];
        wrong[5].steps[2].r#move = position().moves()[0].code().into();
        wrong[6].steps[2].r#move = 70_000;
        wrong[7].steps[2].answers.push(0);
        wrong[8].steps.clear();
        for strategy in wrong {
            let (open, _) = left(std::slice::from_ref(&strategy), Claim::Loss, 40);
            assert_eq!(open.len(), claims(Claim::Loss, 40).len(), "{strategy:?}");
        }
        for claim in [Claim::Win, Claim::Draw] {
            let (open, _) = left(&[right()], claim, 40);
            assert_eq!(open.len(), claims(claim, 40).len(), "{claim:?}");
        }
    }

    #[test]
    fn strategy_of_the_side_to_move_proves_its_first_move() {
        let position = position();
        let position = position.play(Move::new(code("o15") as u16)).expect("legal");
        let proof = claims(Claim::Win, 3)[0].1;
        let moves = ["k8", "g8"].map(|m| position.parse_move(m).expect("a move"));
        let mut open = moves.map(|m| (m, proof)).to_vec();
        let longer = Strategies::read(&[right()]).prove(&position, &mut open);
        assert_eq!((open, longer), (vec![(moves[1], proof)], Vec::new()));
    }

    #[test]
    fn check_of_strategies_has_an_end() {
        // Every step waits far away, and has two ways to the next one.
        let far = |n: usize| position().legal_moves()[n];
        let mut steps = vec![step("g8", &[], None)];
        for n in (0..60).rev() {
            let last = steps.len() as u32 - 1;
            steps.push(v1::StrategyStep {
                r#move: far(2 * n).code().into(),
                replies: vec![far(2 * n + 1).code().into()],
                answers: vec![last],
                otherwise: Some(last),
            });
        }
        let endless = v1::Strategy { reply: None, steps };
        let (open, _) = left(&vec![endless; 50], Claim::Loss, 40);
        assert_eq!(open.len(), claims(Claim::Loss, 40).len());
    }
}
