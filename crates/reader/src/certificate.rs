use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, bail};
use kagetsu_api::StatisticsJson;
use kagetsu_book::{Book, CheckReport, Overview, RootOverview, VariantOverview};
use kagetsu_game::{Answer, Bound, Claim, Position, Proof, ProofKind, Provenance, Verdict};
use kagetsu_verify::{ProofBook, ProvenMove, Tree};

use crate::reader::BookReader;

/// The first bytes of a certificate.
const MAGIC: &[u8] = b"kagetsu-proof ";

/// A certificate, which knows the winner's moves. It is not checked.
pub struct CertificateReader {
    proof: ProofBook,
    nodes: u64,
    bytes: u64,
}

impl CertificateReader {
    /// Opens a file as a certificate; `None` if it is none.
    ///
    /// # Errors
    /// If the file cannot be read, or its tree is malformed.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let about = || path.display().to_string();
        let file = File::open(path).with_context(about)?;
        let bytes = file.metadata().with_context(about)?.len();
        let mut source = BufReader::new(file);
        if !source.fill_buf().with_context(about)?.starts_with(MAGIC) {
            return Ok(None);
        }
        let tree = Tree::read(&mut source).with_context(about)?;
        let nodes = tree.nodes().len() as u64;
        let proof = ProofBook::new(tree).with_context(about)?;
        Ok(Some(Self {
            proof,
            nodes,
            bytes,
        }))
    }
}

impl BookReader for CertificateReader {
    fn lookup(&mut self, position: &Position) -> Result<Option<Answer>> {
        Ok(self.proof.answer(position).map(proven_answer))
    }

    fn lookup_searched(&mut self, position: &Position) -> Result<Option<Answer>> {
        self.lookup(position)
    }

    fn overview(&mut self) -> Result<Overview> {
        let position = self.proof.position().clone();
        let variant = position.variant();
        let root = RootOverview {
            position,
            positions: self.nodes,
            is_more: false,
        };
        let held = VariantOverview {
            variant,
            positions: self.nodes,
            roots: vec![root],
            all_roots: 1,
        };
        Ok(Overview {
            variants: vec![held],
        })
    }

    fn statistics(&mut self) -> Result<StatisticsJson> {
        bail!("a certificate has no statistics; `kagetsu verify FILE` checks and describes it")
    }

    fn bytes(&self) -> Result<Option<u64>> {
        Ok(Some(self.bytes))
    }

    fn positions(&self) -> Option<u64> {
        Some(self.nodes)
    }

    fn check(&mut self, _: &mut dyn FnMut(u64)) -> Result<CheckReport> {
        bail!("a certificate is checked by `kagetsu verify FILE`")
    }

    fn contents(&mut self, _: &mut dyn FnMut(u64)) -> Result<&Book> {
        bail!("a certificate holds one move for each position; give the book that it came from")
    }
}

/// Returns the knowledge of a certificate about a position: the winner's move.
fn proven_answer(proven: ProvenMove) -> Answer {
    let proof = Proof {
        claim: Claim::Win,
        kind: ProofKind::Tree,
        plies: proven.plies,
    };
    let verdict = Verdict {
        score: proof.score(),
        bound: Bound::Exact,
        depth: u8::try_from(proven.plies).unwrap_or(u8::MAX),
        nodes: 0,
        line: vec![proven.at],
        proof: Some(proof),
        by: Provenance {
            engine: "certificate".into(),
            day: 0,
        },
    };
    [(proven.at, verdict)].into_iter().collect()
}
