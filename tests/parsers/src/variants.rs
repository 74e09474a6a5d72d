//! Variants chosen by bytes.

use kagetsu_game::{Chase, RuleName, Variant};

/// One of the gomoku variants, all of which can be reached.
pub(crate) fn gomoku(rule: u8, size: u8) -> Variant {
    let sizes = Variant::GOMOKU_SIZES;
    let size = sizes.start() + size % (sizes.end() - sizes.start() + 1);
    Variant::Gomoku {
        rule: RuleName::ALL[usize::from(rule) % RuleName::ALL.len()],
        size,
    }
}

/// One of the variants in which pieces move: xiangqi with each chase, surakarta with each limit.
pub(crate) fn with_pieces(choice: u8) -> Variant {
    match choice {
        0..=63 => Variant::Xiangqi { chase: Chase::None },
        64..=127 => Variant::Xiangqi {
            chase: Chase::Simple,
        },
        limit => Variant::Surakarta { limit },
    }
}
