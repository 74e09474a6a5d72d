//! Checks of the machine: open files, cores, memory.

use std::fs;

use nix::sys::resource::{Resource, getrlimit};

use super::finding::{HealthFinding, size};

/// Open files that a coordinator of a middling cluster needs: three for each of 1,000 workers.
const MIN_OPEN_FILES: u64 = 4_096;
/// Memory that a coordinator and a worker with the default settings need.
const MIN_MEMORY_BYTES: u64 = 1 << 30;

pub(super) fn check() -> Vec<HealthFinding> {
    [open_files(), cores(), memory()]
        .into_iter()
        .flatten()
        .collect()
}

fn open_files() -> Option<HealthFinding> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    let found = format!("{soft} allowed, {hard} at most");
    // The coordinator raises its soft limit by itself.
    Some(if hard >= MIN_OPEN_FILES {
        HealthFinding::ok("open files", found)
    } else {
        let advice = "a coordinator takes a third of it for workers: raise LimitNOFILE (systemd) or `ulimit -Hn`";
        HealthFinding::warning("open files", found, advice)
    })
}

fn cores() -> Option<HealthFinding> {
    let usable = std::thread::available_parallelism().ok()?.get();
    let online = fs::read_to_string("/proc/cpuinfo")
        .ok()?
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    let found = format!("{usable} usable of {online}");
    Some(if usable >= online {
        HealthFinding::ok("cores", found)
    } else {
        let advice =
            "a container, job or taskset keeps the others away; workers use the usable ones";
        HealthFinding::warning("cores", found, advice)
    })
}

/// Compares the memory that this process may use with the need: what is free, or what its control
/// group leaves.
fn memory() -> Option<HealthFinding> {
    let free = available()?;
    let limit = control_group_limit();
    let usable = limit.map_or(free, |limit| limit.min(free));
    let found = match limit {
        Some(limit) => format!("{} free, limit {}", size(free), size(limit)),
        None => format!("{} free", size(free)),
    };
    Some(if usable >= MIN_MEMORY_BYTES {
        HealthFinding::ok("memory", found)
    } else {
        let advice =
            "lower --table-mib of workers and --cache-mib of the coordinator, or add memory";
        HealthFinding::warning("memory", found, advice)
    })
}

fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes << 10)
}

/// Returns the limit of version 2 control groups, of the nearest group that has one.
fn control_group_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let root = std::path::Path::new("/sys/fs/cgroup");
    let folder = root.join(own.trim_start_matches('/'));
    folder
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .find_map(|folder| {
            let text = fs::read_to_string(folder.join("memory.max")).ok()?;
            text.trim().parse().ok()
        })
}
