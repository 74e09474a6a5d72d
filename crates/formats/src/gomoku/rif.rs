//! Games of RenjuNet's database (`.rif`, XML).

use std::borrow::Cow;
use std::collections::HashMap;

use anyhow::{Result, anyhow, bail, ensure};
use kagetsu_book::AnnotationKind;
use kagetsu_game::{Move, Position, Side, Variant};
use kagetsu_games::GameTags;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

use crate::games::tally::{GameResult, Games};
use crate::input::encoding::decode;
use crate::omissions::Omissions;

/// Stones on the board when the fifth moves are offered.
const OFFERING_STONES: usize = 4;

/// A game as read so far.
#[derive(Default)]
struct RifGame {
    /// The result for Black: 1, 0.5 or 0.
    result: String,
    moves: String,
    /// The fifth moves that were offered.
    offer: String,
    comment: String,
    tags: GameTags,
}

/// The players and tournaments of a database, by their ids.
#[derive(Default)]
struct TournamentNames {
    players: HashMap<String, String>,
    /// The name, and the day on which it began.
    tournaments: HashMap<String, (String, String)>,
}

impl TournamentNames {
    /// Reads the attributes of a player or of a tournament.
    fn add(&mut self, element: &BytesStart) {
        let value = |name: &str| attribute(element, name);
        match element.name().as_ref() {
            b"player" => {
                let name = format!("{} {}", value("name"), value("surname"));
                self.players.insert(value("id"), name.trim().into());
            }
            b"tournament" => {
                let day = Some(value("start")).filter(|day| !day.is_empty());
                let day = day.unwrap_or_else(|| value("year"));
                let tournament = (value("name"), GameTags::date_of(&day));
                self.tournaments.insert(value("id"), tournament);
            }
            _ => {}
        }
    }

    /// Returns the facts that a game names by their ids.
    fn tags(&self, element: &BytesStart) -> GameTags {
        let player = |side: &str| self.players.get(&attribute(element, side));
        let tournament = self.tournaments.get(&attribute(element, "tournament"));
        let (event, date) = tournament.cloned().unwrap_or_default();
        GameTags {
            first: player("black").cloned().unwrap_or_default(),
            second: player("white").cloned().unwrap_or_default(),
            event,
            date,
            round: attribute(element, "round"),
            source: String::new(),
        }
    }
}

/// Returns the text of an attribute; empty without one.
fn attribute(element: &BytesStart, name: &str) -> String {
    let found = element.try_get_attribute(name).ok().flatten();
    found.map_or_else(String::new, |found| {
        let raw = || String::from_utf8_lossy(&found.value).into_owned();
        let text = found
            .unescape_value()
            .map_or_else(|_| raw(), Cow::into_owned);
        text.trim().into()
    })
}

/// The element of a game that the reader is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Moves,
    Comment,
    Other,
}

/// Decodes a file, whose first line may name its encoding.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let declared = head
        .split_once("encoding")
        .filter(|_| head.starts_with("<?xml"));
    let label = declared.and_then(|(_, rest)| rest.split(['"', '\'']).nth(1));
    decode(bytes, label.map(str::as_bytes), |_| 0)
}

/// Reads all games of a file.
///
/// # Errors
/// If the file is no XML, is truncated, or has no games.
pub(crate) fn read(text: &str, variant: Variant) -> Result<(Games, u64, Omissions)> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let (mut games, mut omissions, mut count) = (Games::default(), Omissions::new(), 0);
    let (mut game, mut inside, mut depth) = (None, Inside::Other, 0_usize);
    let mut names = TournamentNames::default();
    loop {
        let at = reader.buffer_position();
        match reader
            .read_event()
            .map_err(|error| anyhow!("byte {at} is no part of an XML: {error}"))?
        {
            Event::Start(element) => {
                depth += 1;
                names.add(&element);
                match element.name().as_ref() {
                    b"game" => game = Some(begun(&element, &names)),
                    b"move" => inside = Inside::Moves,
                    b"info" => inside = Inside::Comment,
                    _ => inside = Inside::Other,
                }
            }
            Event::Text(text) => put(game.as_mut(), inside, &text),
            Event::CData(text) => put(game.as_mut(), inside, &text),
            Event::GeneralRef(name) => {
                let letter = name.resolve_char_ref().ok().flatten().map(String::from);
                let named = name.decode().ok();
                let named = named.and_then(|name| resolve_predefined_entity(&name));
                let text = letter.as_deref().or(named).unwrap_or("&");
                put(game.as_mut(), inside, text.as_bytes());
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                inside = Inside::Other;
                if let Some(game) = game.take_if(|_| element.name().as_ref() == b"game") {
                    count += 1;
                    let place = format!("game {count}: ");
                    play(&game, &place, variant, &mut games, &mut omissions);
                }
            }
            Event::Eof => {
                ensure!(
                    depth == 0,
                    "it ends in the middle, after {count} whole games: the rest of the file is missing"
                );
                break;
            }
            _ => {}
        }
    }
    if count == 0 {
        bail!("it has no games of RenjuNet");
    }
    Ok((games, count, omissions))
}

/// Reads the attributes of a game.
fn begun(element: &BytesStart, names: &TournamentNames) -> RifGame {
    RifGame {
        result: attribute(element, "bresult"),
        offer: attribute(element, "alt"),
        tags: names.tags(element),
        ..RifGame::default()
    }
}

