use std::io::Write;

use anyhow::Result;
use clap::Subcommand;
use kagetsu_http::WorkerJson;
use kagetsu_program::Exit;
use kagetsu_proto::Access;

use crate::cli::{runtime, write_json};
use crate::{remote, table};

/// Who works for a coordinator
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Who works, how fast, on how much, and why one is idle
    ///
    /// Example: kagetsu workers list --coordinator http://127.0.0.1:7615
    List {
        /// The coordinator
        #[arg(long, default_value = "http://127.0.0.1:7615", value_name = "URL")]
        coordinator: String,
        #[command(flatten)]
        access: Access,
        /// Prints one JSON array
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<Exit> {
    let Action::List { coordinator, access, json } = args.command;
    let connector = access.connector(&coordinator)?;
    let workers = runtime()?.block_on(remote::workers(&connector))?;
    let workers: Vec<WorkerJson> = workers.into_iter().map(WorkerJson::from).collect();
    if json {
        write_json(out, &workers)?;
        return Ok(Exit::Done);
    }
    let mut rows = table::plain(&["name", "engine", "slots", "threads", "tasks", "done", "nodes/s", "idle"]);
    for w in &workers {
        let numbers = [w.slots.into(), w.threads.into(), w.tasks.into(), w.done, w.speed].map(|n: u64| n.to_string());
        let idle = match &w.quarantine {
            Some(reason) => format!("in quarantine: {reason}"),
            None => w.idle.clone().unwrap_or_default(),
        };
        rows.add_row([vec![w.name.clone(), w.engine.clone()], numbers.to_vec(), vec![idle]].concat());
    }
    table::align_right(&mut rows, &[2, 3, 4, 5, 6]);
    table::write(out, &rows)?;
    Ok(Exit::Done)
}
