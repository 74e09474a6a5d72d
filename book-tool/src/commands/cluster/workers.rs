use std::io::Write;

use anyhow::Result;
use clap::Subcommand;
use kagetsu_api::WorkerJson;
use kagetsu_program::Exit;
use kagetsu_proto::Access;
use serde::Serialize;

use crate::client::{self as remote, tell_leader};
use crate::output::OutputArgs;
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::runtime::runtime;
use kagetsu_terminal::table;

/// Lists the workers of a coordinator, and releases them from quarantine
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: WorkersAction,
}

#[derive(Debug, Subcommand)]
enum WorkersAction {
    /// Lists the workers: their speed, their tasks, and why one is idle
    ///
    /// Example: kagetsu workers list --coordinator http://127.0.0.1:7615
    List {
        #[command(flatten)]
        at: CoordinatorArgs,
        /// Prints one JSON array
        #[arg(long)]
        json: bool,
    },
    /// Ends the quarantine of the workers of a name, after their fault is repaired
    ///
    /// Connected workers are examined again. A coordinator with tokens requires the role admin.
    ///
    /// Example: kagetsu workers release node-7 --coordinator http://127.0.0.1:7615
    Release {
        /// The name of the worker
        name: String,
        #[command(flatten)]
        at: CoordinatorArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

#[derive(Serialize)]
struct ReleasedJson<'a> {
    name: &'a str,
    /// The number of workers of this name that were in quarantine.
    released: u32,
}

#[derive(Debug, clap::Args)]
struct CoordinatorArgs {
    /// The URL of the coordinator
    #[arg(long, default_value = "http://127.0.0.1:7615", value_name = "URL")]
    coordinator: String,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<Exit> {
    let (at, json) = match args.command {
        WorkersAction::List { at, json } => (at, json),
        WorkersAction::Release { name, at, output } => return release(&at, &name, output, out),
    };
    let connector = at.access.connector(&at.coordinator)?;
    let (workers, leader) = runtime()?.block_on(async {
        let workers = remote::workers(&connector).await?;
        anyhow::Ok((workers, at.access.leader(&at.coordinator).await))
    })?;
    let workers: Vec<WorkerJson> = workers.into_iter().map(WorkerJson::from).collect();
    if json {
        write_json(out, &workers)?;
        return Ok(Exit::Done);
    }
    tell_leader(leader);
    if workers.is_empty() {
        writeln!(
            std::io::stderr(),
            "no worker is connected; start one with `kagetsu-worker --coordinator {}`",
            at.coordinator
        )?;
        return Ok(Exit::Done);
    }
    let mut heads = vec![
        "name", "engine", "slots", "threads", "tasks", "done", "verified", "refuted", "failed",
        "nodes/s", "trust", "idle",
    ];
    // The column is shown only where tokens are in use.
    let has_tokens = workers.iter().any(|w| w.token.is_some());
    heads.extend(has_tokens.then_some("token"));
    let rows = workers.iter().map(|w| {
        let numbers = [
            w.slots.into(),
            w.threads.into(),
            w.tasks.into(),
            w.done,
            w.confirmed,
            w.refuted,
            w.failed,
        ]
        .map(|n: u64| n.to_string());
        // The measured speed of an idle worker only fades.
        let speed = if w.tasks > 0 {
            w.speed.to_string()
        } else {
            "-".into()
        };
        let trust = match &*w.trust {
            state @ ("quarantined" | "calibrating") => format!("{} ({state})", w.class),
            _ => w.class.clone(),
        };
        let idle = match &w.quarantine {
            Some(reason) if w.is_connected => format!("in quarantine: {reason}"),
            Some(reason) => format!("in quarantine, and not connected: {reason}"),
            None => w.idle.clone().unwrap_or_default(),
        };
        let token = has_tokens.then(|| w.token.clone().unwrap_or_default());
        let about = vec![w.name.clone(), w.engine.clone()];
        let state = vec![speed, trust, idle];
        [about, numbers.to_vec(), state, Vec::from_iter(token)].concat()
    });
    table::write(out, &heads, &[2, 3, 4, 5, 6, 7, 8, 9], rows)?;
    Ok(Exit::Done)
}

fn release(
    at: &CoordinatorArgs,
    name: &str,
    output: OutputArgs,
    out: &mut dyn Write,
) -> Result<Exit> {
    let connector = at.access.connector(&at.coordinator)?;
    let released = runtime()?.block_on(remote::release(&connector, name))?;
    let out = &mut output.report(out, &ReleasedJson { name, released })?;
    let count = if released == 1 {
        String::new()
    } else {
        format!(" ({released} of that name)")
    };
    writeln!(out, "{name}{count} is no longer in quarantine")?;
    Ok(Exit::Done)
}
