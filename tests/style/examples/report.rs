//! Prints the counts of the rules of language and layout: of the workspace, or of the folder given.

use std::path::PathBuf;

fn main() {
    let root = std::env::args()
        .nth(1)
        .map_or_else(kagetsu_style::workspace_root, PathBuf::from);
    let is_verbose = std::env::args().nth(2).is_some();
    let sources = kagetsu_style::rust_sources(&root);
    let lines: usize = sources
        .iter()
        .map(|source| source.text.lines().count())
        .sum();
    let characters: usize = sources
        .iter()
        .map(|source| source.text.chars().count())
        .sum();
    println!("Rust files: {}", sources.len());
    println!(
        "lines: {lines}, characters a line: {:.1}",
        characters as f64 / lines as f64
    );
    let (outside, inside) = kagetsu_style::line_counts(&sources);
    println!("lines of Rust outside tests: {outside}, of tests: {inside}");
    let blocks: Vec<_> = sources
        .iter()
        .flat_map(|source| {
            let blocks = kagetsu_style::doc_blocks(source);
            blocks.into_iter().map(|block| (source.path.clone(), block))
        })
        .collect();
    let docs = blocks.iter().filter(|(_, block)| block.is_doc).count();
    let mut faults = Vec::new();
    let mut doc_faults = 0;
    for (path, block) in &blocks {
        let found = kagetsu_style::sentence_faults(path, block.line, &block.text);
        doc_faults += usize::from(block.is_doc && !found.is_empty());
        faults.extend(found);
    }
    println!("doc comments: {docs}, with a forbidden sentence: {doc_faults}");
    println!("forbidden sentences in all comments: {}", faults.len());
    let long: Vec<_> = sources
        .iter()
        .flat_map(kagetsu_style::long_comment_lines)
        .collect();
    println!(
        "comment lines over {} columns: {}",
        kagetsu_style::MAX_WIDTH,
        long.len()
    );
    let tests: Vec<_> = sources.iter().flat_map(kagetsu_style::test_names).collect();
    let long_names = tests
        .iter()
        .filter(|test| test.text.len() > kagetsu_style::MAX_TEST_NAME);
    let long_names: Vec<_> = long_names.collect();
    println!(
        "tests: {}, with a long name: {}",
        tests.len(),
        long_names.len()
    );
    let vague: Vec<_> = sources
        .iter()
        .flat_map(kagetsu_style::vague_constants)
        .collect();
    println!("constants without a bound or unit: {}", vague.len());
    let repeated = kagetsu_style::repeated_types(&sources);
    println!("type names declared more than once: {}", repeated.len());
    let crowded = kagetsu_style::crowded_folders(&sources);
    println!(
        "folders with more than {} entries: {crowded:?}",
        kagetsu_style::MAX_ENTRIES
    );
    let cycles = kagetsu_style::import_cycles(&sources);
    let sizes: Vec<_> = cycles.iter().map(Vec::len).collect();
    println!("import cycles: {}, of {sizes:?} files", cycles.len());
    let documents = kagetsu_style::documents(&root);
    let in_documents: Vec<_> = documents
        .iter()
        .flat_map(kagetsu_style::markdown_sentences)
        .collect();
    let long_lines: Vec<_> = documents
        .iter()
        .flat_map(kagetsu_style::long_markdown_lines)
        .collect();
    println!("forbidden sentences in documents: {}", in_documents.len());
    println!("long lines in documents: {}", long_lines.len());
    if is_verbose {
        for fault in faults
            .iter()
            .chain(&long)
            .chain(long_names)
            .chain(&vague)
            .chain(&in_documents)
            .chain(&long_lines)
        {
            println!("{fault}");
        }
        println!("{repeated:#?}\n{cycles:#?}");
    }
}
