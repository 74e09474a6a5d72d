use kagetsu_game::gomoku::{Freestyle, Renju, Standard};
use kagetsu_game::{Answer, Bound, Claim, Proof, Question, RuleName, Variant, Verdict};

use crate::alphabeta::table::Table;
use crate::gomoku::Board;
use crate::root::provenance::provenance;
use crate::root::{Part, Search};
use crate::threats::{Class, Found, Outcome, Threats};
use crate::{Control, EngineError, EngineOptions, Progress, surakarta, xiangqi};

/// Memory of one search for threats.
const THREAT_BYTES: usize = 4 << 20;

/// Answers questions, one after another. Keeps its threads and its table, but no knowledge from one question to the next.
#[derive(Debug)]
pub struct Engine {
    options: EngineOptions,
    table: Table,
    pool: Option<rayon::ThreadPool>,
}

/// A part of a question that several engines search together, see [`Engine::branch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The question's number: what the table has learned from other branches of the same question is kept. 0 is a question
    /// of which nothing is kept.
    pub family: u64,
    /// The place of the move asked about among its brothers, the most promising 0: late ones are reduced first, as they
    /// would be in a search of all. `None` where all moves are asked about.
    pub rank: Option<u16>,
}

impl Engine {
    /// Name and version, as verdicts carry it.
    pub const NAME: &'static str = crate::root::provenance::NAME;

    /// An engine with its table and threads.
    ///
    /// # Errors
    /// [`EngineError::NoThreads`]; [`EngineError::Threads`] and [`EngineError::Table`] when the system gives none.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let pool = match options.threads {
            0 => return Err(EngineError::NoThreads),
            1 => None,
            threads => Some(pool(threads)?),
        };
        let table =
            Table::of(options.table_bytes).ok_or(EngineError::Table(options.table_bytes))?;
        Ok(Self {
            options,
            table,
            pool,
        })
    }

    /// Whether [`Engine::answer`] can think about the variant.
    #[must_use]
    pub const fn supports(variant: Variant) -> bool {
        matches!(
            variant,
            Variant::Gomoku { .. } | Variant::Xiangqi { .. } | Variant::Surakarta { .. }
        )
    }

    /// Thinks until the effort is spent, the value is proven, or `control` stops it.
    ///
    /// Each move searched has a verdict. The best `width` are exact; the others have an upper bound that is not above
    /// the last of these. `progress` is called after every iteration. A finished game gives an empty answer; any other
    /// at least one verdict. With one thread and an effort in depth or nodes the same question gives the same answer,
    /// whatever was asked before.
    ///
    /// A window with no value above a loss asks whether every move loses. In gomoku continuous threats are then looked for
    /// after each legal move, up to symmetry, with an even share of the nodes, or less where several moves stand; each move has an
    /// exact value or a proof.
    ///
    /// A window with no value below a win asks which move wins. In gomoku a win by continuous threats is then looked for with
    /// a tenth of the nodes, and where there is none, moves that threaten one. Their opinions say how much seems to be left to
    /// prove: ten centi-units for each reply that is open, from -2000 on that a move threatens nothing.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`], [`EngineError::IllegalMove`].
    pub fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        if let Some(answer) = self.settle(question, control, progress)? {
            return Ok(answer);
        }
        self.table.begin();
        self.run(question, None, control, progress)
    }

    /// Answers a part of a question that several engines search together: as [`Engine::answer`], but what was learned from
    /// other parts of the question is kept, iterations that the table knows already are left out, and the moves are not
    /// first searched for threats, unless they are all asked about and nothing is known. The window may be
    /// [narrowed](Control::narrow) on the way. What is answered may depend on what was asked before.
    ///
    /// # Errors
    /// As for [`Engine::answer`].
    pub fn branch(
        &mut self,
        question: &Question,
        branch: Branch,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        let is_new = self.table.resume(branch.family);
        let part = Part {
            rank: branch.rank.unwrap_or(0).into(),
            is_new: is_new && branch.rank.is_none(),
        };
        self.run(question, Some(part), control, progress)
    }

    /// Answers a question that several engines search, each of them all of it: as [`Engine::answer`], but `control`
    /// [says](Control::said) what the others should know, and [hears](Control::hear) them; only the first `number`, 0, looks for
    /// a win by threats before all else. `of` is how many there are. What is answered depends on what was heard, and when.
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
        if let Some(answer) = self.settle(question, control, progress)? {
            return Ok(answer);
        }
        control.share(number, of);
        self.table.begin();
        self.run(
            question,
            Some(Part {
                rank: 0,
                is_new: number == 0,
            }),
            control,
            progress,
        )
    }

    /// Whether the side to move wins by continuous threats, within the question's effort: an answer of one move, proven, or
    /// of none. Keeps the table as it is.
    /// Of none, too, where the game has no such search.
    pub fn threats(&self, question: &Question, control: &Control) -> Answer {
        let mut threats = Threats::new(THREAT_BYTES);
        let found = threats.search(&question.position, Class::Vct, question.effort, control);
        let Ok(Found {
            outcome: Outcome::Win { plies, kind, line },
            nodes,
            ..
        }) = found
        else {
            return Answer::new();
        };
        let Some(&m) = line.first() else {
            return Answer::new();
        };
        let proof = Proof {
            claim: Claim::Win,
            kind,
            plies,
        };
        let depth = u8::try_from(plies).unwrap_or(u8::MAX);
        let (score, by) = (proof.score(), provenance());
        [(
            m,
            Verdict {
                score,
                bound: Bound::Exact,
                depth,
                nodes,
                line,
                proof: Some(proof),
                by,
            },
        )]
        .into_iter()
        .collect()
    }

    fn run(
        &self,
        question: &Question,
        part: Option<Part>,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        let (options, table, pool) = (&self.options, &self.table, self.pool.as_ref());
        let search = Search {
            question,
            window: question.window,
            part,
            options,
            table,
            pool,
            control,
        };
        match question.position.variant() {
            Variant::Gomoku {
                rule: RuleName::Freestyle,
                ..
            } => search.run::<Board<Freestyle>>(progress),
            Variant::Gomoku {
                rule: RuleName::Standard,
                ..
            } => search.run::<Board<Standard>>(progress),
            Variant::Gomoku {
                rule: RuleName::Renju,
                ..
            } => search.run::<Board<Renju>>(progress),
            Variant::Xiangqi { .. } => search.run::<xiangqi::Board>(progress),
            Variant::Surakarta { .. } => search.run::<surakarta::Board>(progress),
        }
    }
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, EngineError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|n| format!("search-{n}"))
        .build();
    pool.map_err(|error| EngineError::Threads {
        threads,
        reason: error.to_string(),
    })
}
