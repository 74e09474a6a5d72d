//! The text of PGN, split into games: tags, then words, comments and variations.

use crate::games::words::result_of;
use crate::omissions::Omissions;
use kagetsu_game::Variant;
use kagetsu_games::GameResult;

/// The characters of a move on a Chinese score sheet.
const ENTRY_LENGTH: usize = 4;

/// The text of a game.
#[derive(Default)]
pub(crate) struct PgnGame {
    /// Names and values of the tags, with their lines.
    pub(crate) tags: Vec<(String, String, usize)>,
    pub(crate) tokens: Vec<PgnToken>,
    /// Words that are neither a result nor a number.
    words: usize,
    /// Whether its result was read; whatever follows is of another game.
    is_over: bool,
}

/// A part of the moves of a game.
pub(crate) enum PgnToken {
    /// A word that should be a move, and its line.
    Word(String, usize),
    Result(GameResult),
    /// The number of a mark, as in `$1`.
    Mark(String),
    Comment(String),
    /// The begin of a variation.
    Open,
    /// The end of a variation.
    Close,
}

impl PgnGame {
    /// Returns the value of a tag and its line; `?` is none.
    pub(crate) fn tag(&self, wanted: &str) -> Option<(&str, usize)> {
        let mut tags = self.tags.iter();
        let (_, value, line) = tags.rfind(|(name, ..)| name.eq_ignore_ascii_case(wanted))?;
        Some((&**value, *line)).filter(|(text, _)| *text != "?" && !text.is_empty())
    }

    /// Returns the first word that should be a move, and its line.
    pub(crate) fn first_word(&self) -> Option<(&str, usize)> {
        self.words().next()
    }

    fn words(&self) -> impl Iterator<Item = (&str, usize)> {
        self.tokens.iter().filter_map(|token| match token {
            PgnToken::Word(word, line) => Some((&**word, *line)),
            _ => None,
        })
    }

    /// Returns a move that only chess on 8x8 has, and its line, if the game has its notation. A
    /// game without an opening of chess in its tags must also have a word that cannot be read.
    pub(crate) fn of_chess(&self, is_cut: bool) -> Option<(&str, usize)> {
        let is_named = self.tag("ECO").is_some();
        let moves = self
            .words()
            .filter(|(word, _)| is_move_of_chess(word))
            .count();
        // Some programs write `e.p.` behind a move.
        let is_chess = (is_cut || is_named) && moves > 0 && moves * 10 >= self.words * 9;
        let has_piece = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase() || c == '0');
        let found = self.words().find(|(word, _)| is_named || has_piece(word));
        found.filter(|_| is_chess)
    }

    /// Whether all moves are a letter and a number.
    pub(crate) fn has_points(&self) -> bool {
        let is_point = |word: &str| {
            let number = word.strip_prefix(|c: char| c.is_ascii_alphabetic());
            number.is_some_and(|number| number.parse::<u8>().is_ok())
        };
        self.words()
            .all(|(word, _)| is_point(word) || matches!(word, "black" | "white"))
    }

    fn is_begun(&self) -> bool {
        self.words > 0 || self.is_over
    }
}

/// Reads a text letter by letter.
#[derive(Default)]
struct PgnReader {
    games: Vec<PgnGame>,
    game: PgnGame,
    /// The comment that is being read, and the letter that ends it.
    comment: Option<(String, char)>,
    depth: u32,
    word: String,
    line: usize,
    omissions: Omissions,
}

/// Splits a text into games.
pub(crate) fn split(text: &str) -> (Vec<PgnGame>, Omissions) {
    let mut reader = PgnReader::default();
    for (number, line) in (1..).zip(text.lines()) {
        reader.line = number;
        reader.add_line(line);
    }
    let is_open = reader.comment.is_some() || reader.depth > 0;
    if let Some((text, _)) = reader.comment.take() {
        reader.add_comment(text);
    }
    reader
        .omissions
        .omit("comments_and_variations_without_an_end", is_open.into());
    if reader.game.is_begun() || !reader.game.tags.is_empty() {
        reader.next_game();
    }
    (reader.games, reader.omissions)
}

impl PgnReader {
    fn next_game(&mut self) {
        self.games.push(std::mem::take(&mut self.game));
    }

    fn add_line(&mut self, line: &str) {
        let mut rest = line;
        if self.comment.is_none() && self.depth == 0 {
            if line.starts_with('%') {
                return;
            }
            while let Some((name, value, after)) = tag(rest.trim_start()) {
                if self.game.is_begun() {
                    self.next_game();
                }
                self.game.tags.push((name.into(), value.into(), self.line));
                rest = after;
            }
        }
        for (at, letter) in rest.char_indices() {
            if let Some((text, end)) = &mut self.comment {
                if letter == *end {
                    let text = std::mem::take(text);
                    self.comment = None;
                    self.add_comment(text);
                } else {
                    text.push(letter);
                }
                continue;
            }
            match letter {
                // Full-width brackets are used in Chinese sentences.
                '{' | '（' | '【' => {
                    self.end_word();
                    let end = match letter {
                        '{' => '}',
                        '（' => '）',
                        _ => '】',
                    };
                    self.comment = Some((String::new(), end));
                }
                ';' => {
                    self.end_word();
                    self.add_comment(rest[at + 1..].into());
                    break;
                }
                '(' => {
                    self.end_word();
                    self.depth += 1;
                    self.game.tokens.push(PgnToken::Open);
                }
                ')' if self.depth > 0 => {
                    self.end_word();
                    self.depth -= 1;
                    self.game.tokens.push(PgnToken::Close);
                }
                letter => match ascii(letter) {
                    ' ' | ',' => self.end_word(),
                    letter if letter.is_whitespace() => self.end_word(),
                    letter => self.word.push(letter),
                },
            }
        }
        self.end_word();
        if let Some((text, _)) = &mut self.comment {
            text.push(' ');
        }
    }

