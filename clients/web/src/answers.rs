//! Answers by the rules and by open books, in the shapes of the HTTP API.

use std::collections::BTreeMap;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::Path;

use kagetsu_api::{
    AnswerJson, ErrorJson, OverviewJson, PositionJson, StatusJson, ValueJson, read_position,
};
use kagetsu_certificate::{CheckProgress, CheckedReplies, Tree, TreeFault, check_parallel};
use kagetsu_compiled::{Choice, Compiled, Nearest, Overview, ReadAt, Stats};
use kagetsu_game::{Answer, Key, Move, Position};
use kagetsu_proofs::{ProofBook, unpacked};
use kagetsu_search::give_weights;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::host::{self, HostedBook};

/// Earlier positions of a line that are looked up to say how far the book holds it.
const MAX_PREFIXES: usize = 60;

/// The parameters of the requests about a position.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PositionParameters {
    variant: String,
    moves: String,
    fen: Option<String>,
    temperature: Option<String>,
}

/// An open book.
enum BrowserBook {
    Compiled(Box<Compiled>),
    Certificate(Box<ProofBook>),
}

/// The books that requests are answered from.
#[derive(Default)]
pub(crate) struct OpenBooks(Vec<BrowserBook>);

impl BrowserBook {
    fn lookup(&self, at: &Position) -> Result<Option<Answer>, ErrorJson> {
        match self {
            Self::Compiled(book) => {
                let found = book.lookup(at).map_err(damaged)?;
                Ok(found.map(|(answer, _)| answer))
            }
            Self::Certificate(book) => Ok(book.lookup(at)),
        }
    }

    fn overview(&self) -> Overview {
        match self {
            Self::Compiled(book) => book.overview().clone(),
            Self::Certificate(book) => Overview::of_root(book.position().clone(), book.nodes()),
        }
    }

    fn stats(&self) -> Stats {
        match self {
            Self::Compiled(book) => book.stats().clone(),
            Self::Certificate(book) => Stats {
                positions: book.nodes(),
                wins: book.nodes(),
                ..Stats::default()
            },
        }
    }
}

impl OpenBooks {
    /// Opens a compiled book or a certificate in bytes; without bytes the book of the host.
    pub(crate) fn load(&mut self, bytes: &[u8]) -> Result<Value, ErrorJson> {
        let source: Box<dyn ReadAt> = match bytes {
            [] => Box::new(HostedBook),
            bytes => Box::new(bytes.to_vec()),
        };
        let book = match ProofBook::read(&mut { bytes }).map_err(unproven)? {
            Some(book) => BrowserBook::Certificate(Box::new(book)),
            None => Compiled::read(source, Path::new("the book"))
                .map(|book| BrowserBook::Compiled(Box::new(book)))
                .map_err(damaged)?,
        };
        self.0.push(book);
        json(&self.status())
    }

    /// Answers a request by its name.
    pub(crate) fn answer(
        &self,
        name: &str,
        query: &PositionParameters,
    ) -> Result<Value, ErrorJson> {
        let at = || read_position(&query.variant, query.fen.as_deref(), &query.moves);
        match name {
            "status" => json(&self.status()),
            "position" => json(&PositionJson::from(&at()?)),
            "books" => self.overview(),
            "statistics" => json(&self.stats()),
            "book" => {
                let at = at()?;
                json(&AnswerJson::new(&at, &self.held(&at)?, 0))
            }
            "pick" => self.pick(&at()?, query),
            "transpositions" => self.transpositions(&at()?),
            _ => Err(ErrorJson::new(
                "not_found",
                format!("nothing in this browser answers {name}"),
            )),
        }
    }

    fn stats(&self) -> Stats {
        let mut all = Stats::default();
        self.0.iter().for_each(|book| all.add(&book.stats()));
        all
    }

    fn status(&self) -> StatusJson {
        StatusJson {
            version: env!("CARGO_PKG_VERSION"),
            has_book: !self.0.is_empty(),
            positions: self.stats().positions,
            epoch: Some(self.0.len() as u64),
            is_cluster: false,
            may_change: false,
            may_analyse: true,
            takes_tokens: false,
            offers_engine: true,
        }
    }

