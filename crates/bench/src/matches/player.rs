use anyhow::{Context, Result};
use kagetsu_book::Choice;
use kagetsu_compiled::outweighs_search;
use kagetsu_engines::{EngineAddress, EngineSettings, External};
use kagetsu_game::{Answer, Effort, Position, Question};
use kagetsu_proto::Access;
use kagetsu_reader::Source;
use kagetsu_search::{Control, Engine, EngineOptions, Progress};

/// An engine of a match and its effort for each move.
#[derive(Clone, Debug)]
pub(crate) struct PlayerSettings {
    pub(crate) engine: PlayerEngine,
    pub(crate) effort: Effort,
    /// The book that it plays from, as long as the book has a move.
    pub(crate) book: Option<String>,
}

/// Kagetsu's own search, or another program.
#[derive(Clone, Debug)]
pub(crate) enum PlayerEngine {
    Own(EngineOptions),
    External(EngineAddress),
}

/// A player of a match.
pub(crate) struct Player {
    search: Search,
    book: Option<Source>,
    /// The positions in which the book was asked, game by game, and whether it gave a move.
    asked: Vec<Vec<(Position, bool)>>,
}

/// The search of a player.
enum Search {
    Own(Box<Engine>),
    External(Box<External>),
}

impl Player {
    /// Starts an engine.
    ///
    /// # Errors
    /// If there are no threads or no memory for the search, the other program does not start, or
    /// the book cannot be opened.
    pub(crate) fn start(settings: &PlayerSettings, control: &Control) -> Result<Self> {
        let search = match &settings.engine {
            PlayerEngine::Own(options) => {
                Search::Own(Box::new(Engine::new(*options)?.with_kept_table()))
            }
            PlayerEngine::External(address) => {
                let settings = EngineSettings::new(address.clone());
                let engine = External::start(settings, control)?;
                Search::External(Box::new(engine.with_kept_table()))
            }
        };
        let open = |book: &String| {
            let reader = kagetsu_reader::open(book, &Access::default());
            reader.with_context(|| format!("the book {book}"))
        };
        let book = settings.book.as_ref().map(open).transpose()?;
        Ok(Self {
            search,
            book,
            asked: Vec::new(),
        })
    }

    /// Lets the engine forget the game before.
    pub(crate) fn begin_game(&mut self) {
        self.asked.push(Vec::new());
        match &mut self.search {
            Search::Own(engine) => engine.clear_table(),
            Search::External(engine) => engine.clear_table(),
        }
    }

    /// Returns the positions in which the book was asked, game by game, and whether it gave a move.
    pub(crate) fn asked(&self) -> &[Vec<(Position, bool)>] {
        &self.asked
    }

    /// Forgets the positions in which the book was asked.
    pub(crate) fn forget_asked(&mut self) {
        self.asked.clear();
    }

    /// Returns the best move of the book in the position, with its verdict; none where the own
    /// search would visit more nodes than the searches of the book behind it.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub(crate) fn book_move(&mut self, question: &Question) -> Result<Option<Answer>> {
        let Some(book) = &mut self.book else {
            return Ok(None);
        };
        let position = &question.position;
        let legal = position.legal_moves();
        let answer = book.lookup(position)?.unwrap_or_default();
        let picked = Choice::default().pick(&answer);
        let mut picked = picked.filter(|(m, _)| legal.contains(m)).cloned();
        if let Some((_, verdict)) = &picked {
            let own = question.effort.nodes.unwrap_or(0);
            let lookup = |position: &Position| book.lookup(position);
            let verdict = (position, verdict);
            if !outweighs_search(verdict, book.entry_nodes(), own, lookup)? {
                picked = None;
            }
        }
        if let Some(game) = self.asked.last_mut() {
            game.push((position.clone(), picked.is_some()));
        }
        Ok(picked.map(|best| [best].into_iter().collect()))
    }

    /// Answers a question about one move.
    ///
    /// # Errors
    /// If the search does not support the variant, or the other program fails twice.
    pub(crate) fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer> {
        Ok(match &mut self.search {
            Search::Own(engine) => engine.answer(question, control, progress)?,
            Search::External(engine) => engine.answer(question, control, progress)?,
        })
    }
}
