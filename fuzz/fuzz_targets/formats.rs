//! Files of other programs: any format, any game.
#![no_main]

use kagetsu_game::Variant;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let [format, game, rest @ ..] = bytes {
        let games = [
            "freestyle-15",
            "standard-15",
            "renju-15",
            "freestyle-20",
            "xiangqi",
            "surakarta",
        ];
        let variant: Variant = games[usize::from(*game) % games.len()]
            .parse()
            .expect("it is one of ours");
        // What is wrong with them is no matter here.
        let _ = book_tool::understand(*format, variant, rest);
    }
});
