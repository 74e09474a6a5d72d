//! The files of `deploy/`: Slurm scripts, Kubernetes manifests, systemd units, monitoring.

mod manifests;
mod monitoring;
mod releases;
mod slurm;
mod windows;
