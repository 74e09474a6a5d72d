//! Speeds that the founding documents report: Zheng and Kuang's paper on a multi-threaded gobang
//! engine (i7-8550U, tables 2 to 7) and Kou Yinghan's patent of 2021 (it names no machine).

/// Mean nodes and mean wall-clock milliseconds of a move, where the document has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figure {
    pub(crate) nodes: Option<f64>,
    pub(crate) ms: Option<f64>,
}

/// Nodes and milliseconds of each of ten moves.
pub(crate) type Moves = [(u32, u32); 10];

const fn both(nodes: f64, ms: f64) -> Figure {
    Figure {
        nodes: Some(nodes),
        ms: Some(ms),
    }
}

const fn nodes(nodes: f64) -> Figure {
    Figure {
        nodes: Some(nodes),
        ms: None,
    }
}

const fn time(ms: f64) -> Figure {
    Figure {
        nodes: None,
        ms: Some(ms),
    }
}

/// Figures at some depths.
pub(crate) type Depths = &'static [(u8, Figure)];

/// Paper, table 2: alpha-beta on all cells. At depth 4 the mean of four moves.
pub(crate) const ALL_CELLS: Depths = &[(2, nodes(17_338.5)), (4, nodes(186_767_951.3))];
/// Paper, tables 3 and 4: local cells, one thread.
pub(crate) const LOCAL: Depths = &[
    (2, both(592.1, 15.3)),
    (4, both(114_741.6, 1_185.5)),
    (6, both(47_581_577.4, 458_916.5)),
];
/// Paper, table 4: four threads, no seed move.
pub(crate) const FOUR: Depths = &[
    (2, both(1_207.1, 17.1)),
    (4, both(310_164.9, 1_420.8)),
    (6, both(98_051_448.1, 487_238.2)),
];
/// Paper, table 5: four threads with the seed move.
pub(crate) const FOUR_SEEDED: Depths = &[
    (2, both(2_904.8, 32.2)),
    (4, both(111_672.5, 561.0)),
    (6, both(38_399_549.0, 183_329.6)),
];
/// Paper, table 6: one thread with the seed move.
pub(crate) const SEEDED: Depths = &[
    (2, both(979.5, 18.7)),
    (4, both(70_245.9, 720.9)),
    (6, both(32_797_238.2, 311_161.2)),
];
/// Patent: one thread without a table; computed from its claim of 53.5 % less.
pub(crate) const PATENT_PLAIN: Depths = &[(6, time(14_280.0))];
/// Patent: four threads with a table.
pub(crate) const PATENT: Depths = &[(6, time(6_640.0))];

/// Paper, table 7, by depth: ten moves with the seed move, on one thread and on four. The paper
/// prints the same nodes in both for the fifth move of depth 6.
pub(crate) const BY_MOVE: [(u8, Moves, Moves); 2] = [
    (
        4,
        [
            (13_077, 125),
            (20_058, 188),
            (30_146, 321),
            (64_510, 611),
            (72_862, 701),
            (65_111, 710),
            (229_329, 2_331),
            (55_889, 593),
            (51_523, 574),
            (99_954, 1_055),
        ],
        [
            (24_489, 222),
            (26_907, 159),
            (60_340, 317),
            (82_742, 421),
            (110_208, 660),
            (154_394, 740),
            (316_264, 1_436),
            (77_904, 424),
            (88_536, 410),
            (174_941, 821),
        ],
    ),
    (
        6,
        [
            (1_491_025, 14_460),
            (1_946_012, 17_664),
            (787_581, 7_271),
            (2_777_389, 26_342),
            (7_529_166, 74_440),
            (93_603_148, 840_879),
            (76_446_115, 692_205),
            (32_996_289, 319_549),
            (51_264_007, 516_822),
            (59_131_650, 601_980),
        ],
        [
            (2_111_350, 11_012),
            (3_549_182, 18_797),
            (1_603_237, 6_791),
            (3_842_868, 15_197),
            (7_529_166, 37_646),
            (98_675_655, 432_788),
            (91_676_698, 503_718),
            (44_678_231, 210_746),
            (63_563_678, 288_926),
            (66_765_425, 307_675),
        ],
    ),
];

/// Returns the fewest leaves that alpha-beta can visit at an even depth (Knuth and Moore 1975), and
/// all leaves of the tree of 225 cells.
pub(crate) fn least_and_all(depth: u8) -> (f64, f64) {
    let cells = 225_f64;
    (
        2.0 * cells.powi(i32::from(depth) / 2) - 1.0,
        cells.powi(i32::from(depth)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moves_have_the_means_that_the_paper_prints() {
        let mean = |values: &dyn Fn(&(u32, u32)) -> u32, moves: &Moves| {
            f64::from(moves.iter().map(values).sum::<u32>()) / moves.len() as f64
        };
        for (depth, one, four) in &BY_MOVE {
            for (moves, printed) in [(one, SEEDED), (four, FOUR_SEEDED)] {
                let (_, figure) = printed.iter().find(|(at, _)| at == depth).expect("printed");
                let computed = (
                    mean(&|&(nodes, _)| nodes, moves),
                    mean(&|&(_, ms)| ms, moves),
                );
                let printed = (figure.nodes.expect("printed"), figure.ms.expect("printed"));
                assert!(
                    (computed.0 - printed.0).abs() < 1.0 && (computed.1 - printed.1).abs() < 0.2,
                    "{depth}: {computed:?}"
                );
            }
        }
    }

    #[test]
    fn the_smallest_tree_is_that_of_table_2() {
        assert_eq!(
            [2, 4, 6].map(|depth| least_and_all(depth).0),
            [449.0, 101_249.0, 22_781_249.0]
        );
        assert_eq!(least_and_all(2).1, 50_625.0);
    }
}
