//! Holds the sources and the documents to the rules of language and layout of `CONTRIBUTING.md`.

use std::collections::{BTreeMap, BTreeSet};

use kagetsu_style::{
    Document, MAX_CERTIFICATE_LINES, MAX_ENTRIES, MAX_SOURCE_LINES, MAX_TEST_LINES, MAX_TEST_NAME,
    MAX_WIDTH, SourceFile, StyleFault, broken_links, crowded_folders, doc_blocks, documents,
    folder_cycles, import_cycles, line_counts, links, long_comment_lines, long_markdown_lines,
    markdown_sentences, repeated_types, rust_sources, sentence_faults, test_names, unknown_flags,
    vague_constants, workspace_root,
};

/// Words that name no subject at the beginning of a test's name.
const VAGUE_SUBJECTS: [&str; 8] = [
    "it", "nobody", "there", "what", "whatever", "who", "whoever", "whose",
];

/// Folders and files that do not keep the rules yet. It only gets shorter.
const PENDING: &[&str] = &[];

/// Type names that several files declare for one and the same concept.
const SHARED_TYPE_NAMES: &[&str] = &[
    "Args",
    "Arguments",
    "Board",
    // The crate for PostgreSQL has them twice: with its client and without.
    "BookUrl",
    "BookUrlError",
    "Command",
    "Config",
    "FromEngine",
    "Node",
    "Past",
    "Point",
    "Session",
    "ToEngine",
];

fn is_pending(path: &str) -> bool {
    PENDING.iter().any(|pending| path.starts_with(pending))
}

fn sources() -> Vec<SourceFile> {
    let mut sources = rust_sources(&workspace_root());
    assert!(!sources.is_empty(), "no sources were found");
    sources.retain(|source| !is_pending(&source.path));
    sources
}

fn kept_documents() -> Vec<Document> {
    let mut documents = documents(&workspace_root());
    assert!(!documents.is_empty(), "no documents were found");
    documents.retain(|document| !is_pending(&document.path));
    documents
}

fn assert_none(rule: &str, faults: &[StyleFault]) {
    let list: Vec<_> = faults.iter().map(ToString::to_string).collect();
    assert!(faults.is_empty(), "{rule}:\n{}", list.join("\n"));
}

#[test]
fn comments_begin_with_their_subject() {
    let mut faults = Vec::new();
    for source in sources() {
        for block in doc_blocks(&source) {
            faults.extend(sentence_faults(&source.path, block.line, &block.text));
        }
    }
    assert_none(
        "a comment's sentence begins with its subject, and names the program",
        &faults,
    );
}

#[test]
fn documents_begin_with_their_subject() {
    let faults: Vec<_> = kept_documents()
        .iter()
        .flat_map(markdown_sentences)
        .collect();
    assert_none(
        "a sentence begins with its subject, and names the program",
        &faults,
    );
}

#[test]
fn lines_are_at_most_100_columns() {
    let mut faults: Vec<_> = sources().iter().flat_map(long_comment_lines).collect();
    faults.extend(kept_documents().iter().flat_map(long_markdown_lines));
    assert_none(&format!("a line has at most {MAX_WIDTH} columns"), &faults);
}

/// One test, so that each file is parsed once.
#[test]
fn names_and_imports_follow_the_rules() {
    test_names_are_short_and_name_their_subject();
    constants_say_bound_and_unit();
    type_names_mean_one_thing();
    files_do_not_import_in_circles();
    folders_do_not_import_in_circles();
}

fn test_names_are_short_and_name_their_subject() {
    let (long, vague): (Vec<_>, Vec<_>) = sources()
        .iter()
        .flat_map(test_names)
        .filter(|test| test.text.chars().count() > MAX_TEST_NAME || is_vague(&test.text))
        .partition(|test| test.text.chars().count() > MAX_TEST_NAME);
    assert_none(
        &format!("a test's name has at most {MAX_TEST_NAME} characters"),
        &long,
    );
    assert_none(
        "a test's name begins with its subject: `restarted_worker_keeps_quarantine`",
        &vague,
    );
}

fn is_vague(name: &str) -> bool {
    let first = name.split('_').next();
    first.is_some_and(|word| VAGUE_SUBJECTS.contains(&word))
}

fn constants_say_bound_and_unit() {
    let faults: Vec<_> = sources().iter().flat_map(vague_constants).collect();
    assert_none(
        "a constant says its bound and unit: MAX_OPEN_CHECKS, LEASE_TTL",
        &faults,
    );
}

fn type_names_mean_one_thing() {
    let mut repeated = repeated_types(&sources());
    repeated.retain(|name, _| !SHARED_TYPE_NAMES.contains(&&**name));
    assert!(
        repeated.is_empty(),
        "a type name means one thing: {repeated:#?}"
    );
}

#[test]
fn folders_show_few_entries() {
    let crowded = crowded_folders(&sources());
    assert!(
        crowded.is_empty(),
        "a folder shows at most {MAX_ENTRIES} entries: {crowded:#?}"
    );
}

fn files_do_not_import_in_circles() {
    let cycles = import_cycles(&sources());
    assert!(
        cycles.is_empty(),
        "no files import each other in a circle: {cycles:#?}"
    );
}