    fn add_comment(&mut self, text: String) {
        self.game.tokens.push(PgnToken::Comment(text));
    }

    /// Takes the word that was read.
    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let result = Some(&*word).filter(|word| is_result(word));
        if let Some(result) = result.and_then(|word| result_of(word, Variant::XIANGQI)) {
            if self.depth == 0 {
                self.game.tokens.push(PgnToken::Result(result));
                self.game.is_over = true;
            }
            return;
        }
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = word.split_at(digits);
        let bare = rest.trim_start_matches(['.', '、', '…', ':', '。', ')']);
        let is_number = !number.is_empty() && (bare.len() < rest.len() || rest.is_empty());
        if is_number && number == "1" && !rest.starts_with("..") && !rest.starts_with('…') {
            // A game without a result ends where the next one begins.
            self.begin_word(true);
        }
        let word = if is_number || number.is_empty() {
            bare
        } else {
            &*word
        };
        if let Some(mark) = word.strip_prefix('$') {
            self.game.tokens.push(PgnToken::Mark(mark.into()));
            return;
        }
        let is_line = word.trim_matches(['=', '-', '*', '_', '~']).is_empty();
        if word.is_empty() || is_line {
            return;
        }
        self.begin_word(false);
        let letters: Vec<char> = word.chars().collect();
        let is_run = !word.is_ascii() && letters.len().is_multiple_of(ENTRY_LENGTH);
        let length = if is_run { ENTRY_LENGTH } else { letters.len() };
        for part in letters.chunks(length) {
            self.game.words += 1;
            let word = PgnToken::Word(part.iter().collect(), self.line);
            self.game.tokens.push(word);
        }
    }

    /// Begins another game where the present one is over.
    fn begin_word(&mut self, is_first: bool) {
        let is_next = is_first && self.game.words > 1;
        if self.depth == 0 && (self.game.is_over || is_next) {
            self.next_game();
        }
    }
}

/// Reads the name and value of a tag, `[Result "1-0"]`, and returns the rest of the line.
fn tag(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.strip_prefix('[')?.split_once([' ', '\t'])?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) || name.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let rest = rest.trim_start();
    let (value, rest) = match rest
        .strip_prefix('"')
        .and_then(|rest| rest.split_once("\"]"))
    {
        Some(found) => found,
        None => rest.split_once(']')?,
    };
    Some((name, value.trim().trim_matches('"').trim(), rest))
}

/// Whether a word is a result and nothing else.
fn is_result(word: &str) -> bool {
    const LATIN: [&str; 9] = [
        "1-0", "0-1", "1/2-1/2", "1/2", "½-½", "*", "0.5-0.5", "1:0", "0:1",
    ];
    // 红胜, 黑先胜, 红方胜; a move has a direction.
    let is_chinese = word.chars().count() <= 5
        && word.contains(['胜', '勝', '负', '負', '和', '棋'])
        && word.contains(['红', '紅', '黑', '和', '先'])
        && !word.contains(['进', '進', '退']);
    LATIN.contains(&word) || is_chinese
}

/// Whether a word is a move in the notation of chess on 8x8, without a piece that only xiangqi has.
fn is_move_of_chess(word: &str) -> bool {
    let word = word.trim_end_matches(['+', '#', '!', '?']);
    if word.starts_with("O-O") || word.starts_with("0-0") {
        return true;
    }
    let word = word.split_once('=').map_or(word, |(word, _)| word);
    let name = |c: char| c.is_ascii_uppercase() && !"ACEHP".contains(c);
    let squares = word
        .strip_prefix(name)
        .unwrap_or(word)
        .replace(['x', '-'], "");
    let is_file = |c: &u8| (b'a'..=b'h').contains(c);
    let is_rank = |c: &u8| (b'1'..=b'8').contains(c);
    match squares.as_bytes() {
        [file, rank] => is_file(file) && is_rank(rank),
        [from, file, rank] => (is_file(from) || is_rank(from)) && is_file(file) && is_rank(rank),
        _ => false,
    }
}

/// Replaces full-width letters by ASCII.
fn ascii(letter: char) -> char {
    match u32::from(letter) {
        // A full-width semicolon separates moves in Chinese.
        0xff1b => ' ',
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(letter),
        0x3000 => ' ',
        _ => letter,
    }
}
