//! Compares the dependencies with `deny.toml`: licences, sources and bans, as `cargo deny check
//! licenses bans sources` does, without a network.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cargo_metadata::{Metadata, MetadataCommand, Package};
use toml::Table;

fn root() -> PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .to_path_buf()
}

/// Returns all crates that are compiled for Linux.
fn metadata() -> Metadata {
    let options = ["--locked", "--filter-platform", "x86_64-unknown-linux-gnu"]
        .map(String::from)
        .to_vec();
    let mut command = MetadataCommand::new();
    command
        .manifest_path(root().join("Cargo.toml"))
        .other_options(options)
        .exec()
        .expect("manifests")
}

fn rules() -> Table {
    std::fs::read_to_string(root().join("deny.toml"))
        .expect("deny.toml")
        .parse()
        .expect("TOML")
}

fn words(rules: &Table, section: &str, key: &str) -> BTreeSet<String> {
    let list = rules[section][key].as_array().expect("a list");
    list.iter()
        .map(|word| word.as_str().expect("a word").to_string())
        .collect()
}

/// Returns the external crates in use.
fn used(metadata: &Metadata) -> Vec<&Package> {
    let nodes = &metadata.resolve.as_ref().expect("resolved").nodes;
    let ids: BTreeSet<_> = nodes.iter().map(|node| &node.id).collect();
    let used: Vec<_> = metadata
        .packages
        .iter()
        .filter(|p| p.source.is_some() && ids.contains(&p.id))
        .collect();
    assert!(used.len() > 50, "only {} crates", used.len());
    used
}

/// Whether an SPDX expression can be satisfied by the allowed licences. An exception (`WITH`) only
/// grants more.
fn is_allowed(licence: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = licence
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let tokens: Vec<_> = spaced.split_whitespace().collect();
    let mut at = 0;
    let value = any_of(&tokens, &mut at, allowed);
    assert_eq!(at, tokens.len(), "'{licence}' is not understood");
    value
}

fn any_of(tokens: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut value = all_of(tokens, at, allowed);
    while tokens.get(*at) == Some(&"OR") {
        *at += 1;
        value |= all_of(tokens, at, allowed);
    }
    value
}

fn all_of(tokens: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut value = one(tokens, at, allowed);
    while tokens.get(*at) == Some(&"AND") {
        *at += 1;
        value &= one(tokens, at, allowed);
    }
    value
}

fn one(tokens: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let token = tokens.get(*at).copied().unwrap_or_default();
    *at += 1;
    if token == "(" {
        let value = any_of(tokens, at, allowed);
        *at += 1;
        return value;
    }
    if tokens.get(*at) == Some(&"WITH") {
        *at += 2;
    }
    allowed.contains(token)
}

#[test]
fn licence_expressions_are_evaluated() {
    let allowed = BTreeSet::from(["MIT", "Apache-2.0"].map(String::from));
    for (licence, value) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0-only OR MIT", true),
        ("GPL-3.0-only AND MIT", false),
        ("(MIT OR GPL-3.0-only) AND Apache-2.0", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
    ] {
        assert_eq!(is_allowed(licence, &allowed), value, "{licence}");
    }
}

#[test]
fn every_crate_has_allowed_licence_and_source() {
    let (metadata, rules) = (metadata(), rules());
    let licences = words(&rules, "licenses", "allow");
    let registries = words(&rules, "sources", "allow-registry");
    let banned = words(&rules, "bans", "deny");
    for package in used(&metadata) {
        let name = format!("{} {}", package.name, package.version);
        let licence = package
            .license
            .as_deref()
            .unwrap_or_else(|| panic!("{name} names no licence"));
        assert!(
            is_allowed(licence, &licences),
            "{name} is under {licence}; see deny.toml"
        );
        let source = package.source.as_ref().expect("of others").repr.clone();
        let registry = source
            .strip_prefix("registry+")
            .unwrap_or_else(|| panic!("{name} comes from {source}"));
        assert!(
            registries.contains(registry),
            "{name} comes from {registry}; see deny.toml"
        );
        assert!(
            !banned.contains(package.name.as_str()),
            "{name} is banned; see deny.toml"
        );
    }
}

#[test]
fn every_external_crate_is_locked_by_checksum() {
    let lock: Table = std::fs::read_to_string(root().join("Cargo.lock"))
        .expect("it is here")
        .parse()
        .expect("TOML");
    let packages = lock["package"].as_array().expect("packages");
    let of_others: Vec<_> = packages
        .iter()
        .filter(|package| package.get("source").is_some())
        .collect();
    assert!(of_others.len() > 50);
    for package in of_others {
        let checksum = package
            .get("checksum")
            .and_then(|sum| sum.as_str())
            .unwrap_or_default();
        assert_eq!(checksum.len(), 64, "{package}");
    }
}

/// An ignored advisory names a crate that is still in use, with a reason.
#[test]
fn ignored_advisories_have_reasons() {
    let rules = rules();
    for advisory in rules["advisories"]["ignore"].as_array().expect("a list") {
        let id = advisory
            .get("id")
            .and_then(|id| id.as_str())
            .unwrap_or_default();
        assert!(id.starts_with("RUSTSEC-") && id.len() == 17, "{advisory}");
        let reason = advisory
            .get("reason")
            .and_then(|reason| reason.as_str())
            .unwrap_or_default();
        assert!(reason.len() > 20, "{advisory}");
    }
}
