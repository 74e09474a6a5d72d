//! Updates of this program: a newer one from a folder behind a URL, signed by a known key.
//!
//! The program is `kagetsu-worker-OS-ARCH` there, as in `kagetsu-worker-linux-x86_64`, with its
//! signature of minisign beside it. The trusted comment of the signature is
//! `kagetsu-worker-OS-ARCH VERSION`, so that neither an older version nor the program of another
//! system passes for it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use kagetsu_program::{download, signing_key};
use kagetsu_proto::version_numbers;
use minisign_verify::Signature;

/// The variable of a program's first start, at which it keeps the one before.
const FIRST_START: &str = "KAGETSU_FIRST_START";
/// The ending of a program that another one has replaced. Windows lets no file take the place of a
/// program that runs, so each version has its own.
const OLD: &str = concat!(env!("CARGO_PKG_VERSION"), ".old");

/// Settings of updates.
#[derive(Args, Clone, Debug)]
pub struct UpdateArgs {
    /// Replaces this program by a newer one of --update-url: at the start, as often as
    /// --update-every says, and when the coordinator wants one. It finishes its tasks first, and
    /// keeps the old program for one start
    #[arg(long, requires_all = ["update_url", "update_key"], help_heading = "Updates")]
    pub self_update: bool,
    /// Folder of newer programs with their signatures, as https://HOST:7616/api/v1/archive; the
    /// program curl reads it, through the proxy of HTTPS_PROXY if there is one
    #[arg(long, value_name = "URL", help_heading = "Updates")]
    update_url: Option<String>,
    /// The public key of minisign that newer programs are signed by, or its file
    #[arg(long, value_name = "KEY|FILE", help_heading = "Updates")]
    update_key: Option<String>,
    /// Time between two looks for a newer program
    #[arg(long, default_value = "1h", value_name = "TIME", value_parser = humantime::parse_duration, help_heading = "Updates")]
    pub update_every: Duration,
}

/// The way to newer programs.
#[derive(Clone, Debug)]
pub struct Updater {
    url: String,
    key: String,
    program: PathBuf,
}

impl UpdateArgs {
    /// Returns the way to newer programs, if they are wanted. Removes an old program that was kept
    /// for one start.
    ///
    /// # Errors
    /// If this program has no path, or the key cannot be used.
    pub fn updater(&self) -> Result<Option<Updater>> {
        let (Some(url), Some(key), true) = (&self.update_url, &self.update_key, self.self_update)
        else {
            return Ok(None);
        };
        let updater = Updater {
            url: url.trim_end_matches('/').into(),
            key: key.clone(),
            program: std::env::current_exe().context("cannot find this program's file")?,
        };
        signing_key("--update-key", &updater.key)?;
        if std::env::var_os(FIRST_START).is_none() {
            updater.remove_old();
        }
        Ok(Some(updater))
    }
}

impl Updater {
    /// Installs the newer program, if there is one, and keeps this one beside it. Returns whether
    /// it did.
    ///
    /// # Errors
    /// If the newer program cannot be read, is not signed by the key, does not start, or cannot be
    /// written.
    pub fn install(&self) -> Result<bool> {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        let name = format!("kagetsu-worker-{os}-{arch}");
        let text = String::from_utf8(download(&self.place(&format!("{name}.minisig")))?)?;
        let signature = Signature::decode(&text).with_context(|| self.unsigned(&name))?;
        let comment = signature.trusted_comment().to_string();
        let (signed, version) = comment.split_once(' ').unwrap_or_default();
        ensure!(
            signed == name,
            "the signature of {} is that of '{comment}'; sign it by `minisign -S -t '{name} \
             VERSION' -m {name}`",
            self.place(&name)
        );
        if version_numbers(version) <= version_numbers(env!("CARGO_PKG_VERSION")) {
            tracing::debug!("{} has {version}, which is not newer", self.url);
            return Ok(false);
        }
        let program = download(&self.place(&name))?;
        let verified = signing_key("--update-key", &self.key)?.verify(&program, &signature, false);
        verified.with_context(|| self.unsigned(&name))?;
        let (new, old) = (self.beside("new"), self.beside(OLD));
        std::fs::write(&new, &program)
            .with_context(|| format!("cannot write {}", new.display()))?;
        std::fs::set_permissions(&new, self.program.metadata()?.permissions())?;
        let started = Command::new(&new).arg("-V").output();
        let said = started.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        ensure!(
            said.as_ref()
                .is_ok_and(|said| said.trim_end().ends_with(version)),
            "{} does not start here, or is not {version}: {said:?}",
            self.place(&name)
        );
        std::fs::rename(&self.program, &old).context("cannot set the old program aside")?;
        std::fs::rename(&new, &self.program).inspect_err(|_| {
            // The old program goes on under its name.
            let _ = std::fs::rename(&old, &self.program);
        })?;
        tracing::info!("installed {version}; {} is the one before", old.display());
        Ok(true)
    }

    /// Goes on as the program that was installed.
    ///
    /// # Errors
    /// If it cannot start.
    pub fn restart(&self) -> Result<()> {
        let mut command = Command::new(&self.program);
        command
            .args(std::env::args_os().skip(1))
            .env(FIRST_START, "1");
        let error = kagetsu_program::replace_process(&mut command);
        Err(error).with_context(|| format!("cannot start {}", self.program.display()))
    }

    /// Removes the programs before this one.
    fn remove_old(&self) {
        let beside = self.program.parent().map(std::fs::read_dir);
        let stem = self.program.file_stem().unwrap_or_default();
        for entry in beside.into_iter().flatten().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(&*stem.to_string_lossy()) && name.ends_with(".old") {
                // Windows keeps a program that runs; a later start removes it.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    fn beside(&self, end: &str) -> PathBuf {
        self.program.with_extension(end)
    }

    fn place(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    fn unsigned(&self, name: &str) -> String {
        format!(
            "{} is not signed by the key of --update-key",
            self.place(name)
        )
    }
}
