//! The committed generated code is current, and other compilers accept the .proto files.

#[path = "../examples/generate.rs"]
#[expect(dead_code, reason = "the example's main")]
mod generate;

use std::fs;
use std::path::Path;
use std::process::Command;

/// The path of the .proto file.
const PROTO: &str = "kagetsu/v1/kagetsu.proto";

#[test]
fn the_generated_code_is_current() {
    let fresh = tempfile::tempdir().expect("a folder");
    generate::generate(fresh.path()).expect("the .proto files compile");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/generated");
    for name in [generate::CODE, generate::DESCRIPTORS] {
        let (fresh, committed) = (
            fs::read(fresh.path().join(name)),
            fs::read(committed.join(name)),
        );
        let same = fresh.expect("generated") == committed.expect("committed");
        assert!(
            same,
            "{name} is not current: run `cargo run -p kagetsu-proto --example generate`"
        );
    }
}

/// Returns the text in brackets after `what` in a line of a .proto file, without the word `stream`.
fn message_of<'a>(line: &'a str, what: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(what)?;
    let (inside, _) = rest.split_once('(')?.1.split_once(')')?;
    Some(inside.trim().trim_start_matches("stream ").trim())
}

/// protoc looks names up in the service first, where a method hides a message of the same name.
#[test]
fn no_method_hides_a_message() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PROTO))
        .expect("the .proto file");
    let mut count = 0;
    for service in text.split("\nservice ").skip(1) {
        let (service, _) = service.split_once("\n}").expect("its end");
        let methods: Vec<&str> = service
            .lines()
            .filter_map(|line| line.trim().strip_prefix("rpc ")?.split('(').next())
            .collect();
        count += methods.len();
        for line in service
            .lines()
            .filter(|line| line.trim().starts_with("rpc "))
        {
            for message in
                ["rpc ", " returns "].map(|what| message_of(line, what).expect("a message"))
            {
                assert!(
                    !methods.contains(&message),
                    "the method {message} hides the message: .kagetsu.v1.{message}"
                );
            }
        }
    }
    assert!(count >= 17, "only {count} methods");
}

#[test]
fn protoc_reads_the_published_file() {
    let (root, out) = (
        env!("CARGO_MANIFEST_DIR"),
        tempfile::tempdir().expect("a folder"),
    );
    let python = ["python3", "-m", "grpc_tools.protoc"];
    let has_protoc = |words: &[&str]| {
        let output = Command::new(words[0])
            .args(&words[1..])
            .arg("--version")
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    let Some(words) = [&["protoc"][..], &python[..]]
        .into_iter()
        .find(|words| has_protoc(words))
    else {
        kagetsu_builders::skip("protoc, or grpcio-tools of Python");
        return;
    };
    let mut protoc = Command::new(words[0]);
    protoc
        .args(&words[1..])
        .args(["--proto_path", root, "--descriptor_set_out"])
        .arg(out.path().join("services"));
    let output = protoc.arg(PROTO).output().expect("it started before");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
