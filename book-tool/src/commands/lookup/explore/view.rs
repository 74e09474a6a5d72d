use kagetsu_game::{Outcome, Score, Verdict};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, List, ListItem, ListState, Paragraph, Wrap};

use crate::commands::lookup::explore::walk::{TypedText, Walk};
use kagetsu_terminal::table;

/// The rows of notes that are shown.
const MAX_NOTE_ROWS: u16 = 6;
/// The number of best moves marked on the board.
const MAX_MARKED_MOVES: usize = 9;

const KEYS: [(&str, &str); 11] = [
    ("up, down", "choose a move"),
    ("Enter, right", "play it"),
    ("left", "back"),
    ("f", "forward again"),
    ("Home, End", "the start, the end of the line"),
    ("b", "play the book's own choice"),
    ("/", "type moves to play"),
    ("c", "write a comment into the book"),
    ("PageUp, PageDown", "ten moves up, down"),
    ("?", "these keys"),
    ("q", "end"),
];

/// Whether to use colours.
fn has_colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn valued(score: Score) -> Style {
    let style = Style::new();
    match (score.win_plies(), score.loss_plies()) {
        _ if !has_colours() => style,
        (Some(_), _) => style.fg(Color::Green),
        (_, Some(_)) => style.fg(Color::Red),
        _ => style,
    }
}

/// Draws the whole screen and cuts off what does not fit.
pub(crate) fn draw(walk: &Walk, frame: &mut Frame) {
    let [head, middle, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let board = board(walk);
    let width = board.iter().map(Line::width).max().unwrap_or(0) as u16 + 4;
    let is_wide = middle.width >= width + 34;
    let [left, right] = if is_wide {
        Layout::horizontal([Constraint::Length(width), Constraint::Min(30)]).areas(middle)
    } else {
        Layout::vertical([
            Constraint::Length(board.len() as u16 + 2),
            Constraint::Min(4),
        ])
        .areas(middle)
    };
    let rows = (walk.notes.len() as u16).min(MAX_NOTE_ROWS);
    let notes = if rows > 0 { rows + 2 } else { 0 };
    let [moves, notes, tree] = Layout::vertical([
        Constraint::Percentage(55),
        Constraint::Length(notes),
        Constraint::Fill(1),
    ])
    .areas(right);
    frame.render_widget(Paragraph::new(title(walk)), head);
    frame.render_widget(Paragraph::new(board).block(Block::bordered()), left);
    draw_moves(walk, frame, moves);
    draw_tree(walk, frame, tree);
    let words = walk.notes.iter().map(|note| Line::from(note.as_str()));
    let words = Paragraph::new(words.collect::<Vec<_>>()).wrap(Wrap { trim: true });
    frame.render_widget(words.block(Block::bordered().title(" Notes ")), notes);
    frame.render_widget(Paragraph::new(footer(walk)), foot);
    if walk.shows_keys {
        draw_keys(frame);
    }
}

fn title(walk: &Walk) -> Line<'static> {
    let position = walk.position();
    let what = match position.outcome() {
        Some(Outcome::Win(side)) => format!("{side} has won"),
        Some(Outcome::Draw) => "drawn".into(),
        None => format!("{} to move", position.side()),
    };
    let best = walk.best().map(|(m, v)| {
        format!(
            "  best {}, {}, depth {}",
            position.write_move_in(*m, walk.notation),
            table::value(v),
            v.depth
        )
    });
    let moves = walk.last_moves().join(" ");
    let bold = Style::new().add_modifier(Modifier::BOLD);
    Line::from(vec![
        Span::styled(format!("{}  {what}", position.variant()), bold),
        Span::raw(best.unwrap_or_else(|| "  not in the book".into())),
        Span::styled(
            format!("   {moves}"),
            Style::new().add_modifier(Modifier::DIM),
        ),
    ])
}

/// Columns of a row's number on a drawn board of stones.
const LABEL_COLUMNS: usize = 2;

/// Draws the board, with the best moves of gomoku marked by their rank.
fn board(walk: &Walk) -> Vec<Line<'static>> {
    let position = walk.position();
    let ranks = walk
        .verdicts()
        .iter()
        .filter(|(_, v)| v.is_exact())
        .take(MAX_MARKED_MOVES)
        .zip('1'..='9');
    let marks: Vec<_> = ranks.map(|((m, _), mark)| (*m, mark)).collect();
    let mut drawn = position.draw_marked(&marks);
    if drawn.is_empty() {
        let fen = position.fen().unwrap_or_default();
        drawn = fen.split(' ').next().unwrap_or_default().replace('/', "\n");
    }
    let has_stones = position.variant().places_stones();
    let spans = |line: &str| -> Vec<Span<'static>> {
        let label = if has_stones { LABEL_COLUMNS } else { 0 };
        let points = line.chars().skip(label).map(|c| point(c, has_stones));
        let label = line.chars().take(label).collect::<String>();
        std::iter::once(Span::raw(label)).chain(points).collect()
    };
    drawn.lines().map(|line| Line::from(spans(line))).collect()
}

