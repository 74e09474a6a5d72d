use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

/// Whether this coordinator leads its book, and which one does otherwise.
///
/// A coordinator whose book is a folder, or that has none, always leads.
#[derive(Clone, Debug)]
pub(crate) struct Leadership {
    is_leader: Arc<watch::Sender<bool>>,
    /// The address of the coordinator that leads, if it is known.
    leader: Arc<Mutex<Option<String>>>,
}

impl Leadership {
    pub(crate) fn new(is_leader: bool) -> Self {
        Self {
            is_leader: Arc::new(watch::Sender::new(is_leader)),
            leader: Arc::default(),
        }
    }

    pub(crate) fn is_leader(&self) -> bool {
        *self.is_leader.borrow()
    }

    /// Returns the state, now and after each change.
    pub(crate) fn watch(&self) -> watch::Receiver<bool> {
        self.is_leader.subscribe()
    }

    /// This coordinator leads from now on, or does not any more.
    pub(crate) fn set(&self, is_leader: bool) {
        self.is_leader.send_replace(is_leader);
    }

    /// Notes the address of the coordinator that leads.
    pub(crate) fn set_leader(&self, address: Option<String>) {
        let address = address.filter(|address| !address.is_empty());
        *self.leader.lock() = address;
    }

    /// Returns the address of the coordinator that leads, if it is known.
    pub(crate) fn leader(&self) -> Option<String> {
        let leader = self.leader.lock();
        leader.clone()
    }

    /// Returns the message for a request that only the leader answers.
    pub(crate) fn refusal(&self) -> String {
        match self.leader() {
            Some(address) => format!(
                "this coordinator follows; the one at {address} leads the book: send changes there"
            ),
            None => "no coordinator leads the book at the moment; try again".into(),
        }
    }
}
