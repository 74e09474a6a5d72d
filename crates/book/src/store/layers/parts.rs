//! What a store is made of, and the file that says so.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::tree::Sum;
use crate::BookError;
use crate::store::bytes::{EARLIER, VERSION, seal, unseal, version_of};

/// Says which parts make up the store.
const CURRENT: &str = "current";

/// The parts of a store, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parts {
    /// The tree that takes the changes.
    pub(super) top: u64,
    /// A tree below it that takes no more, and all that it has; only earlier programs left one behind. A damaged tree of sled may
    /// open as it was earlier: then the journal has what the top lacks, but not what the parts below it do.
    pub(super) below: Option<(u64, Sum)>,
    /// The sealed file.
    pub(super) sealed: Option<u64>,
}

impl Parts {
    /// The parts of the store in a folder.
    ///
    /// # Errors
    /// If nothing says which they are, or a later format does.
    pub(super) fn read(folder: &Path) -> Result<Self, BookError> {
        let path = folder.join(CURRENT);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BookError::Store(if folder.join("db").exists() {
                    EARLIER
                } else {
                    "it was not whole"
                }));
            }
            Err(error) => return Err(BookError::io("cannot read", &path)(error)),
        };
        match version_of(CURRENT.as_bytes(), &bytes) {
            Some(found) if found > VERSION => {
                return Err(BookError::Newer {
                    path,
                    found: found.into(),
                    known: VERSION.into(),
                });
            }
            Some(found) if found < VERSION => return Err(BookError::Store(EARLIER)),
            _ => {}
        }
        unseal(CURRENT.as_bytes(), &bytes).ok_or(BookError::Store("its list of parts"))
    }

    /// Whole or not at all.
    pub(super) fn write(self, folder: &Path) -> Result<(), BookError> {
        let (path, half) = (folder.join(CURRENT), folder.join("current.new"));
        let fail = |error| BookError::io("cannot write to", &half)(error);
        let mut file = File::create(&half).map_err(fail)?;
        file.write_all(&seal(CURRENT.as_bytes(), &self))
            .and_then(|()| file.sync_all())
            .map_err(fail)?;
        fs::rename(&half, &path).map_err(fail)?;
        sync_folder(folder)
    }

    /// Removes what is no part: of the past, or half made.
    pub(super) fn remove_others(self, folder: &Path) -> Result<(), BookError> {
        let Self { top, below, sealed } = self;
        let mut kept = vec![folder.join(CURRENT), tree_path(folder, top)];
        kept.extend(below.map(|(number, _)| tree_path(folder, number)));
        kept.extend(sealed.map(|number| sealed_path(folder, number)));
        let fail = |error| BookError::io("cannot clean", folder)(error);
        for entry in fs::read_dir(folder).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            if !kept.contains(&path) {
                let removed = if path.is_dir() {
                    fs::remove_dir_all(&path)
                } else {
                    fs::remove_file(&path)
                };
                removed.map_err(fail)?;
            }
        }
        Ok(())
    }
}

pub(super) fn tree_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.sled"))
}

pub(super) fn sealed_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.sealed"))
}

pub(super) fn sync_folder(folder: &Path) -> Result<(), BookError> {
    File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(BookError::io("cannot write to", folder))
}