fn point(c: char, has_stones: bool) -> Span<'static> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let colour = |colour| if has_colours() { bold.fg(colour) } else { bold };
    let style = match c {
        'X' if has_stones => colour(Color::Cyan),
        'O' if has_stones => colour(Color::Yellow),
        '1'..='9' if has_stones => colour(Color::Green),
        'A'..='Z' => colour(Color::Red),
        '[' | ']' => bold,
        '.' => Style::new().add_modifier(Modifier::DIM),
        _ => Style::new(),
    };
    Span::styled(c.to_string(), style)
}

fn facts(name: &str, verdict: &Verdict) -> String {
    let proof = verdict.proof.map_or_else(String::new, table::proof);
    let (score, bound) = (table::value(verdict), verdict.bound.to_string());
    format!(
        "{name:<6} {score:>10}  {bound:<5}  depth {:<3} {proof}",
        verdict.depth
    )
}

/// Greys a move of which only an upper bound is known.
fn worth(verdict: &Verdict) -> Style {
    if table::is_only_bounded(verdict) {
        Style::new().add_modifier(Modifier::DIM)
    } else {
        valued(verdict.score)
    }
}

fn draw_moves(walk: &Walk, frame: &mut Frame, area: Rect) {
    let block = Block::bordered().title(format!(" Moves {} ", walk.verdicts().len()));
    if walk.answer.is_none() {
        let text = "The book does not hold this position. Left goes back.";
        frame.render_widget(
            Paragraph::new(text).wrap(Wrap { trim: true }).block(block),
            area,
        );
        return;
    }
    let row = |(m, verdict): &(_, Verdict)| {
        ListItem::new(facts(
            &walk.position().write_move_in(*m, walk.notation),
            verdict,
        ))
        .style(worth(verdict))
    };
    let list = List::new(walk.verdicts().iter().map(row))
        .block(block)
        .highlight_symbol("> ")
        .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = ListState::default().with_selected(Some(walk.chosen));
    frame.render_stateful_widget(list, area, &mut state);
}

fn draw_tree(walk: &Walk, frame: &mut Frame, area: Rect) {
    let chosen = walk
        .verdicts()
        .get(walk.chosen)
        .map(|(m, _)| walk.position().write_move_in(*m, walk.notation));
    let block =
        Block::bordered().title(format!(" After {} ", chosen.unwrap_or_else(|| "…".into())));
    let lines: Vec<Line> = walk.tree.iter().map(|line| Line::from(&**line)).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn footer(walk: &Walk) -> Line<'static> {
    match &walk.typed {
        Some(TypedText::Moves(text)) => {
            return Line::from(format!("play: {text}_   (Enter plays, Esc leaves it)"));
        }
        Some(TypedText::Comment(text)) => {
            return Line::from(format!(
                "comment: {text}_   (Enter writes it, Esc leaves it)"
            ));
        }
        None => {}
    }
    match &walk.complaint {
        Some(complaint) => {
            Line::styled(complaint.clone(), Style::new().add_modifier(Modifier::BOLD))
        }
        None => Line::styled(
            "arrows choose, Enter plays, left goes back, / types, ? keys, q ends",
            Style::new().add_modifier(Modifier::DIM),
        ),
    }
}

fn draw_keys(frame: &mut Frame) {
    let whole = frame.area();
    let (width, height) = (whole.width.min(52), whole.height.min(KEYS.len() as u16 + 2));
    let area = Rect {
        x: (whole.width - width) / 2,
        y: (whole.height - height) / 2,
        width,
        height,
    };
    let lines: Vec<Line> = KEYS
        .iter()
        .map(|(key, does)| Line::from(format!(" {key:<18} {does}")))
        .collect();
    frame.render_widget(Clear, area);
    frame.render_widget(
        Paragraph::new(lines).block(Block::bordered().title(" Keys ")),
        area,
    );
}

#[cfg(test)]
mod tests {
    use kagetsu_book::{Book, BookOptions};
    use kagetsu_game::{Answer, Notation, Position, Variant};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;
    use crate::commands::lookup::explore::walk::WalkStep;
    use kagetsu_proto::Access;
    use kagetsu_reader::Source;

