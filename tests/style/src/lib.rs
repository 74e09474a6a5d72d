//! Reads the workspace's sources and documents, and finds what breaks its rules of language and
//! layout. The tests of this crate hold the rules; `cargo run -p kagetsu-style --example report`
//! prints the counts.

mod ceilings;
mod flags;
mod folders;
mod imports;
mod links;
mod markdown;
mod names;
mod sentences;
mod sources;

pub use ceilings::{
    MAX_CERTIFICATE_LINES, MAX_ENTRIES, MAX_SOURCE_LINES, MAX_TEST_LINES, line_counts,
};
pub use flags::unknown_flags;
pub use folders::crowded_folders;
pub use imports::{folder_cycles, import_cycles};
pub use links::{broken_links, links};
pub use markdown::{long_markdown_lines, markdown_sentences};
pub use names::{repeated_types, test_names, vague_constants};
pub use sentences::{DocBlock, StyleFault, doc_blocks, long_comment_lines, sentence_faults};
pub use sources::{Document, SourceFile, documents, rust_sources, workspace_root};

/// The longest line of code, comments and Markdown prose, in characters.
pub const MAX_WIDTH: usize = 100;

/// The longest name of a test, in characters.
pub const MAX_TEST_NAME: usize = 50;
