//! Certificates of proofs.

use std::fs::File;
use std::io::{self, BufReader};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use kagetsu_certificate::{CheckedReplies, Tree, check_parallel};
use pyo3::prelude::*;

use crate::errors::CertificateError;
use crate::position::PyPosition;

/// A certificate that was checked.
#[pyclass(name = "Certificate", frozen, module = "kagetsu")]
pub struct PyCertificate {
    position: kagetsu_game::Position,
    /// 'win' or 'loss', from the view of the side to move.
    #[pyo3(get)]
    claim: String,
    /// The game ends within this many plies.
    #[pyo3(get)]
    plies: u16,
    /// Positions of the winner that were checked.
    #[pyo3(get)]
    positions: u64,
    /// Nodes of the certificate.
    #[pyo3(get)]
    nodes: usize,
}

#[pymethods]
impl PyCertificate {
    /// The proven position.
    #[getter]
    fn position(&self) -> PyPosition {
        PyPosition(self.position.clone())
    }

    fn __repr__(&self) -> String {
        format!("Certificate({} in {})", self.claim, self.plies)
    }
}

/// Checks a certificate by the rules alone, and releases Python's lock meanwhile.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, path: PathBuf) -> PyResult<PyCertificate> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let file = File::open(&path).map_err(named)?;
    py.detach(|| {
        let tree = Tree::read(&mut BufReader::new(file))?;
        let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let checked = check_parallel(&tree, CheckedReplies::ByZones, threads, &|_| {})?;
        Ok(PyCertificate {
            claim: tree.claim.to_string(),
            plies: checked.plies,
            positions: checked.positions,
            nodes: tree.nodes().len(),
            position: tree.position,
        })
    })
    .map_err(|fault: kagetsu_certificate::TreeFault| {
        CertificateError::new_err(format!("{}: {fault}", path.display()))
    })
}
