//! Results of games in the words of many programs.

use kagetsu_game::{Side, Variant};
use kagetsu_games::GameResult;

/// Words for a won game behind the name of a side.
const WON: [&str; 7] = ["+", "win", "won", "胜", "勝", "贏", "赢"];
/// Words for a lost game there.
const LOST: [&str; 9] = ["lose", "lost", "resign", "负", "負", "败", "敗", "输", "輸"];
/// Names of the sides: of the one with black stones or pieces, with white stones, and of xiangqi's
/// first and second.
const BLACK: [&str; 3] = ["black", "b+", "黑"];
const WHITE: [&str; 3] = ["white", "w+", "白"];
const FIRST: [&str; 5] = ["red", "r+", "红", "紅", "先"];
const SECOND: [&str; 2] = ["后", "後"];

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
    let black = match variant.gomoku() {
        Some(_) => Side::First,
        None => Side::Second,
    };
    let place = |words: &[&str]| words.iter().filter_map(|word| text.find(word)).min();
    let sides = [
        (place(&BLACK), black),
        (place(&WHITE), black.other()),
        (place(&FIRST), Side::First),
        (place(&SECOND), Side::Second),
    ];
    let named = sides.into_iter().filter_map(|(at, side)| Some((at?, side)));
    let won = named.min_by_key(|(at, _)| *at).and_then(|(at, side)| {
        let place = |words: &[&str]| words.iter().filter_map(|word| text[at..].find(word)).min();
        match (place(&WON), place(&LOST)) {
            (None, None) => None,
            (won, lost) if won.is_some() && lost.is_none_or(|lost| won < Some(lost)) => Some(side),
            _ => Some(side.other()),
        }
    });
    let won = won.map(GameResult::Won);
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
