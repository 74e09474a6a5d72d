//! Speeds that the founding documents report: Zheng and Kuang's paper on a multi-threaded gobang
//! engine (i7-8550U, tables 2 to 6) and Kou Yinghan's patent of 2021 (it names no machine).

/// Mean nodes and mean wall-clock milliseconds of a move, where the document has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figure {
    pub(crate) nodes: Option<f64>,
    pub(crate) ms: Option<f64>,
}

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
