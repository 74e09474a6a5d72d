use std::io::{BufRead, Write};
use std::path::PathBuf;

use anyhow::Result;
use kagetsu_book::Choice;
use kagetsu_game::{Move, Notation, Outcome, Position, Side, Verdict};
use kagetsu_program::Exit;
use kagetsu_reader::Source;

use super::practised::PractisedFile;
use crate::arguments::query::BookPosition;
use crate::commands::verdict_on;
use kagetsu_terminal::table;

/// Trains the lines of a book, which plays one side and asks for the other
///
/// A move counts as right if it is at most --margin centi-units worse than the book's best. Type a
/// move, `?` to see the book's moves, `back` to take back, or `end`. The book's replies are chosen
/// at random among its good moves, so that each run asks other lines.
///
/// A position comes again after 1, 3, 7, 16, 35 and 90 days of right answers in a row, and the day
/// after a wrong one: --due asks those that are due. The page saves and reads the same file.
///
/// Example: kagetsu practice --book h8.book --variant freestyle-15 --moves h8
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    book_position: BookPosition,
    /// The most centi-units that a right move is worse than the best
    #[arg(long, default_value_t = 20, value_name = "N")]
    margin: u16,
    /// Loss of value, in centi-units, that makes a reply of the book e times less likely
    #[arg(long, default_value_t = 20.0, value_name = "T", value_parser = kagetsu_brain::temperature)]
    temperature: f64,
    /// Seed of the random generator
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Asks the positions that are due, each with one move
    #[arg(long)]
    due: bool,
    /// File of the answers [default: kagetsu/practice.json in the folder of the user's data]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(crate) fn run(mut args: Args, out: &mut dyn Write) -> Result<Exit> {
    let side = args.book_position.place.take_side();
    let (position, reader) = args.book_position.open()?;
    let answers = PractisedFile::open(args.file.as_deref())?;
    let due = answers.due(position.variant());
    let mut practice = Practice {
        reader: &reader,
        args: &args,
        side: side.unwrap_or_else(|| position.side()),
        notation: args.book_position.place.notation,
        line: vec![position],
        answers,
        due: if args.due { due } else { Vec::new() },
        is_tried: false,
        total: 0,
        right: 0,
    };
    if args.due && !practice.goes_to_due() {
        writeln!(out, "no position is due")?;
        return Ok(Exit::No);
    }
    let mut input = std::io::stdin().lock();
    let ended = practice.ask_all(&mut input, out)?;
    writeln!(
        out,
        "{} of {} moves were right",
        practice.right, practice.total
    )?;
    Ok(ended)
}

/// A run through the book.
struct Practice<'a> {
    reader: &'a Source,
    args: &'a Args,
    /// The side that the user plays.
    side: Side,
    notation: Notation,
    /// The positions so far; the last one is on the board.
    line: Vec<Position>,
    answers: PractisedFile,
    /// The positions that are due, the next one last.
    due: Vec<Position>,
    /// Whether the user has given a wrong move in the position.
    is_tried: bool,
    /// The moves that the user has given, and the right ones among them.
    total: u32,
    right: u32,
}

