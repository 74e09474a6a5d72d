//! A copy of a store for reading, which leaves the store's folder as it is.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use kagetsu_files::link_file;

use crate::StoreError;
use crate::lsm::LsmStore;
use crate::manifest::{Manifest, sled_path, sorted_path};

impl LsmStore {
    /// Makes a copy of the store in `from` in the new folder `to`. The small level in sled is
    /// copied, because sled writes to its files whenever it is opened. The sorted file, which never
    /// changes, is linked. Changes to the copy do not reach the store.
    ///
    /// # Errors
    /// If the store is damaged or has a newer format, cannot be read, or the disk refuses.
    pub fn copy_to_read(from: &Path, to: &Path) -> Result<(), StoreError> {
        let manifest = Manifest::read(from)?;
        let from = from
            .canonicalize()
            .map_err(StoreError::io("cannot read", from))?;
        fs::create_dir_all(to).map_err(StoreError::io("cannot make", to))?;
        copy_folder(
            &sled_path(&from, manifest.sled),
            &sled_path(to, manifest.sled),
        )?;
        if let Some(number) = manifest.sorted {
            let (file, link) = (sorted_path(&from, number), sorted_path(to, number));
            link_file(&file, &link).map_err(StoreError::io("cannot make", &link))?;
        }
        manifest.write(to)
    }
}

/// Copies a folder with all below it.
fn copy_folder(from: &Path, to: &Path) -> Result<(), StoreError> {
    let fail = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::Damaged("a part of it is missing"),
        _ => StoreError::io("cannot copy", from)(error),
    };
    fs::create_dir_all(to).map_err(StoreError::io("cannot make", to))?;
    for entry in fs::read_dir(from).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let target = to.join(entry.file_name());
        if entry.file_type().map_err(fail)?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            // A copy of the permissions could forbid to write to the copy.
            let mut source = File::open(entry.path()).map_err(fail)?;
            let mut copy = File::create(&target).map_err(StoreError::io("cannot make", &target))?;
            io::copy(&mut source, &mut copy).map_err(StoreError::io("cannot copy", &target))?;
        }
    }
    Ok(())
}
