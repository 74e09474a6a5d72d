use std::time::Duration;

use kagetsu_schedule::WorkerId;

use super::{Cluster, Event, machine};

/// A fault of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process dies; another one starts later.
    Kill { worker: WorkerId, down: Duration },
    /// The process stops, but its connection stays open.
    Freeze { worker: WorkerId, length: Duration },
    /// The connection breaks; the process works on.
    Cut { worker: WorkerId, length: Duration },
    /// The worker slows down to one position a second until it is killed and restarted.
    Crawl { worker: WorkerId, length: Duration },
    /// The worker is asked to stop, hands its tasks back and says goodbye; another one starts
    /// later.
    Drain { worker: WorkerId, down: Duration },
}

/// Time for which a stopping worker waits for acknowledgements.
const GRACE: Duration = Duration::from_secs(2);

impl Cluster {
    pub(super) fn strike(&mut self, fault: Fault) {
        self.trace.push(format!("{:?} {fault:?}", self.now));
        match fault {
            Fault::Kill { worker, down } => {
                self.hang_up(worker);
                self.machine(worker).die();
                self.schedule(
                    self.now + down,
                    Event::Machine(worker, machine::Event::Start),
                );
            }
            Fault::Freeze { worker, length } => {
                let until = self.now + length;
                self.machine(worker).freeze(until);
            }
            Fault::Cut { worker, length } => {
                self.hang_up(worker);
                let connect = self.machine(worker).now(machine::What::Connect);
                self.schedule(self.now + length, Event::Machine(worker, connect));
            }
            Fault::Crawl { worker, length } => {
                let now = self.now;
                self.machine(worker).crawl(now);
                self.schedule(
                    now + length,
                    Event::Fault(Fault::Kill {
                        worker,
                        down: Duration::ZERO,
                    }),
                );
            }
            Fault::Drain { worker, down } => {
                self.drain(worker);
                let stop = self.machine(worker).now(machine::What::Stop { down });
                self.schedule(self.now + GRACE, Event::Machine(worker, stop));
            }
        }
    }
}
