use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use kagetsu_coordinator::{Role, TokenEntry, Tokens};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::output::json::write_json;
use crate::output::table;

/// Tokens by which a coordinator knows its clients
///
/// A coordinator that is started with --tokens FILE lets only those come who show one of the tokens of the file, each for
/// its roles: `read` looks at the book, jobs and workers; `analyse` looks and has positions analysed; `build` looks and
/// starts and changes jobs; `work` works and nothing else; `admin` may do everything. The file holds no tokens, only their
/// hashes; a running coordinator takes up a change within seconds, and cuts off whose token is gone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Makes a token and prints it, once and for all
    ///
    /// Give it to a client as a file (--token-file) or as the variable KAGETSU_TOKEN.
    ///
    /// Example: kagetsu token new --tokens tokens.toml --role work cluster > worker.token
    New {
        #[command(flatten)]
        file: FileArgs,
        /// What it is for; may be given more than once: read, analyse, build, work, admin
        #[arg(long, required = true, value_name = "ROLE")]
        role: Vec<Role>,
        /// Requests a second that it may make [default: the coordinator's --token-rate]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        rate: Option<u32>,
        /// Its name, for lists and logs
        name: String,
    },
    /// Shows all tokens, without what makes them work
    ///
    /// Example: kagetsu token list --tokens tokens.toml
    List {
        #[command(flatten)]
        file: FileArgs,
        /// Prints one JSON array
        #[arg(long)]
        json: bool,
    },
    /// Takes a token away; what goes on under it ends
    ///
    /// Example: kagetsu token revoke --tokens tokens.toml cluster
    Revoke {
        #[command(flatten)]
        file: FileArgs,
        /// Its name
        name: String,
    },
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// The coordinator's tokens file; `new` makes it if it is not there
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
        let TokenEntry {
            name,
            roles,
            rate,
            created,
            ..
        } = entry;
        Self {
            name,
            roles: roles.iter().map(|role| role.name()).collect(),
            rate: *rate,
            created,
        }
    }
}

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<Exit> {
    match args.command {
        Action::New {
            file,
            role,
            rate,
            name,
        } => {
            let today = time::OffsetDateTime::now_utc().date().to_string();
            let token = Tokens::change(&file.tokens, |tokens| {
                tokens.make(&name, &role, rate, today)
            })?;
            writeln!(out, "{token}")?;
        }
        Action::List { file, json } => {
            let tokens = Tokens::read(&file.tokens)?;
            let tokens: Vec<_> = tokens.entries().iter().map(TokenJson::from).collect();
            if json {
                write_json(out, &tokens)?;
                return Ok(Exit::Done);
            }
            let mut rows = table::plain(&["name", "roles", "requests/s", "created"]);
            for TokenJson {
                name,
                roles,
                rate,
                created,
            } in tokens
            {
                let rate = rate.map_or_else(|| "default".into(), |rate| rate.to_string());
                rows.add_row([
                    name.to_string(),
                    roles.join(", "),
                    rate,
                    created.to_string(),
                ]);
            }
            table::align_right(&mut rows, &[2]);
            table::write(out, &rows)?;
        }
        Action::Revoke { file, name } => {
            // A file that is not there is not made for this.
            Tokens::read(&file.tokens)?;
            Tokens::change(&file.tokens, |tokens| tokens.revoke(&name))?;
        }
    }
    Ok(Exit::Done)
}
