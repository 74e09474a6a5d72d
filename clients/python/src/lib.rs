//! The Python module `kagetsu._native`: positions, books, servers, the search, and certificates.
//!
//! Calls that take longer than a look-up release Python's lock. No input panics; errors become
//! Python exceptions.

mod analysis;
mod answer;
mod book;
mod certificate;
mod choice;
mod client;
mod errors;
mod json;
mod position;
mod source;
mod walk;

use pyo3::prelude::*;

/// Fills the module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::analysis::analyze;
    #[pymodule_export]
    use crate::answer::{PyAnswer, PyMoveValue, PyValue};
    #[pymodule_export]
    use crate::book::PyBook;
    #[pymodule_export]
    use crate::certificate::{PyCertificate, verify};
    #[pymodule_export]
    use crate::client::PyClient;
    #[pymodule_export]
    use crate::errors::{BookError, CertificateError, PositionError, ServerError};
    #[pymodule_export]
    use crate::position::{PyPosition, variants};
    #[pymodule_export]
    use crate::source::views;
    #[pymodule_export]
    use crate::walk::PyPositions;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