    fn lookup(&self, at: &Position) -> Result<Option<Answer>, ErrorJson> {
        for book in &self.0 {
            if let Some(found) = book.lookup(at)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn held(&self, at: &Position) -> Result<Answer, ErrorJson> {
        if let Some(found) = self.lookup(at)? {
            return Ok(found);
        }
        let mut line = None;
        for before in at.prefixes().take(MAX_PREFIXES) {
            if self.lookup(&before)?.is_some() {
                line = Some(before);
                break;
            }
        }
        let nearest = line.map_or(Nearest::Nothing, Nearest::Line);
        let mut error = ErrorJson::new("not_in_book", nearest.message(at));
        if let Nearest::Line(line) = nearest {
            error.error.held_moves = Some(line.moves().len());
        }
        Err(error)
    }

    fn overview(&self) -> Result<Value, ErrorJson> {
        let mut all = OverviewJson { variants: vec![] };
        for book in &self.0 {
            let overview = book.overview();
            let mut listed = OverviewJson::from(&overview);
            let roots = overview.variants.iter().flat_map(|held| &held.roots);
            let held = listed.variants.iter_mut().flat_map(|held| &mut held.roots);
            for (json, root) in held.zip(roots) {
                let known = book.lookup(&root.position)?.unwrap_or_default();
                if let Some((m, verdict)) = Choice::default().pick(&known) {
                    json.best = Some(root.position.write_move(*m));
                    json.value = ValueJson::of(verdict);
                }
            }
            all.variants.append(&mut listed.variants);
        }
        json(&all)
    }

    /// Groups the replies that a certificate answers in the same way: they lead to one position, as
    /// the mirror images do.
    fn transpositions(&self, at: &Position) -> Result<Value, ErrorJson> {
        let held = self.0.iter().find_map(|book| match book {
            BrowserBook::Certificate(book) => book.lookup(at),
            BrowserBook::Compiled(_) => None,
        });
        let moves: Vec<Move> = held
            .iter()
            .flat_map(Answer::verdicts)
            .map(|(m, _)| *m)
            .collect();
        let mut groups: BTreeMap<Key, Vec<String>> = BTreeMap::new();
        for (m, child) in moves.iter().zip(at.children(&moves)) {
            groups.entry(child.key).or_default().push(at.write_move(*m));
        }
        let groups = groups.into_values().filter(|moves| moves.len() > 1);
        let behind: Vec<Value> = groups.map(|moves| json!({ "moves": moves })).collect();
        Ok(json!({ "before": [], "behind": behind }))
    }

    fn pick(&self, at: &Position, query: &PositionParameters) -> Result<Value, ErrorJson> {
        let temperature = query
            .temperature
            .as_ref()
            .and_then(|text| text.parse().ok());
        let choice = Choice {
            temperature: temperature.unwrap_or(0.0),
            seed: Some(host::now().as_nanos() as u64),
            ..Choice::default()
        };
        let held = self.held(at)?;
        let (m, _) = choice.pick(&held).ok_or_else(|| {
            ErrorJson::new("not_in_book", format!("the book has no move for {at}"))
        })?;
        Ok(json!({ "move": at.write_move(*m) }))
    }
}

/// Checks a certificate by zones, and tells the host how far it is.
pub(crate) fn verify(bytes: &[u8]) -> Result<Value, ErrorJson> {
    let tree = read_tree(bytes)?;
    let tell = |at: CheckProgress| {
        host::tell(&json!({"done": at.done, "replies": at.replies}).to_string());
    };
    let checked = check_parallel(&tree, CheckedReplies::ByZones, NonZeroUsize::MIN, &tell);
    let checked = checked.map_err(unproven)?;
    let mut found = json(&PositionJson::from(&tree.position))?;
    found["claim"] = tree.claim.to_string().into();
    found["plies"] = checked.plies.into();
    found["positions"] = checked.positions.into();
    found["nodes"] = tree.nodes().len().into();
    Ok(found)
}

/// Reads a certificate, packed by xz or not.
fn read_tree(bytes: &[u8]) -> Result<Tree, ErrorJson> {
    let source = unpacked(bytes).map_err(|error| unproven(TreeFault::unreadable(1, &error)))?;
    Tree::read(&mut { source }).map_err(unproven)
}

/// Takes a file of weights: its name, a line feed, and its bytes, packed by xz or not.
pub(crate) fn take_weights(body: &[u8]) -> Result<Value, ErrorJson> {
    let at = body.iter().position(|byte| *byte == b'\n');
    let (name, packed) = body.split_at(at.unwrap_or(body.len()));
    let (name, mut bytes) = (String::from_utf8_lossy(name), Vec::new());
    let read = unpacked(packed.get(1..).unwrap_or_default())
        .and_then(|mut unpacked| unpacked.read_to_end(&mut bytes));
    match read.is_ok() && give_weights(&name, bytes) {
        true => Ok(json!({})),
        false => Err(ErrorJson::new(
            "no_weights",
            format!("{name} holds no weights of this program"),
        )),
    }
}

fn unproven(fault: TreeFault) -> ErrorJson {
    ErrorJson::new("wrong_proof", fault.to_string())
}

/// Returns the JSON of a value.
pub(crate) fn json(value: &impl Serialize) -> Result<Value, ErrorJson> {
    serde_json::to_value(value).map_err(failed)
}

/// Returns the error of a request that failed by itself.
pub(crate) fn failed(error: impl ToString) -> ErrorJson {
    ErrorJson::new("failed", error.to_string())
}

fn damaged(error: impl ToString) -> ErrorJson {
    ErrorJson::new("damaged_book", error.to_string())
}
