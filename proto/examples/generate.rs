//! Generates `src/generated` from the .proto files with a compiler in Rust.

use std::error::Error;
use std::fs;
use std::path::Path;

use protox::prost::Message;

/// Messages, clients and servers.
pub(crate) const CODE: &str = "kagetsu.v1.rs";
/// The .proto files as data, for the reflection service.
pub(crate) const DESCRIPTORS: &str = "kagetsu.v1.bin";

fn main() -> Result<(), Box<dyn Error>> {
    generate(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/generated"))
}

/// Writes both files into `folder`.
pub(crate) fn generate(folder: &Path) -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let descriptors = protox::compile(["kagetsu/v1/kagetsu.proto"], [root])?;
    let mut bare = descriptors.clone();
    bare.file
        .iter_mut()
        .for_each(|file| file.source_code_info = None);
    fs::write(folder.join(DESCRIPTORS), bare.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes(".kagetsu.v1.Notes")
        .out_dir(folder)
        .compile_fds(descriptors)?;
    fs::metadata(folder.join(CODE))?;
    Ok(())
}