fn put(game: Option<&mut RifGame>, inside: Inside, text: &[u8]) {
    let Some(game) = game else { return };
    let into = match inside {
        Inside::Moves => &mut game.moves,
        Inside::Comment => &mut game.comment,
        Inside::Other => return,
    };
    into.push_str(&String::from_utf8_lossy(text));
}

fn play(
    game: &RifGame,
    place: &str,
    variant: Variant,
    games: &mut Games,
    omissions: &mut Omissions,
) {
    let ending = match game.result.as_str() {
        "1" => GameResult::Won(Side::First),
        "0" => GameResult::Won(Side::Second),
        "0.5" => GameResult::Drawn,
        _ => GameResult::Unknown,
    };
    let (mut at, mut moves) = (Position::start(variant), Vec::<Move>::new());
    // The texts on the offered points are as in libraries of RenLib.
    let mut offer = game.offer.to_ascii_lowercase();
    for letter in 'a'..='o' {
        offer = offer.replace(letter, &format!(" {letter}"));
    }
    for text in game.moves.split_whitespace() {
        match at
            .parse_move(text)
            .ok()
            .and_then(|m| Some((m, at.play(m).ok()?)))
        {
            Some((m, after)) => {
                moves.push(m);
                at = after;
                if moves.len() == OFFERING_STONES {
                    for point in std::mem::take(&mut offer).split_whitespace() {
                        match at.parse_move(point) {
                            Ok(m) => games.note(&at, Some(m), AnnotationKind::Text, "5"),
                            Err(_) => omissions.omit_text("offered_fifth_moves", place, point),
                        }
                    }
                }
            }
            None => {
                omissions.omit_text("games_cut_short", place, text);
                break;
            }
        }
    }
    if !offer.trim().is_empty() {
        omissions.omit_text("offered_fifth_moves", place, &offer);
    }
    games.note(&at, None, AnnotationKind::Comment, game.comment.trim());
    omissions.omit("games_without_moves", u64::from(moves.is_empty()));
    games.play_named(&Position::start(variant), &moves, ending, game.tags.clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_offers_are_kept() {
        let text = "<games><game bresult='1' alt='j7G7'><move>h8 h9 i9 g8 j7 a1</move>\
                    <info>so&#33; a &lt; b</info></game></games>";
        let (mut games, ..) = read(text, Variant::RENJU_15).expect("a game");
        let mut said: Vec<String> = games
            .take_notes()
            .into_iter()
            .map(|(at, note)| {
                let point = note.at.map_or("-".into(), |m| at.write_move(m));
                format!(
                    "{} {point} {} {}",
                    at.canonical().stones,
                    note.kind,
                    note.text
                )
            })
            .collect();
        said.sort();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(
            said[0].starts_with("4 ") && said[1].ends_with(" text 5"),
            "{said:?}"
        );
        assert_eq!(said[2], "6 - comment so! a < b");
    }

    fn read_counts(text: &str) -> Result<(u64, Omissions), String> {
        let (_, count, mut omissions) =
            read(text, "renju-15".parse().expect("a variant")).map_err(|e| format!("{e:#}"))?;
        omissions.retain(|_, lost| *lost > 0);
        Ok((count, omissions))
    }

    #[test]
    fn unusual_xml_is_read() {
        let plain = r#"<games><game bresult="1"><move>h8 h9 h10</move></game></games>"#;
        assert_eq!(read_counts(plain), Ok((1, Omissions::new())));
        let odd = "<?xml version='1.0'?><!-- <game bresult='1'> --><games>\n\
                   <game id='a>b' bresult = '0'\n alt=''><info>a &amp; b <![CDATA[<move>a1</move>]]></info>\
                   <move><![CDATA[h8 h9]]> h10</move></game><game bresult='1'/></games>";
        let lost: Omissions = [("games_without_moves", 1)].into();
        assert_eq!(read_counts(odd), Ok((2, lost)));
        let own = "<games><game bresult='1'><move>h8 &lt; h9</move></game></games>";
        assert_eq!(read_counts(own), Ok((1, [("games_cut_short", 1)].into())));
    }

    #[test]
    fn rif_is_decoded_by_its_named_encoding() {
        let game =
            "<games><game bresult='1'><move>h8 h9</move><info>caf\u{e9}</info></game></games>";
        let head = "<?xml version=\"1.0\" encoding='ISO-8859-1'?>";
        // Without a known name the bytes tell it.
        for head in [head, &head.replace("ISO-8859-1", "none"), ""] {
            let whole = format!("{head}{game}");
            let bytes: Vec<u8> = whole.chars().map(|letter| letter as u8).collect();
            assert_eq!(text(&bytes), whole);
        }
        let wide: Vec<u8> = format!("\u{feff}{game}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(text(&wide), game);
    }

    #[test]
    fn truncated_or_invalid_xml_is_refused() {
        for (text, why) in [
            (
                "<games><game bresult='1'><move>h8 h9</move></game><game",
                "byte 50",
            ),
            (
                "<games><game bresult='1'><move>h8 h9</move></game>",
                "after 1 whole games",
            ),
            ("<games></game>", "no part of an XML"),
            ("<games/>", "no games"),
            ("h8 h9", "no games"),
        ] {
            assert!(
                read_counts(text)
                    .as_ref()
                    .is_err_and(|error| error.contains(why)),
                "{text}: {:?}",
                read_counts(text)
            );
        }
    }
}
