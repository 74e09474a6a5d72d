use kagetsu_game::gomoku::{Freestyle, Renju, Standard};
use kagetsu_game::{Answer, Question, RuleName, Variant};

use crate::gomoku::Board;
use crate::root::Search;
use crate::table::Table;
use crate::{Control, EngineError, EngineOptions, Progress, refute, surakarta, xiangqi};

/// Answers questions, one after another. Keeps its threads and its table, but no knowledge from one question to the next.
#[derive(Debug)]
pub struct Engine {
    options: EngineOptions,
    table: Table,
    pool: Option<rayon::ThreadPool>,
}

impl Engine {
    /// Name and version, as verdicts carry it.
    pub const NAME: &'static str = concat!("kagetsu ", env!("CARGO_PKG_VERSION"));

    /// An engine with its table and threads.
    ///
    /// # Errors
    /// [`EngineError::NoThreads`], or [`EngineError::Threads`] when the system gives none.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let pool = match options.threads {
            0 => return Err(EngineError::NoThreads),
            1 => None,
            threads => Some(pool(threads)?),
        };
        Ok(Self { options, table: Table::new(options.table_bytes), pool })
    }

    /// Whether [`Engine::answer`] can think about the variant.
    #[must_use]
    pub const fn supports(variant: Variant) -> bool {
        matches!(variant, Variant::Gomoku { .. } | Variant::Xiangqi { .. } | Variant::Surakarta { .. })
    }

    /// Thinks until the effort is spent, the value is proven, or `control` stops it.
    ///
    /// Each move searched has a verdict. The best `width` are exact; the others have an upper bound that is not above
    /// the last of these. `progress` is called after every iteration. A finished game gives an empty answer; any other
    /// at least one verdict. With one thread and an effort in depth or nodes the same question gives the same answer,
    /// whatever was asked before.
    ///
    /// A window with no value above a loss asks whether every move loses. In gomoku continuous threats are then looked for
    /// after each legal move, up to symmetry, with an even share of the nodes; each move has an exact value or a proof.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`], [`EngineError::IllegalMove`].
    pub fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        if refute::asks_for_loss(question) {
            return self.refute(question, control, progress);
        }
        self.table.begin();
        let search = Search { question, options: &self.options, table: &self.table, pool: self.pool.as_ref(), control };
        match question.position.variant() {
            Variant::Gomoku { rule: RuleName::Freestyle, .. } => search.run::<Board<Freestyle>>(progress),
            Variant::Gomoku { rule: RuleName::Standard, .. } => search.run::<Board<Standard>>(progress),
            Variant::Gomoku { rule: RuleName::Renju, .. } => search.run::<Board<Renju>>(progress),
            Variant::Xiangqi { .. } => search.run::<xiangqi::Board>(progress),
            Variant::Surakarta { .. } => search.run::<surakarta::Board>(progress),
        }
    }
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, EngineError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("search-{n}")).build();
    pool.map_err(|error| EngineError::Threads { threads, reason: error.to_string() })
}
