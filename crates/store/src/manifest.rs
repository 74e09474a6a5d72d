//! The files of a store, and the file that names them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kagetsu_files::{FileError, Readers, replace_file};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::encoding::{FORMAT_VERSION, decode, encode, version};

/// The name of the manifest's file.
const FILE_NAME: &str = "current";

/// The levels of a store on disk, by file number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The level in sled.
    pub(crate) sled: u64,
    /// The sorted file below it.
    pub(crate) sorted: Option<u64>,
}

impl Manifest {
    /// Reads the manifest of the store in a folder.
    ///
    /// # Errors
    /// If it is missing, damaged, or of another format.
    pub(crate) fn read(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE_NAME);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::Damaged("it was not whole"));
            }
            Err(error) => return Err(StoreError::io("cannot read", &path)(error)),
        };
        match version(FILE_NAME.as_bytes(), &bytes) {
            Some(found) if found > FORMAT_VERSION => Err(FileError::Newer {
                path,
                found: found.into(),
                known: FORMAT_VERSION.into(),
            }
            .into()),
            _ => {
                decode(FILE_NAME.as_bytes(), &bytes).ok_or(StoreError::Damaged("its list of parts"))
            }
        }
    }

    /// Replaces the manifest, whole or not at all.
    pub(crate) fn write(self, folder: &Path) -> Result<(), StoreError> {
        let path = folder.join(FILE_NAME);
        let bytes = encode(FILE_NAME.as_bytes(), &self);
        replace_file(&path, Readers::Usual, |file| file.write_all(&bytes))
            .map_err(StoreError::io("cannot write to", &path))
    }

    /// Removes files that the manifest does not name: levels that were replaced, and files that
    /// were never finished.
    pub(crate) fn remove_other_files(self, folder: &Path) -> Result<(), StoreError> {
        let mut kept = vec![folder.join(FILE_NAME), sled_path(folder, self.sled)];
        kept.extend(self.sorted.map(|number| sorted_path(folder, number)));
        let error = |error| StoreError::io("cannot clean", folder)(error);
        for entry in fs::read_dir(folder).map_err(error)? {
            let path = entry.map_err(error)?.path();
            if !kept.contains(&path) {
                let removed = if path.is_dir() {
                    fs::remove_dir_all(&path)
                } else {
                    fs::remove_file(&path)
                };
                removed.map_err(error)?;
            }
        }
        Ok(())
    }
}

pub(crate) fn sled_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.sled"))
}

pub(crate) fn sorted_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.sorted"))
}
