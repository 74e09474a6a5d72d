//! The choice of positions for a compiled book that must be small.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::links::Links;

/// Centi-units of loss that make a move e times less likely, for either side.
const TEMPERATURE: f64 = 50.0;

/// The cost and the worth of a position.
#[derive(Clone, Copy, Default)]
pub(crate) struct Weight {
    /// Bytes of its moves in the file.
    pub(crate) bytes: u64,
    /// Nodes of its search.
    pub(crate) nodes: u64,
}

/// Chooses the positions that are reached most often, times the nodes of their searches, as long as
/// their bytes fit. A position comes only with those on the likeliest way to it. `weights` has one
/// for each number; a position without bytes is not chosen.
pub(crate) fn choose(links: &Links, weights: &[Weight], max_bytes: u64) -> Vec<bool> {
    let positions = weights.len();
    let mut is_root = vec![true; positions];
    for position in 0..positions {
        let children = links.children(position).iter();
        children.for_each(|(child, _)| is_root[*child as usize] = false);
    }
    // Dijkstra's algorithm, from the positions to which no other leads. The bits of numbers that
    // are not negative have their order.
    let roots = (0..positions).filter(|at| is_root[*at]);
    let mut waiting: BinaryHeap<_> = roots.map(|root| Reverse((0, root, root))).collect();
    let mut ranks: Vec<Option<f64>> = vec![None; positions];
    let mut ranked = Vec::with_capacity(positions);
    while let Some(Reverse((bits, at, parent))) = waiting.pop() {
        let weight = weights[at];
        if weight.bytes == 0 || ranks[at].is_some() {
            continue;
        }
        let way = f64::from_bits(bits);
        let own = way - (weight.nodes.max(1) as f64).ln();
        let rank = own.max(ranks[parent].unwrap_or(own));
        ranks[at] = Some(rank);
        ranked.push((rank, at));
        let likelihood = |loss: u16| (-f64::from(loss) / TEMPERATURE).exp();
        let children = links.children(at);
        let sum: f64 = children.iter().map(|(_, loss)| likelihood(*loss)).sum();
        for (child, loss) in children {
            let next = way - (likelihood(*loss) / sum).ln().min(0.0);
            waiting.push(Reverse((next.to_bits(), *child as usize, at)));
        }
    }
    // The sort is stable: of equal ranks the nearest to a root comes first.
    ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (mut chosen, mut bytes) = (vec![false; positions], 0);
    for (_, at) in ranked {
        bytes += weights[at].bytes;
        if bytes > max_bytes {
            break;
        }
        chosen[at] = true;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::super::links::Link;
    use super::*;

    #[test]
    fn likely_ways_are_chosen_whole() {
        let links = [(0, 1, 0), (0, 2, 50), (1, 3, 0), (2, 4, 0), (5, 4, 0)];
        let links = links.map(|(from, to, loss)| Link { from, to, loss });
        let links = Links::new(6, &links);
        let mut weights = [Weight {
            bytes: 10,
            nodes: 100,
        }; 6];
        weights[5].bytes = 0;
        let numbers = |weights: &[Weight], max_bytes| -> Vec<usize> {
            let chosen = choose(&links, weights, max_bytes);
            (0..6).filter(|at| chosen[*at]).collect()
        };
        for (max_bytes, wanted) in [
            (9, vec![]),
            (10, vec![0]),
            (30, vec![0, 1, 3]),
            (49, vec![0, 1, 2, 3]),
            (50, vec![0, 1, 2, 3, 4]),
        ] {
            assert_eq!(numbers(&weights, max_bytes), wanted, "{max_bytes}");
        }
        // A longer search comes first, but never without the way to it.
        weights[4].nodes = 10_000;
        assert_eq!(numbers(&weights, 30), [0, 1, 3]);
        weights[2].nodes = 10_000;
        assert_eq!(numbers(&weights, 30), [0, 2, 4]);
    }
}
