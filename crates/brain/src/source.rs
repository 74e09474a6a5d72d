//! The books that an engine plays from: all that a reader opens, or without the feature `all-books`
//! compiled books and certificates alone, so that the program is small.

#[cfg(not(feature = "all-books"))]
pub(crate) use files_alone::{FilesAlone as Source, NoAccess as Access, open};
#[cfg(feature = "all-books")]
pub(crate) use {
    kagetsu_proto::Access,
    kagetsu_reader::{Source, open},
};

#[cfg(not(feature = "all-books"))]
mod files_alone {
    use std::fs::File;
    use std::io::BufReader;
    use std::path::Path;

    use anyhow::{Context, Result, ensure};
    use kagetsu_compiled::{NamedBook, Overview, by_hand};
    use kagetsu_game::{Answer, Position};
    use kagetsu_proofs::ProofBook;

    /// No option of a connection: this program reads files alone.
    #[derive(clap::Args, Clone, Debug, Default)]
    pub(crate) struct NoAccess {}

    /// A compiled book or a certificate.
    pub(crate) enum FilesAlone {
        Compiled(Box<NamedBook>),
        Certificate(ProofBook),
    }

    /// Opens a compiled book or a certificate.
    ///
    /// # Errors
    /// If the name is a folder or a URL, or the file is neither.
    pub(crate) fn open(name: &str, _: &NoAccess) -> Result<FilesAlone> {
        let path = Path::new(name);
        ensure!(
            !path.is_dir() && !name.contains("://"),
            "{name} is no file, and this program reads compiled books and certificates alone: \
             `kagetsu compile --book {name} --out BOOK.kbk` makes one, and `kagetsu brain` plays \
             from any book"
        );
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        let proof = ProofBook::read(&mut BufReader::new(file)).context(name.to_string())?;
        Ok(match proof {
            Some(proof) => FilesAlone::Certificate(proof),
            None => FilesAlone::Compiled(Box::new(NamedBook::open(path)?)),
        })
    }

    impl FilesAlone {
        /// Returns the variants and roots of the book.
        pub(crate) fn overview(&self) -> Result<Overview> {
            Ok(match self {
                Self::Compiled(book) => book.newest().overview().clone(),
                Self::Certificate(proof) => {
                    Overview::of_root(proof.position().clone(), proof.nodes())
                }
            })
        }

        /// Returns the answer as people want it played.
        pub(crate) fn by_hand(&self, at: &Position, answer: Answer) -> Result<Answer> {
            Ok(match self {
                Self::Compiled(book) => by_hand(&book.newest().annotations(at), answer),
                Self::Certificate(_) => answer,
            })
        }

        /// Returns the mean nodes of an entry whose answer does not say them.
        pub(crate) fn entry_nodes(&self) -> u64 {
            match self {
                Self::Compiled(book) => book.newest().stats().mean_nodes(),
                Self::Certificate(_) => 0,
            }
        }

        /// Looks up a position.
        pub(crate) fn lookup(&self, position: &Position) -> Result<Option<Answer>> {
            Ok(match self {
                Self::Compiled(book) => {
                    let found = book.newest().lookup(position)?;
                    found.map(|(answer, _)| answer)
                }
                Self::Certificate(proof) => proof.lookup(position),
            })
        }
    }
}
