//! Results of games in the words of many programs.

use kagetsu_game::{Side, Variant};
use kagetsu_games::GameResult;

/// Words for a won game behind the name of a side, and for a lost one.
const VERBS: [(&str, bool); 16] = [
    ("+", true),
    ("win", true),
    ("won", true),
    ("胜", true),
    ("勝", true),
    ("贏", true),
    ("赢", true),
    ("lose", false),
    ("lost", false),
    ("resign", false),
    ("负", false),
    ("負", false),
    ("败", false),
    ("敗", false),
    ("输", false),
    ("輸", false),
];

/// Reads a result: `1-0`, `B+R`, `Draw`, `Black wins`, 红胜, 黑超时负, 和棋. `None` for text that says
/// none; a result that is stated to be unknown is one.
pub(crate) fn result_of(text: &str, variant: Variant) -> Option<GameResult> {
    let text = text.trim().to_lowercase();
    match &*text {
        "1-0" | "1:0" | "2-0" => return Some(GameResult::Won(Side::First)),
        "0-1" | "0:1" | "0-2" => return Some(GameResult::Won(Side::Second)),
        "1/2-1/2" | "1/2" | "½-½" | "½" | "0.5-0.5" | "1-1" | "0" | "=" => {
            return Some(GameResult::Drawn);
        }
        "" | "*" | "?" | "void" | "unknown" | "未知" | "未完" => {
            return Some(GameResult::Unknown);
        }
        _ => {}
    }
    let first = |side| {
        if variant.gomoku().is_some() {
            side
        } else {
            Side::other(side)
        }
    };
    let sides = [
        ("black", first(Side::First)),
        ("b+", first(Side::First)),
        ("黑", first(Side::First)),
        ("white", first(Side::Second)),
        ("w+", first(Side::Second)),
        ("白", first(Side::Second)),
        ("red", Side::First),
        ("r+", Side::First),
        ("红", Side::First),
        ("紅", Side::First),
        ("先", Side::First),
        ("后", Side::Second),
        ("後", Side::Second),
    ];
    let named = sides
        .iter()
        .filter_map(|(name, side)| Some((text.find(name)?, *side)));
    let won = named.min_by_key(|(at, _)| *at).and_then(|(at, side)| {
        let verbs = VERBS
            .iter()
            .filter_map(|(verb, wins)| Some((text[at..].find(verb)?, *wins)));
        let (_, wins) = verbs.min_by_key(|(at, _)| *at)?;
        Some(GameResult::Won(if wins { side } else { side.other() }))
    });
    let is_drawn = || {
        ["和", "平", "draw", "jigo", "tie"]
            .iter()
            .any(|word| text.contains(word))
    };
    won.or_else(|| is_drawn().then_some(GameResult::Drawn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_in_words() {
        use GameResult::{Drawn, Unknown, Won};
        const FIRST: GameResult = Won(Side::First);
        const SECOND: GameResult = Won(Side::Second);
        for (text, gomoku, xiangqi) in [
            ("1-0", Some(FIRST), Some(FIRST)),
            ("0-1", Some(SECOND), Some(SECOND)),
            ("1/2", Some(Drawn), Some(Drawn)),
            ("B+R", Some(FIRST), Some(SECOND)),
            ("W+Time", Some(SECOND), Some(FIRST)),
            ("b+", Some(FIRST), Some(SECOND)),
            ("Black wins by resignation", Some(FIRST), Some(SECOND)),
            ("White resigns", Some(FIRST), Some(SECOND)),
            ("Red won", Some(FIRST), Some(FIRST)),
            ("黑胜", Some(FIRST), Some(SECOND)),
            ("白中盘勝", Some(SECOND), Some(FIRST)),
            ("黑超時負", Some(SECOND), Some(FIRST)),
            ("红胜黑负", Some(FIRST), Some(FIRST)),
            ("红先胜", Some(FIRST), Some(FIRST)),
            ("先负", Some(SECOND), Some(SECOND)),
            ("白认输", Some(FIRST), Some(SECOND)),
            ("红先和", Some(Drawn), Some(Drawn)),
            ("和棋", Some(Drawn), Some(Drawn)),
            ("平局", Some(Drawn), Some(Drawn)),
            ("Draw", Some(Drawn), Some(Drawn)),
            ("0", Some(Drawn), Some(Drawn)),
            ("*", Some(Unknown), Some(Unknown)),
            ("Void", Some(Unknown), Some(Unknown)),
            ("soon", None, None),
        ] {
            let found = [Variant::FREESTYLE_15, Variant::XIANGQI].map(|game| result_of(text, game));
            assert_eq!(found, [gomoku, xiangqi], "{text}");
        }
    }
}
