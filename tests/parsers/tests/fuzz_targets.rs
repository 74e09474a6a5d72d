//! The fuzz targets, which a nightly compiler builds apart from the workspace: each calls one law.

use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};
use std::path::Path;

/// Returns the laws with the types of their inputs, as the sources declare them.
fn laws(folder: &Path) -> BTreeMap<String, (String, String)> {
    let mut laws = BTreeMap::new();
    for entry in read_dir(folder.join("src")).expect("a folder") {
        let text = read_to_string(entry.expect("a file").path()).expect("text");
        for line in text.lines().filter_map(|line| line.strip_prefix("pub fn ")) {
            let (name, rest) = line.split_once('(').expect("a function");
            let (input, kind) = rest.split_once(": ").expect("an input");
            let kind = kind
                .strip_suffix(") {")
                .expect("a function without a result");
            laws.insert(name.to_string(), (input.to_string(), kind.to_string()));
        }
    }
    laws
}

#[test]
fn fuzz_targets_call_the_laws() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fuzz = folder.join("../../fuzz");
    let laws = laws(folder);
    assert!(!laws.is_empty(), "no laws were found");
    for (name, (input, kind)) in &laws {
        let target = read_to_string(fuzz.join(format!("fuzz_targets/{name}.rs")));
        let expected = format!(
            "#![no_main]\n\nuse kagetsu_parsers::{name};\nuse libfuzzer_sys::fuzz_target;\n\n\
             fuzz_target!(|{input}: {kind}| {name}({input}));\n"
        );
        assert_eq!(target.ok().as_ref(), Some(&expected), "{name}");
    }
    let targets = read_dir(fuzz.join("fuzz_targets"))
        .expect("a folder")
        .count();
    let manifest = read_to_string(fuzz.join("Cargo.toml")).expect("text");
    let programs: Vec<_> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/"))
        .filter_map(|path| path.strip_suffix(".rs\""))
        .collect();
    assert_eq!((targets, programs.len()), (laws.len(), laws.len()));
    assert!(
        programs.iter().all(|name| laws.contains_key(*name)),
        "{programs:?}"
    );
}
