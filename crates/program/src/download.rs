use std::io::Read;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use minisign_verify::PublicKey;

/// The longest time of a download, in seconds.
const MAX_SECONDS: &str = "600";
/// The largest file that is downloaded.
const MAX_BYTES: u64 = 1 << 30;

/// Downloads a file over HTTP or HTTPS by the program curl, which knows the system's proxies and
/// authorities.
///
/// # Errors
/// If there is no curl, no such file, or the file has more than 1 GiB.
pub fn download(url: &str) -> Result<Vec<u8>> {
    // Fails at an error of HTTP, says nothing but faults, and follows redirections.
    let mut curl = Command::new("curl")
        .args(["-f", "-s", "-S", "-L", "-m"])
        .args([MAX_SECONDS, "--", url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start the program curl, which reads {url}; install it"))?;
    let mut bytes = Vec::new();
    if let Some(out) = curl.stdout.take() {
        out.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > MAX_BYTES {
        // It may have ended by itself.
        let _ = curl.kill();
        curl.wait()?;
        bail!("{url} has more than 1 GiB; download it by another program");
    }
    let ended = curl.wait_with_output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    let said = said.trim().trim_start_matches("curl: ");
    ensure!(ended.status.success(), "cannot read {url}: {said}");
    Ok(bytes)
}

/// Reads a public key of minisign, given as it is or as its file.
///
/// # Errors
/// If it is neither; the message names the flag.
pub fn signing_key(flag: &str, given: &str) -> Result<PublicKey> {
    let key = match kagetsu_files::read_text(given.as_ref()) {
        Ok(text) => PublicKey::decode(&text),
        Err(_) => PublicKey::from_base64(given),
    };
    key.with_context(|| format!("{flag} is neither a key of minisign nor a file with one"))
}
