//! Games of RenjuNet's database (`.rif`, an XML).

use anyhow::{Result, bail};
use kagetsu_game::{Move, Position, Side, Variant};

use super::games::{Ending, Games};
use super::{Losses, lose};

/// All games of a file.
///
/// # Errors
/// If it has none.
pub(super) fn read(text: &str, variant: Variant) -> Result<(Games, u64, Losses)> {
    if !text.contains("<game ") {
        bail!("it has no games of RenjuNet");
    }
    let (mut games, mut losses, mut count) = (Games::default(), Losses::new(), 0);
    for part in text.split("<game ").skip(1) {
        count += 1;
        let (head, body) = part.split_once('>').unwrap_or((part, ""));
        let ending = match attribute(head, "bresult") {
            Some("1") => Ending::Won(Side::First),
            Some("0") => Ending::Won(Side::Second),
            Some("0.5") => Ending::Drawn,
            _ => Ending::Unknown,
        };
        lose(&mut losses, "offered_fifth_moves", u64::from(attribute(head, "alt").is_some_and(|alt| !alt.is_empty())));
        let line =
            body.split_once("<move>").and_then(|(_, rest)| rest.split_once("</move>")).map_or("", |(line, _)| line);
        let (mut at, mut moves) = (Position::start(variant), Vec::<Move>::new());
        let mut is_cut = false;
        for text in line.split_whitespace() {
            match at.parse_move(text).ok().and_then(|m| Some((m, at.play(m).ok()?))) {
                Some((m, after)) => {
                    moves.push(m);
                    at = after;
                }
                None => {
                    is_cut = true;
                    break;
                }
            }
        }
        lose(&mut losses, "games_without_moves", u64::from(moves.is_empty()));
        lose(&mut losses, "games_cut_short", u64::from(is_cut));
        games.play(&Position::start(variant), &moves, ending);
    }
    Ok((games, count, losses))
}

/// The value of an attribute in the beginning of an element.
fn attribute<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let begins = head.match_indices(name).find(|(at, _)| {
        let is_word = head[..*at].ends_with(|c: char| c.is_whitespace()) || *at == 0;
        is_word && head[at + name.len()..].starts_with("=\"")
    });
    let (at, _) = begins?;
    head[at + name.len() + 2..].split('"').next()
}
