use anyhow::Result;
use kagetsu_certificate::{Node, ProofDag, Reference};
use kagetsu_game::{Claim, Effort, Game, Position, Question, Symmetry, with_game};
use kagetsu_search::threats::Strategy;

use crate::open_positions::OpenPosition;

use super::ProofTreeBuilder;

/// The share of the search of a position that the search of each further image may cost.
const IMAGE_SHARE: u64 = 16;

impl ProofTreeBuilder<'_> {
    /// Searches a position for a win, by threats or else by the engine, and returns its node.
    pub(super) fn search(&mut self, position: &Position, nodes: u64) -> Result<u32> {
        if position.variant().has_threat_search()
            && let Some(plan) = self.plan(position, nodes)?
        {
            return Ok(self.add(&plan));
        }
        let question = Question::new(position.clone(), Effort::nodes(nodes));
        let (engine, control) = self.cache.engine()?;
        let answer = engine.answer(&question, control, &mut |_| {})?;
        let won = answer
            .best()
            .filter(|(_, verdict)| verdict.proof.is_some_and(|proof| proof.claim == Claim::Win));
        let Some((m, _)) = won else {
            return Err(OpenPosition::new(position.clone(), nodes).into());
        };
        let next = position.play(m)?;
        if next.outcome().is_some() {
            return Ok(self.cache.pool.add_last(m));
        }
        self.answers(Some(m), &next, None)
    }

    /// Searches a position for a win by threats. The search tries few fours where it looks for
    /// a threat, in an order that depends on the orientation, so it may see a win in one image of
    /// the position and not in another.
    pub(super) fn plan(&mut self, position: &Position, nodes: u64) -> Result<Option<Strategy>> {
        let variant = position.variant();
        for turn in variant.symmetries() {
            let image = with_game!(variant, G => position.game::<G>().pack(turn));
            let nodes = if turn == Symmetry::IDENTITY {
                nodes
            } else {
                nodes / IMAGE_SHARE
            };
            let plan = self.cache.threats.strategy(
                &Position::unpack(variant, image)?,
                Effort::nodes(nodes),
                &self.cache.control,
            )?;
            if let Some(plan) = plan {
                return Ok(Some(plan.turned(variant, variant.inverse(turn))));
            }
        }
        Ok(None)
    }

    pub(super) fn add(&mut self, plan: &Strategy) -> u32 {
        let first = plant(&mut self.cache.pool.dag, plan);
        self.cache.pool.plans.insert(first);
        first
    }
}

/// Steps of a plan as nodes; gives the number of its first.
pub fn plant(dag: &mut ProofDag, plan: &Strategy) -> u32 {
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
