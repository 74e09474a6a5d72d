//! Moves of xiangqi in every notation that programs write.

use kagetsu_game::xiangqi::{Xiangqi, parse_from_one, write_from_one};
use kagetsu_game::{Move, Position};
use kagetsu_games::without_history;

/// Reads a move of gomoku as a point; one of xiangqi in coordinates (`h2e2`), on a score sheet
/// (`C2=5`, 炮二平五), or as chess programs write it (`Che2`, `Ch2-e2`, `Nxc7+`), without its marks.
/// The lowest rank of coordinates is 0 (XBoard, UCI2WB, ICCS) or 1 (Fairy-Stockfish, pychess). The
/// move may be impossible.
pub(crate) fn read_move(position: &Position, word: &str, lowest: u8) -> Option<Move> {
    let word = word.trim_end_matches(['!', '?', '#', '±', '∓', '。', '、']);
    let plain = word.trim_end_matches('+');
    let coordinates = plain.to_ascii_lowercase();
    if position.variant().gomoku().is_some() {
        return kagetsu_games::read_move(position, &coordinates);
    }
    let made = if lowest == 1 {
        parse_from_one(&coordinates)
    } else {
        kagetsu_games::read_move(position, &coordinates)
    };
    made.or_else(|| kagetsu_games::read_move(position, word))
        .or_else(|| of_chess(position, plain, lowest))
}

/// Reads the notation of chess: a piece, where it comes from as far as needed, and where it goes.
fn of_chess(position: &Position, word: &str, lowest: u8) -> Option<Move> {
    let (name, rest) = match word.chars().next()? {
        letter if letter.is_ascii_uppercase() => (letter, &word[1..]),
        _ => ('P', word),
    };
    let rest: String = rest
        .chars()
        .filter(|c| !matches!(c, 'x' | '-' | '@'))
        .collect();
    let at = rest.rfind(|c: char| c.is_ascii_lowercase())?;
    let (from, to) = rest.split_at(at);
    let is_rank = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let file = from.chars().next().filter(char::is_ascii_lowercase);
    let rank = from.strip_prefix(|c: char| file == Some(c)).unwrap_or(from);
    if !is_rank(rank) || to.len() < 2 || !is_rank(&to[1..]) {
        return None;
    }
    // After a third repetition some programs play on.
    let bare = position.outcome().and_then(|_| without_history(position));
    let position = bare.as_ref().unwrap_or(position);
    let board = position.game::<Xiangqi>();
    let name = match name {
        'N' => 'H',
        'B' => 'E',
        name => name,
    };
    let fits = |m: &Move| {
        let text = if lowest == 1 {
            write_from_one(*m)
        } else {
            position.write_move(*m)
        };
        let Some((start, end)) = text[1..]
            .find(|c: char| c.is_ascii_lowercase())
            .map(|at| text.split_at(at + 1))
        else {
            return false;
        };
        end == to
            && file.is_none_or(|file| start.starts_with(file))
            && (rank.is_empty() || start[1..] == *rank)
            && board.wxf(*m).contains(name)
    };
    let mut moves = position.legal_moves().into_iter().filter(fits);
    moves.next().filter(|_| moves.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kagetsu_game::Variant;

    #[test]
    fn moves_of_many_programs_are_read() {
        let start = Position::start(Variant::XIANGQI);
        for (lowest, words) in [
            (
                0,
                [
                    "h2e2",
                    "Che2",
                    "Ch2-e2",
                    "Ch2e2!?",
                    "C2=5",
                    "炮二平五",
                    "H2-E2",
                    "Ce3",
                ],
            ),
            (
                1,
                [
                    "h3e3",
                    "Che3",
                    "Ch3-e3",
                    "Ch3e3+",
                    "C2.5",
                    "砲二平五",
                    "H3E3",
                    "Ce9",
                ],
            ),
        ] {
            for (at, word) in words.iter().enumerate() {
                let read = read_move(&start, word, lowest).map(|m| start.write_move(m));
                let expected = (at < 7).then(|| "h2e2".to_string());
                assert_eq!(read, expected, "{word}");
            }
        }
        for (lowest, word, expected) in [
            (0, "Hg2", Some("h0g2")),
            (0, "Nc2", Some("b0c2")),
            (0, "c4", Some("c3c4")),
            (0, "Pc4", Some("c3c4")),
            (1, "c5", Some("c3c4")),
            (1, "Nc3", Some("b0c2")),
            (0, "Ee2", None),
            (0, "Ege2", Some("g0e2")),
            (1, "Bce3", Some("c0e2")),
            (0, "Cxh9", Some("h2h9")),
            (1, "Chxh10", Some("h2h9")),
            (0, "Che10", None),
        ] {
            let read = read_move(&start, word, lowest).map(|m| start.write_move(m));
            assert_eq!(read.as_deref(), expected, "{word}");
        }
    }
}
