use std::io::Write as _;
use std::time::Duration;

use console::{Term, truncate_str};
use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use kagetsu_game::{Answer, Move, Position, Verdict};

use crate::output::colours::Paint;
use crate::output::table;
use crate::output::terminal::Unechoed;

/// What a person sees of an analysis while it goes on.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) answer: Answer,
    /// Positions visited.
    pub(crate) nodes: u64,
    pub(crate) time: Duration,
    /// Who searches, as in `2 threads`; or why nobody does.
    pub(crate) who: Result<String, String>,
}

/// An analysis on stderr: redrawn in place on a terminal; without one, a line whenever there is news.
pub(crate) struct Live<'a> {
    position: &'a Position,
    /// How many best moves are shown.
    top: usize,
    bar: ProgressBar,
    paint: Paint,
    /// Whether lines are written where there is no terminal.
    has_lines: bool,
    /// The last line.
    last: String,
    _keys: Unechoed,
}

impl<'a> Live<'a> {
    /// Begins to show; `is_quiet` is for who reads a program's output with a program.
    #[must_use]
    pub(crate) fn new(position: &'a Position, top: usize, is_quiet: bool) -> Self {
        let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // A view that cannot be written is not seen either.
            let _ = write!(
                out,
                "{:.1} s  {}",
                state.elapsed().as_secs_f64(),
                counts(state.pos(), state.elapsed())
            );
        };
        let style =
            ProgressStyle::with_template("{spinner} {counts}  {msg}").expect("a fixed template");
        let bar = ProgressBar::no_length().with_style(style.with_key("counts", rate));
        bar.enable_steady_tick(Duration::from_millis(100));
        let has_lines = !is_quiet && bar.is_hidden();
        Self {
            position,
            top,
            bar,
            paint: Paint::stderr(),
            has_lines,
            last: String::new(),
            _keys: Unechoed::new(),
        }
    }

    /// The number of positions visited by now.
    pub(crate) fn count(&self, nodes: u64) {
        self.bar.set_position(nodes);
    }

    /// What is known by now.
    ///
    /// # Errors
    /// If nobody reads it.
    pub(crate) fn show(&mut self, shown: &Shown) -> std::io::Result<()> {
        self.count(shown.nodes);
        if self.has_lines {
            return self.write_line(shown);
        }
        let (rows, columns) = Term::stderr().size();
        let top = self.top.min(usize::from(rows).saturating_sub(2));
        let best = shown.answer.verdicts().iter().take(top).zip(1..);
        let best: String = best
            .map(|((m, verdict), rank)| self.row(rank, *m, verdict, columns))
            .collect();
        self.bar.set_message(format!("{}{best}", who(shown)));
        Ok(())
    }

    /// Leaves the terminal as it was. Gives the number of positions visited, as far as it was heard of.
    pub(crate) fn clear(self) -> u64 {
        self.bar.finish_and_clear();
        self.bar.position()
    }

    fn row(&self, rank: usize, m: Move, verdict: &Verdict, columns: u16) -> String {
        let name = self.position.write_move(m);
        let value = self
            .paint
            .valued(verdict.score, format!("{:>8}", value(verdict)));
        let line = table::line(self.position, &verdict.line);
        let row = format!(
            "{rank:>3}  {name:<4} {value}  depth {:<3} {line}",
            verdict.depth
        );
        format!("\n{}", truncate_str(&row, usize::from(columns), ".."))
    }

    fn write_line(&mut self, shown: &Shown) -> std::io::Result<()> {
        let news = match shown.answer.best() {
            // Before anybody can work on it there is but the 2-ply search.
            Some((_, verdict)) if shown.who.is_ok() => {
                let line = table::line(self.position, &verdict.line);
                format!("depth {}  {}  {line}", verdict.depth, value(verdict))
            }
            _ => who(shown),
        };
        if news == self.last {
            return Ok(());
        }
        let seconds = shown.time.as_secs_f64();
        writeln!(
            std::io::stderr(),
            "{seconds:.1} s  {}  {news}",
            counts(shown.nodes, shown.time)
        )?;
        self.last = news;
        Ok(())
    }
}

/// `1,234,567 nodes  890 k/s`.
fn counts(nodes: u64, time: Duration) -> String {
    let rate = nodes as f64 / time.as_secs_f64().max(1e-3) / 1e3;
    format!(
        "{} nodes  {} k/s",
        HumanCount(nodes),
        HumanCount(rate as u64)
    )
}

/// The score, and how it was proven where it is a forced win or loss: `+0.34`, `win in 7 (vcf)`.
fn value(verdict: &Verdict) -> String {
    match verdict.proof {
        Some(proof) => format!("{} ({})", verdict.score, proof.kind),
        None => verdict.score.to_string(),
    }
}

fn who(shown: &Shown) -> String {
    match &shown.who {
        Ok(who) => who.clone(),
        Err(why) => waiting(why),
    }
}

/// What somebody who waits for a cluster is to know, and to do.
pub(crate) fn waiting(why: &str) -> String {
    format!(
        "waiting: {why}; start one with `kagetsu-worker --coordinator URL`, or see `kagetsu workers list`"
    )
}
