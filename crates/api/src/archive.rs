use serde::{Deserialize, Serialize};

/// A file that an archive of compiled books offers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ArchiveFileJson {
    /// The name of the file, as in `h8.kbk`.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its digest in hexadecimal digits.
    pub sha256: String,
    /// Seconds since 1970-01-01.
    pub modified: u64,
    /// Positions of a compiled book; null for other files.
    pub positions: Option<u64>,
    /// The games of a compiled book, as in `freestyle-15`.
    #[serde(default)]
    pub games: Vec<String>,
}

/// The files that an archive of compiled books offers.
#[derive(Debug, Deserialize, Serialize)]
pub struct ArchiveJson {
    /// The files, sorted by name.
    pub files: Vec<ArchiveFileJson>,
}
