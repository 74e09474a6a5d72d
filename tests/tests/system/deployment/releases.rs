//! The workflows and packages of a release.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kagetsu_tests::Finished;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn package_holds_only_what_its_script_builds() {
    let manifest = fs::read_to_string(root().join("book-tool/Cargo.toml")).expect("text");
    let manifest: toml::Value = toml::from_str(&manifest).expect("valid");
    let package = &manifest["package"]["metadata"]["deb"];
    let assets = package["assets"].as_array().expect("a list");
    let sources: Vec<&str> = assets
        .iter()
        .map(|asset| asset[0].as_str().expect("text"))
        .collect();
    let packed: BTreeSet<String> = sources
        .iter()
        .filter_map(|source| source.strip_prefix("target/release/").map(String::from))
        .collect();
    assert!(packed.contains("pbrain-kagetsu"), "{packed:?}");

    let script = fs::read_to_string(root().join("deploy/debian/pack.sh")).expect("text");
    let words: Vec<&str> = script.split_whitespace().collect();
    let named = words.windows(2).filter(|pair| pair[0] == "--package");
    let named: BTreeSet<&str> = named.map(|pair| pair[1]).collect();
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo");
    let built: BTreeSet<String> = metadata
        .packages
        .iter()
        .filter(|package| named.contains(package.name.as_str()))
        .flat_map(|package| &package.targets)
        .filter(|target| target.is_bin())
        .map(|target| target.name.clone())
        .collect();
    let missing: Vec<_> = packed.difference(&built).collect();
    assert!(
        missing.is_empty(),
        "the script does not build {missing:?}; it builds {built:?}"
    );
    // Files that the repository holds; those below target are made by the job.
    for source in sources.iter().filter(|source| !source.contains("target/")) {
        let path = root().join("book-tool").join(source.trim_end_matches("/*"));
        assert!(path.exists(), "{source}");
    }
}

/// The workflow and one command here make every part of a release, packagers find each script on a
/// page, and macOS has the tools that its scripts use.
#[test]
fn release_scripts_are_run_and_explained() {
    let text = |path: &str| fs::read_to_string(root().join(path)).expect("text");
    let callers = [".github/workflows/release.yml", "deploy/release/all.sh"].map(text);
    let page = text("CONTRIBUTING.md");
    for name in [
        "release/pack",
        "release/try",
        "release/wheel",
        "release/contents",
        "debian/pack",
        "debian/check",
        "release/all",
        "release/check-apple",
    ] {
        let path = format!("deploy/{name}.sh");
        assert!(page.contains(&path), "{path}");
        let makes_a_part = !name.contains("check") && name != "release/all";
        let is_run = callers.iter().all(|caller| caller.contains(&path));
        assert_eq!(is_run, makes_a_part, "{path}");
        let script = text(&path);
        let of_gnu = [
            "realpath -",
            "readlink -f",
            "stat --",
            "mapfile",
            "sed -i '",
        ];
        let found = of_gnu.iter().find(|form| script.contains(**form));
        assert!(
            !name.starts_with("release/") || found.is_none(),
            "{path}: {found:?}"
        );
    }
}

#[test]
fn workflows_match_published_schemas() {
    if !kagetsu_builders::is_installed("check-jsonschema", &["--version"]) {
        return;
    }
    for (schema, folder) in [
        ("vendor.github-workflows", ".github/workflows"),
        ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE"),
    ] {
        let files = fs::read_dir(root().join(folder)).expect("the folder");
        let files = files.map(|entry| entry.expect("an entry").path());
        let files: Vec<_> = files
            .filter(|path| path.file_name().is_some_and(|name| name != "config.yml"))
            .collect();
        assert!(!files.is_empty(), "{folder}");
        let mut check = Command::new("check-jsonschema");
        check.args(["--builtin-schema", schema]).args(&files);
        Finished::of(check).ok();
    }
}

/// The crates that are published have what crates.io and docs.rs show.
#[test]
fn published_crates_describe_themselves() {
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo");
    let is_published = |package: &&cargo_metadata::Package| package.publish.is_none();
    let published: Vec<_> = metadata.packages.iter().filter(is_published).collect();
    assert!(published.len() > 20, "{}", published.len());
    let names: BTreeSet<&str> = published.iter().map(|package| &**package.name).collect();
    for package in &published {
        let name = &package.name;
        assert!(package.description.is_some(), "{name}: description");
        assert!(package.license.is_some(), "{name}: license");
        assert!(package.repository.is_some(), "{name}: repository");
        assert!(
            (1..=5).contains(&package.keywords.len()),
            "{name}: keywords"
        );
        assert!(!package.categories.is_empty(), "{name}: categories");
        assert_eq!(
            package.metadata["docs"]["rs"]["all-features"], true,
            "{name}: docs.rs"
        );
        for dependency in &package.dependencies {
            let is_published = names.contains(&*dependency.name);
            let has_version = dependency.req.to_string() != "*";
            let is_ours = dependency.path.is_some();
            let is_development = dependency.kind == cargo_metadata::DependencyKind::Development;
            assert!(
                !is_ours || is_development || (is_published && has_version),
                "{name} needs {}, which is not published",
                dependency.name
            );
        }
    }
}

/// Packs every crate and compiles it from its package, in the order of publication.
#[test]
#[ignore = "compiles all crates again, and needs the registry"]
fn published_crates_compile_from_their_packages() {
    let mut publish = Command::new(env!("CARGO"));
    publish
        .args(["publish", "--workspace", "--dry-run", "--allow-dirty"])
        .current_dir(root());
    Finished::of(publish).ok();
}
