use std::collections::{BTreeMap, BTreeSet};

use crate::SourceFile;
use crate::ceilings::MAX_ENTRIES;

/// Returns every folder of Rust sources with its number of entries, where it exceeds
/// [`MAX_ENTRIES`]. The entry files `lib.rs`, `main.rs` and `mod.rs` do not count.
pub fn crowded_folders(sources: &[SourceFile]) -> BTreeMap<String, usize> {
    let mut entries: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let mut path = source.path.as_str();
        while let Some((folder, name)) = path.rsplit_once('/') {
            if !matches!(name, "lib.rs" | "main.rs" | "mod.rs") {
                let name = name.trim_end_matches(".rs").to_string();
                entries.entry(folder.to_string()).or_default().insert(name);
            }
            path = folder;
        }
    }
    entries
        .into_iter()
        .filter(|(folder, _)| folder.contains("/src") || folder.contains("/tests"))
        .map(|(folder, names)| (folder, names.len()))
        .filter(|&(_, count)| count > MAX_ENTRIES)
        .collect()
}
