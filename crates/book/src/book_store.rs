//! The store of every book. Another store is registered here.

pub(crate) use kagetsu_store::LsmStore as BookStore;
