//! Compares the manifests with the table of crates in `ARCHITECTURE.md` and with the sources.

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, MetadataCommand};

type House = BTreeMap<String, (String, Vec<String>)>;

fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .to_path_buf()
}

fn metadata() -> cargo_metadata::Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("manifests")
}

/// Returns crate -> (folder, crates of the workspace that it uses), from the manifests.
fn built() -> House {
    let root = root().canonicalize().expect("it is here");
    let metadata = metadata();
    let ours: Vec<_> = metadata
        .packages
        .iter()
        .map(|package| package.name.to_string())
        .collect();
    let package = |package: &cargo_metadata::Package| {
        let folder = package
            .manifest_path
            .parent()
            .expect("a folder")
            .strip_prefix(&root)
            .expect("in the workspace");
        let normal = package
            .dependencies
            .iter()
            .filter(|d| d.kind == DependencyKind::Normal);
        let mut uses: Vec<_> = normal
            .map(|d| d.name.clone())
            .filter(|name| ours.contains(name))
            .collect();
        uses.sort();
        (package.name.to_string(), (folder.to_string(), uses))
    };
    metadata.packages.iter().map(package).collect()
}

/// Returns the same from the table of `ARCHITECTURE.md`.
fn drawn() -> House {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let names = |cell: &str| {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let row = |line: &str| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let (folder, name) = (names(cells[1]).pop()?, names(cells.get(2)?).pop()?);
        Some((name, (folder, names(cells[3]))))
    };
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(row)
        .collect()
}

#[test]
fn crate_table_matches_manifests() {
    let (built, drawn) = (built(), drawn());
    assert!(!built.is_empty());
    for (name, house) in &built {
        assert_eq!(
            drawn.get(name),
            Some(house),
            "{name} in ARCHITECTURE.md (folder, uses)"
        );
    }
    assert_eq!(
        drawn.len(),
        built.len(),
        "ARCHITECTURE.md names a crate that does not exist"
    );
}

/// Cargo runs no tests of a library with `test = false`.
#[test]
fn libraries_without_tests_have_none() {
    let packages = metadata().packages;
    let targets = packages.iter().flat_map(|package| &package.targets);
    let untested: Vec<_> = targets
        .filter(|target| !target.test && target.src_path.file_name() == Some("lib.rs"))
        .filter_map(|target| target.src_path.parent())
        .collect();
    assert!(!untested.is_empty());
    let mut left: Vec<std::path::PathBuf> = untested.into_iter().map(Into::into).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder");
            left.extend(entries.map(|entry| entry.expect("readable").path()));
        } else {
            let text = std::fs::read_to_string(&path).expect("text");
            assert!(!text.contains("#[test]"), "{}", path.display());
        }
    }
}
