//! Files of other programs: any format, any game.

use kagetsu_formats::{Format, Importer, ZobristKeys, write_game};
use kagetsu_game::{Notation, Variant};

const VARIANTS: [&str; 6] = [
    "freestyle-15",
    "standard-15",
    "renju-15",
    "freestyle-20",
    "xiangqi",
    "surakarta",
];

/// Reads a file in the format that the first byte chooses, of the game that the second chooses.
pub fn formats(bytes: &[u8]) {
    if let [format, game, rest @ ..] = bytes {
        let format = Format::ALL[usize::from(*format) % Format::ALL.len()];
        let name = VARIANTS[usize::from(*game) % VARIANTS.len()];
        let variant: Variant = name.parse().expect("a variant of the list");
        let keys = (format == Format::Obk).then(|| ZobristKeys::from_seed(1));
        let mut importer = Importer::new(format, Some(variant)).with_zobrist(keys);
        // An error is as good as contents here; a panic is the fault.
        let _ = importer.add(rest);
        if let Ok((trees, _)) = importer.read_trees(rest) {
            for tree in &trees {
                let _ = write_game(tree, &[], Notation::Chinese);
            }
        }
    }
}