/// Folders that still import each other in a circle. The list only becomes shorter.
const FOLDERS_IN_CIRCLES: [&[&str]; 6] = [
    &[
        "book-tool/src/commands/exchange",
        "book-tool/src/commands/verify",
    ],
    &[
        "coordinator/src/book",
        "coordinator/src/cluster",
        "coordinator/src/replication",
        "coordinator/src/telemetry",
        "coordinator/src/verification",
    ],
    &[
        "crates/game/src/notation",
        "crates/game/src/position",
        "crates/game/src/rules",
    ],
    &["crates/schedule/src/tasks", "crates/schedule/src/workers"],
    &[
        "crates/search/src/alphabeta",
        "crates/search/src/control",
        "crates/search/src/gomoku",
        "crates/search/src/options",
        "crates/search/src/root",
        "crates/search/src/threats",
    ],
    &[
        "crates/search/src/gomoku/board",
        "crates/search/src/gomoku/threats",
    ],
];

fn folders_do_not_import_in_circles() {
    let mut cycles = folder_cycles(&sources());
    cycles.retain(|cycle| {
        let is_known = |known: &&[&str]| cycle.iter().all(|name| known.contains(&&**name));
        !FOLDERS_IN_CIRCLES.iter().any(is_known)
    });
    assert!(
        cycles.is_empty(),
        "no folders import each other in a circle: {cycles:#?}"
    );
}

#[test]
fn one_module_of_a_crate_knows_its_system() {
    let asks = |line: &str| line.contains("cfg(unix)") || line.contains("cfg(windows)");
    let is_inside = |line: &str| {
        let is_called = line.contains("cfg!(unix)") || line.contains("cfg!(windows)");
        is_called || line.starts_with("    ") && asks(line)
    };
    let names = ["os::unix", "nix::", "rustix::"];
    let uses = |line: &str| names.iter().any(|name| line.contains(name));
    let sources = sources();
    let (mut modules, mut faults) = (BTreeMap::<_, BTreeSet<_>>::new(), Vec::new());
    let mut users = BTreeSet::new();
    for source in &sources {
        let Some((package, file)) = source.path.split_once("/src/") else {
            continue;
        };
        let before_tests = source.text.split("#[cfg(test)]").next().unwrap_or_default();
        if before_tests.lines().any(asks) {
            modules.entry(package).or_default().insert(file);
        }
        if before_tests.lines().any(is_inside) {
            faults.push(&source.path);
        }
        if before_tests.lines().any(uses) {
            users.insert(package);
        }
    }
    // `files` has a module for each system.
    let is_known = |package: &str| modules.contains_key(package) || package == "crates/files";
    users.retain(|package| !is_known(package) && *package != "tests");
    assert!(users.is_empty(), "crates of one system: {users:?}");
    modules.retain(|_, files| files.len() > 1);
    assert!(
        faults.is_empty() && modules.is_empty(),
        "a crate asks for its system in one module, at items: {modules:#?} {faults:#?}"
    );
}

#[test]
fn sources_stay_below_their_ceilings() {
    let mut sources = sources();
    let (outside, inside) = line_counts(&sources);
    sources.retain(|source| source.path.starts_with("crates/certificate/"));
    let (certificate, _) = line_counts(&sources);
    for (found, ceiling, name) in [
        (outside, MAX_SOURCE_LINES, "lines of Rust outside tests"),
        (inside, MAX_TEST_LINES, "lines of tests"),
        (
            certificate,
            MAX_CERTIFICATE_LINES,
            "lines of crates/certificate",
        ),
    ] {
        assert!(
            found <= ceiling,
            "{found} {name}, {ceiling} are allowed: take away as much as you add; \
             tests/style/src/ceilings.rs says how to count"
        );
    }
}

#[test]
fn messages_name_flags_that_exist() {
    let faults = unknown_flags(&sources());
    assert_none("a program declares every flag that is named", &faults);
}

#[test]
fn links_of_documents_lead_to_files() {
    let root = workspace_root();
    let faults: Vec<_> = documents(&root)
        .iter()
        .flat_map(|document| broken_links(&root, document))
        .collect();
    assert_none("a link leads to a file", &faults);
}

#[test]
fn summary_lists_every_page() {
    let documents = documents(&workspace_root());
    let page = |path: &str| documents.iter().find(|page| page.path == path);
    let summary = page("docs/SUMMARY.md").expect("docs/SUMMARY.md");
    let measurements = page("docs/measurements/README.md").expect("docs/measurements/README.md");
    let listed = |document: &Document, folder: &str| -> Vec<String> {
        document
            .text
            .lines()
            .flat_map(links)
            .map(|link| format!("{folder}{link}"))
            .collect()
    };
    let mut listed_pages = listed(summary, "docs/");
    listed_pages.extend(listed(measurements, "docs/measurements/"));
    // Pages for developers stay out of the user's table of contents.
    let is_for_users = |path: &str| !path.starts_with("docs/development/");
    let missing: Vec<_> = documents
        .iter()
        .map(|document| &document.path)
        .filter(|path| path.starts_with("docs/") && *path != "docs/SUMMARY.md")
        .filter(|path| is_for_users(path) && *path != "docs/measurements/README.md")
        .filter(|path| !listed_pages.contains(path))
        .collect();
    assert!(missing.is_empty(), "no table of contents lists {missing:?}");
}
