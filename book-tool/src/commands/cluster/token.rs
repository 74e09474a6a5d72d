use std::io::Write;
use std::path::PathBuf;

use crate::output::OutputArgs;
use anyhow::{Context, Result};
use clap::Subcommand;
use kagetsu_coordinator::{Role, TokenEntry, Tokens};
use kagetsu_program::{Exit, Readers, check_place, write_whole};
use serde::Serialize;
use serde_json::json;

use kagetsu_terminal::table;

/// Manages the tokens by which a coordinator authenticates its clients
///
/// A coordinator that runs with --tokens FILE accepts only clients with a token of the file, each
/// for its roles: `read` reads the book, jobs and workers; `analyse` also starts analyses; `build`
/// also starts and changes jobs; `work` only works, as one of the operator's workers; `volunteer`
/// only works, and its answers are verified; `admin` may do everything. The file holds hashes of
/// the tokens. A running coordinator notices a change within seconds and disconnects
/// clients whose token was revoked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: TokenAction,
}

#[derive(Debug, Subcommand)]
enum TokenAction {
    /// Creates a token, and prints it once or writes it to a file
    ///
    /// Give it to a client as a file (--token-file) or in the variable KAGETSU_TOKEN.
    ///
    /// Example: kagetsu token new --tokens tokens.toml --role work cluster --out worker.token
    New {
        #[command(flatten)]
        file: FileArgs,
        /// A role of the token: read, analyse, build, work, volunteer, admin; repeat the flag for
        /// several
        #[arg(long, required = true, value_name = "ROLE")]
        role: Vec<Role>,
        /// Maximum requests a second [default: the coordinator's --token-rate]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        rate: Option<u32>,
        /// Writes the token to this file, which only its owner can read, and does not print it
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// The name of the token in lists and logs
        name: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Lists the tokens by name, without their secrets
    ///
    /// Example: kagetsu token list --tokens tokens.toml
    List {
        #[command(flatten)]
        file: FileArgs,
        /// Prints one JSON array
        #[arg(long)]
        json: bool,
    },
    /// Revokes a token, and ends the connections that use it
    ///
    /// Example: kagetsu token revoke --tokens tokens.toml cluster
    Revoke {
        #[command(flatten)]
        file: FileArgs,
        /// The name of the token
        name: String,
        #[command(flatten)]
        output: OutputArgs,
    },
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// The coordinator's tokens file; `new` creates it if missing
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,
}

#[derive(Serialize)]
struct TokenJson<'a> {
    name: &'a str,
    roles: Vec<&'static str>,
    rate: Option<u32>,
    created: &'a str,
}

impl<'a> From<&'a TokenEntry> for TokenJson<'a> {
    fn from(entry: &'a TokenEntry) -> Self {
        Self {
            name: &entry.name,
            roles: entry.roles.iter().map(|role| role.name()).collect(),
            rate: entry.rate,
            created: &entry.created,
        }
    }
}

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<Exit> {
    match args.command {
        TokenAction::New {
            file,
            role,
            rate,
            out: path,
            name,
            output,
        } => {
            if let Some(path) = &path {
                let cannot = || format!("cannot write the token to {}", path.display());
                check_place(path).with_context(cannot)?;
            }
            let today = time::OffsetDateTime::now_utc().date().to_string();
            let token = Tokens::change(&file.tokens, |tokens| {
                tokens.make(&name, &role, rate, today)
            })?;
            match path {
                Some(path) => write_whole(&path, &format!("{token}\n"), Readers::Owner)
                    .with_context(|| format!("cannot write the token to {}", path.display()))?,
                // It is shown only once.
                None => {
                    let json = json!({"name": name, "token": token});
                    writeln!(output.report(out, &json)?, "{token}")?;
                }
            }
        }
        TokenAction::List { file, json } => {
            let tokens = Tokens::read(&file.tokens)?;
            let tokens: Vec<_> = tokens.entries().iter().map(TokenJson::from).collect();
            let out = &mut OutputArgs { json }.report(out, &tokens)?;
            let rows = tokens.iter().map(|entry| {
                let rate = entry.rate.map_or("default".into(), |rate| rate.to_string());
                let (name, created) = (entry.name.to_string(), entry.created.to_string());
                [name, entry.roles.join(", "), rate, created]
            });
            let heads = ["name", "roles", "requests/s", "created"];
            table::write(out, &heads, &[2], rows)?;
        }
        TokenAction::Revoke { file, name, output } => {
            // A missing file is an error here, and not created.
            Tokens::read(&file.tokens)?;
            Tokens::change(&file.tokens, |tokens| tokens.revoke(&name))?;
            output.report(out, &json!({"revoked": name}))?;
        }
    }
    Ok(Exit::Done)
}