    /// Returns a book in which Black's best move after h8 i9 is h10, and White's best reply is j10.
    fn book(folder: &std::path::Path) -> Source {
        let options = BookOptions::creating();
        let (mut book, _) = Book::open(folder, &options).expect("a new book");
        for (line, moves) in [
            ("h8 i9", [("h10", 30), ("g9", 12)]),
            ("h8 i9 h10", [("j10", -30), ("i8", -40)]),
        ] {
            let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
            let verdict = |(name, score): (&str, i32)| {
                let m = position.parse_move(name).expect("legal");
                kagetsu_builders::opinion(m, score)
            };
            let answer: Answer = moves.into_iter().map(verdict).collect();
            book.learn(&position, &answer).expect("room for it");
        }
        drop(book);
        kagetsu_reader::open_files(folder).expect("the new book")
    }

    fn named(folder: &std::path::Path) -> (String, Access) {
        let name = folder.to_str().expect("a plain name");
        (name.into(), Access::default())
    }

    fn screen(walk: &Walk, width: u16, height: u16) -> String {
        let mut terminal =
            Terminal::new(TestBackend::new(width, height)).expect("a screen in memory");
        terminal
            .draw(|frame| draw(walk, frame))
            .expect("a screen in memory");
        terminal.backend().to_string()
    }

    fn press(walk: &mut Walk, code: KeyCode) -> WalkStep {
        walk.press(KeyEvent::new(code, KeyModifiers::NONE))
            .expect("a whole book")
    }

    #[test]
    fn explorer_walks_through_the_book() {
        let folder = tempfile::tempdir().expect("a folder");
        let start = Position::from_line(Variant::FREESTYLE_15, "h8 i9").expect("legal");
        let mut walk = Walk::new(
            book(folder.path()),
            named(folder.path()),
            start,
            Notation::Engine,
        )
        .expect("a whole book");
        let seen = screen(&walk, 110, 30);
        for words in [
            "first to move",
            "best h10, +0.30",
            "> h10",
            "After h10",
            "j10",
            "[O]",
        ] {
            assert!(seen.contains(words), "{words} in\n{seen}");
        }
        // Marks are coloured, and the numbers of rows are not.
        let rows = board(&walk);
        assert_eq!(rows[0].spans[0], Span::raw("15"));
        let marks = rows
            .iter()
            .flat_map(|row| &row.spans)
            .filter(|span| span.content == "1");
        assert_eq!(marks.filter(|span| span.style != Style::new()).count(), 1);
        press(&mut walk, KeyCode::Down);
        assert!(screen(&walk, 110, 30).contains("After g9"));
        press(&mut walk, KeyCode::Up);
        press(&mut walk, KeyCode::Enter);
        assert!(screen(&walk, 110, 30).contains("second to move"));
        press(&mut walk, KeyCode::Char('b'));
        assert!(screen(&walk, 110, 30).contains("does not hold"));
        press(&mut walk, KeyCode::Left);
        press(&mut walk, KeyCode::Left);
        assert_eq!(walk.position().moves().len(), 2);
        press(&mut walk, KeyCode::End);
        assert_eq!(walk.position().moves().len(), 4);
        press(&mut walk, KeyCode::Home);
        assert_eq!(walk.position().moves().len(), 0);
        for c in "/h8 i9 q99".chars() {
            press(&mut walk, KeyCode::Char(c));
        }
        press(&mut walk, KeyCode::Enter);
        assert!(screen(&walk, 110, 30).contains("q99"), "the error is shown");
        for c in "/h8 i9".chars() {
            press(&mut walk, KeyCode::Char(c));
        }
        press(&mut walk, KeyCode::Enter);
        assert_eq!(walk.position().moves().len(), 2);
        for c in "cquiet".chars() {
            press(&mut walk, KeyCode::Char(c));
        }
        press(&mut walk, KeyCode::Enter);
        let seen = screen(&walk, 110, 30);
        assert!(seen.contains("  quiet"), "not in the book: {seen}");
        press(&mut walk, KeyCode::Char('?'));
        assert!(screen(&walk, 110, 30).contains("these keys"));
        assert_eq!(press(&mut walk, KeyCode::Esc), WalkStep::On);
        assert_eq!(press(&mut walk, KeyCode::Char('q')), WalkStep::End);
    }

    #[test]
    fn no_screen_is_too_small_and_every_game_has_a_board() {
        for (name, variant, words) in [
            ("xiangqi", Variant::XIANGQI, "R  N  B  A  K"),
            ("surakarta", Variant::SURAKARTA, "first to move"),
            (
                "gomoku",
                Variant::Gomoku {
                    rule: kagetsu_game::RuleName::Renju,
                    size: 22,
                },
                "22",
            ),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let walk = Walk::new(
                book(folder.path()),
                named(folder.path()),
                Position::start(variant),
                Notation::Engine,
            )
            .expect("a whole book");
            assert!(
                screen(&walk, 120, 40).contains(words),
                "{name}\n{}",
                screen(&walk, 120, 40)
            );
            for (width, height) in [(1, 1), (20, 5), (40, 60), (300, 3)] {
                let _ = screen(&walk, width, height);
            }
        }
    }
}
