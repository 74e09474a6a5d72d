//! Several coordinators of one book: one leads, the others follow its journal and stand by.

pub(crate) mod keeper;
pub(crate) mod layer;
pub(crate) mod leadership;
mod outage;
pub(crate) mod replica;
