use std::io::Write as _;
use std::time::Duration;

use console::{Term, truncate_str};
use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use kagetsu_game::{Answer, Move, Notation, Position, Verdict};

use kagetsu_terminal::colours::Colours;
use kagetsu_terminal::echo::EchoOff;
use kagetsu_terminal::table;

/// The template of a bar of positions.
pub(crate) const POSITIONS_DONE: &str = "{bar:40} {pos}/{len} positions, {elapsed}";

/// Returns a bar on stderr, of so many steps if their number is known.
///
/// # Panics
/// If the template is invalid.
pub(crate) fn bar(steps: Option<u64>, template: &str) -> ProgressBar {
    let bar = steps.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.with_style(ProgressStyle::with_template(template).expect("a fixed template"))
}

/// The state of a running analysis.
#[derive(Clone, Debug)]
pub(crate) struct AnalysisState {
    pub(crate) answer: Answer,
    /// Positions visited.
    pub(crate) nodes: u64,
    pub(crate) time: Duration,
    /// The searchers, as in `2 threads`, or the reason why none searches.
    pub(crate) searchers: Result<String, String>,
}

/// The progress of an analysis on stderr: redrawn in place on a terminal, else a line for each
/// change.
pub(crate) struct LiveProgress<'a> {
    position: &'a Position,
    notation: Notation,
    /// The number of best moves to show.
    top: usize,
    bar: ProgressBar,
    paint: Colours,
    /// Whether to write lines where there is no terminal.
    has_lines: bool,
    /// The last line written.
    last: String,
    _keys: EchoOff,
}

impl<'a> LiveProgress<'a> {
    /// Starts the display; `is_quiet` suppresses lines, for output that a program reads.
    #[must_use]
    pub(crate) fn new(
        position: &'a Position,
        notation: Notation,
        top: usize,
        is_quiet: bool,
    ) -> Self {
        let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // A failure to draw has no consequence.
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
            notation,
            top,
            bar,
            paint: Colours::stderr(),
            has_lines,
            last: String::new(),
            _keys: EchoOff::start(),
        }
    }

    /// Sets the number of positions visited so far.
    pub(crate) fn count(&self, nodes: u64) {
        self.bar.set_position(nodes);
    }

    /// Shows the current state.
    ///
    /// # Errors
    /// If stderr is closed.
    pub(crate) fn show(&mut self, shown: &AnalysisState) -> std::io::Result<()> {
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
        self.bar.set_message(format!("{}{best}", searchers(shown)));
        Ok(())
    }

    /// Removes the display and returns the last known number of positions visited.
    pub(crate) fn clear(self) -> u64 {
        self.bar.finish_and_clear();
        self.bar.position()
    }

    fn row(&self, rank: usize, m: Move, verdict: &Verdict, columns: u16) -> String {
        let name = self.position.write_move_in(m, self.notation);
        let value = self
            .paint
            .valued(verdict.score, format!("{:>8}", value(verdict)));
        let line = table::line(self.position, &verdict.line, self.notation);
        let row = format!(
            "{rank:>3}  {name:<4} {value}  depth {:<3} {line}",
            verdict.depth
        );
        format!("\n{}", truncate_str(&row, usize::from(columns), ".."))
    }

    fn write_line(&mut self, shown: &AnalysisState) -> std::io::Result<()> {
        let news = match shown.answer.best() {
            // Until a worker searches, the answer is only the 2-ply search.
            Some((_, verdict)) if shown.searchers.is_ok() => {
                let line = table::line(self.position, &verdict.line, self.notation);
                format!("depth {}  {}  {line}", verdict.depth, value(verdict))
            }
            _ => searchers(shown),
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

/// Writes a count and rate as `1,234,567 nodes  890 k/s`.
fn counts(nodes: u64, time: Duration) -> String {
    let rate = nodes as f64 / time.as_secs_f64().max(1e-3) / 1e3;
    format!(
        "{} nodes  {} k/s",
        HumanCount(nodes),
        HumanCount(rate as u64)
    )
}

/// Writes a score, with the kind of proof for a proven win or loss: `+0.34`, `win in 7 (vcf)`.
fn value(verdict: &Verdict) -> String {
    match verdict.proof {
        Some(proof) => format!("{} ({})", verdict.score, proof.kind),
        None => verdict.score.to_string(),
    }
}

fn searchers(shown: &AnalysisState) -> String {
    match &shown.searchers {
        Ok(searchers) => searchers.clone(),
        Err(why) => waiting(why),
    }
}

/// Tells why a cluster does not search yet, and what to do.
pub(crate) fn waiting(why: &str) -> String {
    // Where workers are connected that play the variant, another one is no remedy.
    let start = if why.contains("connected") {
        "start one with `kagetsu-worker --coordinator URL`, or "
    } else {
        ""
    };
    format!("waiting: {why}; {start}see `kagetsu workers list`")
}