impl Practice<'_> {
    fn ask_all(&mut self, input: &mut dyn BufRead, out: &mut dyn Write) -> Result<Exit> {
        let mut is_first = true;
        loop {
            // A due position is asked for one move.
            if self.args.due && self.line.len() > 1 && !self.goes_to_due() {
                return Ok(Exit::Done);
            }
            let position = self.position().clone();
            if let Some(outcome) = position.outcome() {
                let end = match outcome {
                    Outcome::Win(side) => format!("{side} has won"),
                    Outcome::Draw => "the game is drawn".into(),
                };
                writeln!(out, "{end}")?;
                return Ok(Exit::Done);
            }
            let answer = self.reader.lookup(&position)?.unwrap_or_default();
            let Some(best) = Choice::default().pick(&answer).cloned() else {
                writeln!(out, "the book ends here")?;
                return Ok(Exit::passed(!is_first));
            };
            is_first = false;
            if position.side() != self.side {
                let choice = Choice {
                    temperature: self.args.temperature,
                    seed: self.args.seed.map(|seed| seed + self.line.len() as u64),
                    min_depth: 0,
                    margin: Some(self.args.margin),
                };
                let (reply, verdict) = choice.pick(&answer).cloned().unwrap_or(best);
                let value = table::value(&verdict);
                writeln!(out, "the book plays {}, value {value}", self.name(reply))?;
                self.line.push(position.play(reply)?);
                continue;
            }
            write!(out, "{}{}, your move: ", position.draw(), position.side())?;
            out.flush()?;
            let mut typed = String::new();
            if input.read_line(&mut typed)? == 0 {
                writeln!(out)?;
                return Ok(Exit::Done);
            }
            match typed.trim() {
                "" => {}
                "end" | "quit" | "q" => return Ok(Exit::Done),
                "?" => {
                    let top = 5;
                    table::write_answer(out, &position, &answer, top, self.notation)?;
                }
                "back" => self.take_back(),
                text => match position.parse_move(text) {
                    Err(error) => writeln!(out, "{error}")?,
                    Ok(m) => self.judge(m, &best, verdict_on(&position, &answer, m), out)?,
                },
            }
        }
    }

    fn position(&self) -> &Position {
        self.line.last().expect("the first position stays")
    }

    fn name(&self, m: Move) -> String {
        self.position().write_move_in(m, self.notation)
    }

    /// Goes to the next position that is due; false if there is none.
    fn goes_to_due(&mut self) -> bool {
        let Some(next) = self.due.pop() else {
            return false;
        };
        self.side = next.side();
        self.line = vec![next];
        true
    }

    /// Goes back to the last position in which the user gave a move.
    fn take_back(&mut self) {
        while self.line.len() > 1 {
            self.line.pop();
            if self.position().side() == self.side {
                break;
            }
        }
    }

    /// Rates a move, and plays it if it is right.
    fn judge(
        &mut self,
        m: Move,
        (best, best_verdict): &(Move, Verdict),
        verdict: Option<&Verdict>,
        out: &mut dyn Write,
    ) -> Result<()> {
        self.total += 1;
        let loss = verdict
            .map(|verdict| i32::from(best_verdict.score.raw()) - i32::from(verdict.score.raw()));
        let is_right = m == *best || loss.is_some_and(|loss| loss <= i32::from(self.args.margin));
        if !self.is_tried {
            let at = self.line.last().expect("the first position stays");
            self.answers.record(at, is_right)?;
        }
        self.is_tried = !is_right;
        if is_right {
            self.right += 1;
            writeln!(out, "right: {}", self.name(m))?;
            let next = self.position().play(m)?;
            self.line.push(next);
            return Ok(());
        }
        let assessment = match verdict {
            None => "is not in the book".to_string(),
            Some(verdict) if table::is_only_bounded(verdict) => {
                format!("is worth at most {}", verdict.score)
            }
            Some(verdict) => format!("is worth {}", verdict.score),
        };
        let value = match best_verdict.is_silent() {
            true => String::new(),
            false => format!("; the best is worth {}", best_verdict.score),
        };
        let name = self.name(m);
        writeln!(out, "{name} {assessment}{value}. Try again, or type ?")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kagetsu_book::{Book, BookOptions};
    use kagetsu_game::{Answer, Variant};

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: Args,
    }

    fn small_book(folder: &std::path::Path) {
        let options = BookOptions::creating();
        let (mut book, _) = Book::open(folder, &options).expect("a new book");
        let lines = [
            ("h8", vec![("i9", 30), ("h9", -50)]),
            ("h8 i9", vec![("h10", 10)]),
        ];
        for (line, moves) in lines {
            let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
            let answer: Answer = moves
                .into_iter()
                .map(|(name, score)| {
                    let m = position.parse_move(name).expect("legal");
                    kagetsu_builders::opinion(m, score)
                })
                .collect();
            book.learn(&position, &answer).expect("room for it");
        }
        book.close().expect("room for it");
    }

    #[test]
    fn right_and_wrong_moves_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let book = folder.path().join("book");
        small_book(&book);
        let book = book.to_str().expect("a plain name");
        let line = format!("practice --book {book} --variant freestyle-15 --moves h8");
        let file = folder.path().join("data/practice.json");
        let mut args = Program::parse_from(line.split(' ')).args;
        args.file = Some(file.clone());
        let (position, reader) = args.book_position.open().expect("a book");
        let answers = PractisedFile::open(Some(&file)).expect("no file");
        let mut practice = Practice {
            reader: &reader,
            args: &args,
            side: position.side(),
            notation: Notation::Engine,
            line: vec![position.clone()],
            answers,
            due: Vec::new(),
            is_tried: false,
            total: 0,
            right: 0,
        };
        let mut out = Vec::new();
        let mut typed = &b"z99\nh9\na1\n?\ng9\n"[..];
        practice
            .ask_all(&mut typed, &mut out)
            .expect("a whole book");
        let output = String::from_utf8(out).expect("text");
        for words in [
            "z99",
            "h9 is worth -0.50; the best is worth -0.10",
            "a1 is not in the book",
            "right: g9",
            "the book plays h10, value +0.10",
            "the book ends here",
        ] {
            assert!(output.contains(words), "no '{words}' in {output}");
        }
        assert_eq!((practice.total, practice.right), (3, 1));
        // The first answer counts: the position comes again tomorrow.
        let written = std::fs::read_to_string(&file).expect("it was written");
        assert!(
            written.contains(r#""moves":"h8","side":"second","row":0,"#),
            "{written}"
        );
        assert_eq!(practice.answers.due(Variant::FREESTYLE_15), []);
        let (_, due) = written.rsplit_once(':').expect("a day");
        let yesterday = format!("{}1}}}}", written.trim_end_matches(due));
        std::fs::write(&file, yesterday).expect("room");
        let mut answers = PractisedFile::open(Some(&file)).expect("our own");
        assert_eq!(
            answers.due(Variant::FREESTYLE_15),
            std::slice::from_ref(&position)
        );
        for row in [1, 2] {
            answers.record(&position, true).expect("room");
            let written = std::fs::read_to_string(&file).expect("it was written");
            assert!(written.contains(&format!("\"row\":{row},")), "{written}");
        }
    }
}
