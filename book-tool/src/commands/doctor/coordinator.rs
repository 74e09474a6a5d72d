//! Checks of a running coordinator: the connection, its workers and its jobs.

use kagetsu_api::{JobJson, WorkerJson};
use kagetsu_proto::Access;

use super::finding::HealthFinding;
use crate::client::{self, Builds};
use kagetsu_terminal::runtime::runtime;

pub(super) fn check(url: &str, access: &Access) -> Vec<HealthFinding> {
    match ask(url, access) {
        Ok(findings) => findings,
        // The messages of connections and refusals name the way out.
        Err(error) => vec![HealthFinding::fault(
            url,
            format!("{error:#}"),
            "see docs/troubleshooting.md, and the coordinator's log",
        )],
    }
}

fn ask(url: &str, access: &Access) -> anyhow::Result<Vec<HealthFinding>> {
    let connector = access.connector(url)?;
    let (workers, jobs) = runtime()?.block_on(async {
        let workers = client::workers(&connector).await?;
        let jobs = Builds::connect(&connector).await?.list().await?;
        anyhow::Ok((workers, jobs))
    })?;
    let workers: Vec<_> = workers.into_iter().map(WorkerJson::from).collect();
    let jobs: Vec<_> = jobs.iter().map(JobJson::from).collect();
    let mut findings = vec![HealthFinding::ok(url, "answers, and accepts this caller")];
    let connected = workers.iter().filter(|worker| worker.is_connected).count();
    let running = jobs.iter().filter(|job| job.state == "running").count();
    findings.push(if connected == 0 && running > 0 {
        let advice = "start kagetsu-worker with this coordinator's URL";
        let jobs = if running == 1 { "job is" } else { "jobs are" };
        let found = format!("none is connected, and {running} {jobs} running");
        HealthFinding::fault("workers", found, advice)
    } else {
        HealthFinding::ok("workers", format!("{connected} connected"))
    });
    for worker in &workers {
        if let Some(reason) = &worker.quarantine {
            findings.push(HealthFinding::warning(
                format!("worker {}", worker.name),
                format!("in quarantine: {reason}"),
                format!(
                    "when its fault is repaired: kagetsu workers release {}",
                    worker.name
                ),
            ));
        }
    }
    for job in jobs {
        let subject = format!("job {}", job.name);
        if job.state == "failed" {
            let reason = job.reason.unwrap_or_default();
            let advice = format!("kagetsu jobs retry {}", job.name);
            findings.push(HealthFinding::fault(
                subject,
                format!("failed: {reason}"),
                advice,
            ));
        } else if let Some(reason) = job.waits_for {
            findings.push(HealthFinding::warning(
                subject,
                format!("waits: {reason}"),
                "start such workers",
            ));
        } else if job.set_aside > 0 {
            let found = format!("skips {} positions", job.set_aside);
            let advice = format!("kagetsu jobs show {} gives the reasons", job.name);
            findings.push(HealthFinding::warning(subject, found, advice));
        }
    }
    Ok(findings)
}
