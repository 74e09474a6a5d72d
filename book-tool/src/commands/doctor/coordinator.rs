//! Checks of a running coordinator: the connection, its workers and its jobs.

use kagetsu_api::{JobJson, WorkerJson};
use kagetsu_proto::Access;
use kagetsu_terminal::runtime::runtime;

use super::{HealthFinding, Level};
use crate::client::{self, Builds};

pub(super) fn check(url: &str, access: &Access) -> Vec<HealthFinding> {
    ask(url, access).unwrap_or_else(|error| {
        // The messages of connections and refusals name the way out.
        let fault = HealthFinding::new(Level::Fault, url, format!("{error:#}"));
        vec![fault.advise("see docs/troubleshooting.md, and the coordinator's log")]
    })
}

fn ask(url: &str, access: &Access) -> anyhow::Result<Vec<HealthFinding>> {
    let connector = access.connector(url)?;
    let (workers, jobs, leader) = runtime()?.block_on(async {
        let workers = client::workers(&connector).await?;
        let jobs = Builds::connect(&connector).await?.list().await?;
        anyhow::Ok((workers, jobs, access.leader(url).await))
    })?;
    let workers: Vec<_> = workers.into_iter().map(WorkerJson::from).collect();
    let jobs: Vec<_> = jobs.iter().map(JobJson::from).collect();
    let leader = leader.map_or_else(String::new, |leader| format!("; {leader} leads"));
    let answers = format!("answers, and accepts this caller{leader}");
    let mut findings = vec![HealthFinding::new(Level::Ok, url, answers)];
    let connected = workers.iter().filter(|worker| worker.is_connected).count();
    let running = jobs.iter().filter(|job| job.state == "running").count();
    let found = format!("{connected} connected, {running} running jobs");
    findings.push(if connected == 0 && running > 0 {
        HealthFinding::new(Level::Fault, "workers", found)
            .advise("start kagetsu-worker with this coordinator's URL")
    } else {
        HealthFinding::new(Level::Ok, "workers", found)
    });
    for worker in &workers {
        if let Some(reason) = &worker.quarantine {
            let (subject, found) = (format!("worker {}", worker.name), "in quarantine");
            let advice = format!("after the repair: kagetsu workers release {}", worker.name);
            let found = format!("{found}: {reason}");
            findings.push(HealthFinding::new(Level::Warning, subject, found).advise(advice));
        }
    }
    for job in jobs {
        let subject = format!("job {}", job.name);
        let (level, found, advice) = if job.state == "failed" {
            let reason = job.reason.unwrap_or_default();
            (Level::Fault, format!("failed: {reason}"), "jobs retry")
        } else if let Some(reason) = job.waits_for {
            (Level::Warning, format!("waits: {reason}"), "jobs show")
        } else if job.set_aside > 0 {
            let found = format!("skips {} positions", job.set_aside);
            (Level::Warning, found, "jobs show")
        } else {
            continue;
        };
        let advice = format!("kagetsu {advice} {}", job.name);
        findings.push(HealthFinding::new(level, subject, found).advise(advice));
    }
    Ok(findings)
}
