//! The committed generated code is what the .proto files give.

#[path = "../examples/generate.rs"]
#[expect(dead_code, reason = "the example's main")]
mod generate;

use std::fs;
use std::path::Path;

#[test]
fn the_generated_code_is_current() {
    let fresh = tempfile::tempdir().expect("a folder");
    generate::generate(fresh.path()).expect("the .proto files compile");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/generated");
    for name in [generate::CODE, generate::DESCRIPTORS] {
        let (fresh, committed) = (fs::read(fresh.path().join(name)), fs::read(committed.join(name)));
        let same = fresh.expect("generated") == committed.expect("committed");
        assert!(same, "{name} is not current: run `cargo run -p kagetsu-proto --example generate`");
    }
}
