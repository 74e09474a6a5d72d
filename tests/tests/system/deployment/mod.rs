//! The files of `deploy/`: Slurm scripts, Kubernetes manifests, systemd units.

mod manifests;
mod slurm;
