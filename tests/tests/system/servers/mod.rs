//! The HTTP server, the explorer page and a client in Python.

mod appearance;
mod archive;
pub(crate) mod browsing;
mod chinese;
mod clients;
pub(crate) mod http;
mod installed;
mod open;
mod page;
mod panels;
mod reading;
mod site;
mod views;
