use std::collections::{BTreeSet, VecDeque};

use kagetsu_game::{Answer, Key, Position, Verdict};

/// Most positions that are looked up.
const MAX_POSITIONS: usize = 200;

/// Whether a book's move is worth more than an own search of `own_nodes`: it is proven, or the
/// searches behind the position visited as many nodes, or the book does not count nodes. A position
/// whose answer counts none has `entry_nodes`.
///
/// # Errors
/// The error of `lookup`.
pub fn outweighs_search<E>(
    (position, picked): (&Position, &Verdict),
    entry_nodes: u64,
    own_nodes: u64,
    lookup: impl FnMut(&Position) -> Result<Option<Answer>, E>,
) -> Result<bool, E> {
    if own_nodes == 0 || picked.proof.is_some() || picked.is_silent() {
        return Ok(true);
    }
    let searched = searched_behind(position, entry_nodes, own_nodes, lookup)?;
    Ok(searched == 0 || searched >= own_nodes)
}

/// Returns the nodes of the searches of a position and of those that its moves with a value lead
/// to, the nearest first, until there are `enough`.
fn searched_behind<E>(
    position: &Position,
    entry_nodes: u64,
    enough: u64,
    mut lookup: impl FnMut(&Position) -> Result<Option<Answer>, E>,
) -> Result<u64, E> {
    let (mut sum, mut waiting) = (0u64, VecDeque::from([position.clone()]));
    let mut seen: BTreeSet<Key> = [position.key()].into();
    while let Some(position) = waiting.pop_front() {
        let Some(answer) = lookup(&position)? else {
            continue;
        };
        let searched = answer.verdicts().iter().filter(|(_, v)| !v.is_silent());
        sum = sum.saturating_add(match searched.clone().map(|(_, v)| v.nodes).sum() {
            0 if searched.clone().next().is_some() => entry_nodes,
            nodes => nodes,
        });
        if sum >= enough {
            break;
        }
        for (m, _) in searched.filter(|(_, v)| v.is_exact()) {
            if seen.len() < MAX_POSITIONS
                && let Ok(next) = position.play(*m)
                && seen.insert(next.key())
            {
                waiting.push_back(next);
            }
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use kagetsu_game::Variant;

    use super::*;

    #[test]
    fn nodes_of_all_positions_behind_count() {
        let start = Position::start(Variant::FREESTYLE_15);
        let m = start.parse_move("h8").expect("legal");
        let next = start.play(m).expect("legal");
        let reply = next.parse_move("h9").expect("legal");
        let known = |nodes: u64| {
            let answer = move |m| -> Answer {
                let (m, verdict) = kagetsu_builders::opinion(m, 10);
                [(m, Verdict { nodes, ..verdict })].into_iter().collect()
            };
            let (start, next) = (start.key(), next.key());
            move |position: &Position| -> Result<_, Infallible> {
                let key = position.key();
                let move_of = [(start, m), (next, reply)];
                let found = move_of.iter().find(|(known, _)| *known == key);
                Ok(found.map(|(_, m)| answer(*m)))
            }
        };
        let (_, picked) = kagetsu_builders::opinion(m, 10);
        for (nodes, entry_nodes, own_nodes, wanted) in [
            (500, 0, 1_000, true),
            (500, 0, 1_001, false),
            (0, 500, 1_000, true),
            (0, 500, 1_001, false),
            (0, 0, 1_001, true),
            (500, 0, 0, true),
        ] {
            let is_worth =
                outweighs_search((&start, &picked), entry_nodes, own_nodes, known(nodes));
            assert_eq!(is_worth, Ok(wanted), "{nodes} {entry_nodes} {own_nodes}");
        }
    }
}
