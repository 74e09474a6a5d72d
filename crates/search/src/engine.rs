use kagetsu_game::{Answer, Effort, Position, Question, Variant, with_rule};

use crate::alphabeta::table::TranspositionTable;
use crate::gomoku::{Board, TemplateMemory};
use crate::root::RootSearch;
use crate::threats::ClaimStrategy;
use crate::{Control, EngineError, EngineOptions, Progress, surakarta, xiangqi};

/// Answers questions, one after another. Keeps its threads and the memory of its table, but no
/// knowledge from one question to the next, unless it [plays a game](Engine::with_kept_table), or
/// is asked whether every move loses.
#[derive(Debug)]
pub struct Engine {
    options: EngineOptions,
    table: TranspositionTable,
    pool: Option<rayon::ThreadPool>,
    keeps_table: bool,
    /// The variant of the last question.
    variant: Option<Variant>,
    /// Proofs that beat replies of earlier positions.
    pub(crate) memory: TemplateMemory,
    /// The strategies of the last answer, where they are wanted.
    pub(crate) strategies: Option<Vec<ClaimStrategy>>,
}

impl Engine {
    /// Name and version of the engine.
    pub const NAME: &'static str = crate::root::provenance::NAME;

    /// Returns an engine with its table and threads.
    ///
    /// # Errors
    /// [`EngineError::NoThreads`] for zero threads, [`EngineError::Threads`] and
    /// [`EngineError::Table`] if the system lacks threads or memory.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let pool = match options.threads {
            0 => return Err(EngineError::NoThreads),
            1 => None,
            threads => Some(pool(threads)?),
        };
        let table = TranspositionTable::of(options.table_bytes)
            .ok_or(EngineError::Table(options.table_bytes))?;
        Ok(Self {
            options,
            table,
            pool,
            keeps_table: false,
            variant: None,
            memory: TemplateMemory::default(),
            strategies: None,
        })
    }

    /// Lets each question use the table of the earlier ones about the same variant, as in a game,
    /// where a position was searched already with the moves before it. Answers then depend on what
    /// was asked before.
    #[must_use]
    pub fn with_kept_table(mut self) -> Self {
        self.keeps_table = true;
        self
    }

    /// Sets whether the engine keeps the strategies behind the claims of its answers, which takes
    /// up to a third of the time; by default it does not.
    pub fn want_strategies(&mut self, are_wanted: bool) {
        self.strategies = are_wanted.then(Vec::new);
    }

    /// Takes the strategies behind the claims of the last answer. In gomoku those of a question
    /// whose window asks for a proof, as far as they are found again; none for other questions.
    pub fn take_strategies(&mut self) -> Vec<ClaimStrategy> {
        self.strategies
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    pub(crate) fn keep_strategies(&mut self, found: impl IntoIterator<Item = ClaimStrategy>) {
        if let Some(kept) = &mut self.strategies {
            *kept = found.into_iter().collect();
        }
    }

    /// Sets the most stones of end tables that searches use; 0 for none.
    pub fn limit_end_tables(&mut self, pieces: u8) {
        self.options.end_tables = pieces;
    }

    /// Lets the next question begin with an empty table, as at the start of a game.
    pub fn clear_table(&mut self) {
        self.variant = None;
    }

    /// Prepares the table for the next question.
    fn begin(&mut self, variant: Variant) {
        if self.variant.replace(variant) == Some(variant) && self.keeps_table {
            self.table.proceed();
        } else {
            self.table.begin();
        }
    }

    /// Whether [`Engine::answer`] supports the variant.
    #[must_use]
    pub const fn supports(variant: Variant) -> bool {
        matches!(
            variant,
            Variant::Gomoku { .. } | Variant::Xiangqi { .. } | Variant::Surakarta { .. }
        )
    }

    /// Searches until the effort is spent, the value is proven, or `control` stops the search.
    ///
    /// Each searched move has a verdict. The best `width` moves have exact values; the others have
    /// an upper bound that is not above the last of these. `progress` is called after every
    /// iteration. A finished game gives an empty answer; any other position has at least one
    /// verdict. With one thread and an effort in depth or nodes, the same question gives the same
    /// answer, whatever was asked before, unless the table is kept.
    ///
    /// A window with no value above a loss asks whether every move loses. In gomoku the search then
    /// looks for continuous threats after each legal move, up to symmetry. Each move gets an even
    /// share of the nodes, or less where several moves resist; each gets an exact value or a proof.
    /// Proofs of earlier such answers are tried first, so the answer depends on them.
    ///
    /// A window with no value below a win asks which move wins. In gomoku the search then looks for
    /// a VCT with a tenth of the nodes, and otherwise for moves that threaten one. Their opinions
    /// estimate the rest of the proof: ten centi-units for each open reply; from -2000 on the move
    /// makes no threat.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`], [`EngineError::IllegalMove`].
    pub fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        self.keep_strategies([]);
        if let Some(answer) = self.settle(question, control, progress)? {
            return Ok(answer);
        }
        self.begin(question.position.variant());
        self.run(question, true, control, progress)
    }

    /// Searches a question that several engines search at the same time, each of them all of it.
    /// Works as [`Engine::answer`], but `control` [sends](Control::take_outgoing) notes to the
    /// others and [receives](Control::receive) theirs. Only engine `number` 0 looks for a win by
    /// threats first; `of` is the number of engines. The answer depends on the notes received and
    /// on their timing.
    ///
    /// # Errors
    /// As for [`Engine::answer`].
    pub fn share(
        &mut self,
        question: &Question,
        (number, of): (u32, u32),
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        self.keep_strategies([]);
        if let Some(answer) = self.settle(question, control, progress)? {
            return Ok(answer);
        }
        control.share(number, of);
        self.begin(question.position.variant());
        self.run(question, number == 0, control, progress)
    }

    fn run(
        &self,
        question: &Question,
        is_first: bool,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        let (options, table, pool) = (&self.options, &self.table, self.pool.as_ref());
        let search = RootSearch {
            question,
            is_first,
            options,
            table,
            pool,
            control,
        };
        match question.position.variant() {
            Variant::Gomoku { rule, .. } => with_rule!(rule, R => search.run::<Board<R>>(progress)),
            Variant::Xiangqi { .. } => search.run::<xiangqi::Board>(progress),
            Variant::Surakarta { .. } => search.run::<surakarta::Board>(progress),
        }
    }
}

/// Runs the 2-ply search that orders the root moves before they are split. Returns every candidate
/// with its exact value, the best first. The first move is the seed move.
///
/// # Errors
/// [`EngineError::Unsupported`].
pub fn shallow(position: &Position) -> Result<Answer, EngineError> {
    let options = EngineOptions {
        table_bytes: 0,
        leaf_fours: 0,
        selective: false,
        ..EngineOptions::default()
    };
    let question = Question {
        width: u16::MAX,
        ..Question::new(position.clone(), Effort::depth(2))
    };
    Engine::new(options)?.answer(&question, &Control::new(), &mut |_| {})
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, EngineError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|n| format!("search-{n}"))
        .build();
    pool.map_err(|error| EngineError::Threads(threads, error.to_string()))
}
