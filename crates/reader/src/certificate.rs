use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, bail};
use kagetsu_api::StatisticsJson;
use kagetsu_book::{Book, CheckReport, Overview};
use kagetsu_game::{Answer, Position};
use kagetsu_proofs::ProofBook;

use crate::reader::BookReader;

/// A certificate, which knows the winner's moves, and the loser's replies. It is not checked.
pub struct CertificateReader {
    proof: ProofBook,
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
        let proof = ProofBook::read(&mut BufReader::new(file)).with_context(about)?;
        Ok(proof.map(|proof| Self { proof, bytes }))
    }
}

impl BookReader for CertificateReader {
    fn lookup(&mut self, position: &Position) -> Result<Option<Answer>> {
        Ok(self.proof.lookup(position))
    }

    fn lookup_searched(&mut self, position: &Position) -> Result<Option<Answer>> {
        self.lookup(position)
    }

    fn overview(&mut self) -> Result<Overview> {
        let position = self.proof.position().clone();
        Ok(Overview::of_root(position, self.proof.nodes()))
    }

    fn statistics(&mut self) -> Result<StatisticsJson> {
        bail!("a certificate has no statistics; `kagetsu verify FILE` checks and describes it")
    }

    fn bytes(&self) -> Result<Option<u64>> {
        Ok(Some(self.bytes))
    }

    fn positions(&self) -> Option<u64> {
        Some(self.proof.nodes())
    }

    fn check(&mut self, _: &mut dyn FnMut(u64)) -> Result<CheckReport> {
        bail!("a certificate is checked by `kagetsu verify FILE`")
    }

    fn contents(&mut self, _: &mut dyn FnMut(u64)) -> Result<&Book> {
        bail!("a certificate holds one move for each position; give the book that it came from")
    }
}
