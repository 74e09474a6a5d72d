//! The exceptions.

use pyo3::conversion::FromPyObjectOwned;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    kagetsu,
    PositionError,
    PyValueError,
    "A variant, move, FEN or board that the rules do not allow."
);
create_exception!(
    kagetsu,
    BookError,
    PyException,
    "A book that cannot be opened, or is damaged."
);
create_exception!(
    kagetsu,
    ServerError,
    PyException,
    "A server that cannot be reached, or refuses the request."
);
create_exception!(
    kagetsu,
    CertificateError,
    PyValueError,
    "A certificate that is damaged, or does not prove its claim."
);

/// An error about a position.
pub(crate) fn position(error: impl ToString) -> PyErr {
    PositionError::new_err(error.to_string())
}

/// An error about a book.
pub(crate) fn book(error: impl ToString) -> PyErr {
    BookError::new_err(error.to_string())
}

/// An error about a server.
pub(crate) fn server(error: impl ToString) -> PyErr {
    ServerError::new_err(error.to_string())
}

/// An error of reading a book.
pub(crate) fn reading(error: anyhow::Error) -> PyErr {
    book(format!("{error:#}"))
}

/// An error of a view of a book.
pub(crate) fn view(error: kagetsu_reader::ViewError) -> PyErr {
    match error {
        kagetsu_reader::ViewError::Invalid(message) => PyValueError::new_err(message),
        error => book(error),
    }
}

/// Reads a whole number. One beyond its range is a `TypeError`, to which the name of the argument
/// is added.
pub(crate) fn whole<'py, T: FromPyObjectOwned<'py>>(value: &Bound<'py, PyAny>) -> PyResult<T> {
    value.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        match error.is_instance_of::<PyOverflowError>(value.py()) {
            true => PyTypeError::new_err(format!("{value} is out of range")),
            false => error,
        }
    })
}
