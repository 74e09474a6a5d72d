use std::path::Path;

use anyhow::{Result, bail};
use kagetsu_api::StatisticsJson;
use kagetsu_book::{Book, CheckReport, Overview};
use kagetsu_compiled::NamedBook;
use kagetsu_game::{Answer, Position};

use crate::reader::BookReader;

/// A compiled book: one file, which is opened again when it was replaced.
#[derive(Debug)]
pub struct CompiledReader {
    file: NamedBook,
}

impl CompiledReader {
    /// Opens the file.
    ///
    /// # Errors
    /// If the file is no compiled book, or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self {
            file: NamedBook::open(path)?,
        })
    }
}

impl BookReader for CompiledReader {
    fn lookup(&mut self, position: &Position) -> Result<Option<Answer>> {
        Ok(self
            .file
            .newest()
            .lookup(position)?
            .map(|(answer, _)| answer))
    }

    fn lookup_searched(&mut self, _: &Position) -> Result<Option<Answer>> {
        bail!("a compiled book holds no values as they were searched; ask its folder")
    }

    fn overview(&mut self) -> Result<Overview> {
        Ok(self.file.newest().overview().clone())
    }

    fn statistics(&mut self) -> Result<StatisticsJson> {
        Ok(StatisticsJson::counted(self.file.newest().stats()))
    }

    fn bytes(&self) -> Result<Option<u64>> {
        Ok(Some(self.file.newest().bytes()))
    }

    fn positions(&self) -> Option<u64> {
        Some(self.file.newest().len())
    }

    fn check(&mut self, progress: &mut dyn FnMut(u64)) -> Result<CheckReport> {
        Ok(self.file.newest().check(progress))
    }

    fn contents(&mut self, _: &mut dyn FnMut(u64)) -> Result<&Book> {
        bail!(
            "a compiled book holds only the keys of its positions; give the folder that it was compiled from"
        )
    }
}
