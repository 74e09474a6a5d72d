//! The question that a job asks about a position.

use kagetsu_game::{Move, Position, Question};

use crate::BookError;
use crate::base::id::{Id, unpack};
use crate::base::node::Node;
use crate::graph::index::Index;
use crate::settings::job::{JobId, JobSpec};

/// Factor on the limit of nodes of a search that must value moves which have only a bound: a value
/// rarely takes longer than this many such bounds of the same depth.
const NODES_PER_BOUND: u64 = 100;

/// Returns what to ask about a position that waits for a job.
pub(crate) fn question(
    index: &mut Index,
    job: JobId,
    spec: &JobSpec,
    id: Id,
) -> Result<Question, BookError> {
    let node = index.node(id)?;
    let question = match &node {
        Some(node)
            if node.is_silent()
                || index.reach(id)?.is_distrusted()
                || index.judged(job.0, id)? == Some(true) =>
        {
            about_all_moves(spec, node.position.clone())
        }
        Some(node) => about_moves_without_value(spec, node),
        None => about_all_moves(spec, position_without_record(index, id)?),
    };
    let known = node.as_ref().map(|node| &node.facts);
    Ok(spec
        .build
        .policy
        .rules()
        .question(spec.build.side, question, known))
}

fn about_all_moves(spec: &JobSpec, position: Position) -> Question {
    Question {
        width: spec.build.top,
        ..Question::new(position, spec.build.effort())
    }
}

/// Finds a position that has no record: it is a root, or one move beyond a record.
fn position_without_record(index: &mut Index, id: Id) -> Result<Position, BookError> {
    let reach = index.reach(id)?;
    if let Some(packed) = reach.root() {
        return unpack(id.variant(), packed);
    }
    let parent = reach
        .parents()
        .next()
        .map(|parent| index.node(parent))
        .transpose()?
        .flatten();
    let move_to_it = |node: &Node| {
        node.followed
            .iter()
            .find(|(_, child)| *child == id)
            .map(|(m, _)| *m)
    };
    let next = parent.and_then(|node| node.position.play(move_to_it(&node)?).ok());
    let canonical = next.ok_or(BookError::Entry("the frontier"))?.canonical();
    unpack(id.variant(), &canonical.packed.0)
}

/// Asks about the moves of a known position that have no value: they may be better than those that
/// have one. They are searched at least as deeply as the search that bounded them (an analysis, or
/// one from a merged book), because less would say nothing new. A limit of nodes would probably end
/// the search before that depth, since a value takes longer than a bound; so the depth of the bound
/// becomes the limit.
fn about_moves_without_value(spec: &JobSpec, node: &Node) -> Question {
    let bounded = node
        .facts
        .verdicts()
        .iter()
        .filter(|(_, verdict)| !verdict.is_exact())
        .map(|(m, _)| *m);
    let mut moves: Vec<Move> = bounded.collect();
    if moves.is_empty() {
        let is_new = |m: &Move| node.facts.get(*m).is_none();
        moves = node
            .position
            .distinct_moves()
            .into_iter()
            .filter(is_new)
            .collect();
    }
    let depth_of_bounds = moves
        .iter()
        .filter_map(|m| node.facts.get(*m))
        .map(|verdict| verdict.depth)
        .max();
    let mut effort = spec.build.effort();
    effort.depth = effort
        .depth
        .map(|depth| depth.max(depth_of_bounds.unwrap_or(0)));
    let is_deepened = !spec.build.policy.info().widens;
    if let (Some(nodes), Some(bound)) = (effort.nodes, depth_of_bounds.filter(|_| is_deepened)) {
        effort.depth = Some(bound.max(1));
        effort.nodes = Some(nodes.saturating_mul(NODES_PER_BOUND));
    }
    Question {
        moves,
        width: spec.build.top,
        ..Question::new(node.position.clone(), effort)
    }
}
