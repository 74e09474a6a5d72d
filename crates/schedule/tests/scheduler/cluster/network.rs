use std::time::Duration;

use kagetsu_schedule::{Report, Task, TaskId, WorkerId};
use rand::RngExt;

use super::{Cluster, Event};

/// A message from a worker.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    Join(u32, Vec<(TaskId, u32)>),
    Beat(Vec<(TaskId, u64)>),
    Report(TaskId, u32, Report),
    Goodbye,
}

/// A message from the coordinator.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    Assign(Task),
    Revoke(TaskId),
    Acknowledge(TaskId, u32),
}

/// A delivery, with the connection that it was sent on.
#[derive(Debug)]
pub(crate) enum Delivery {
    ToCoordinator(WorkerId, u64, Message),
    ToMachine(WorkerId, u64, Order),
    /// The coordinator notices that the stream has ended.
    Broken(WorkerId, u64),
}

impl Delivery {
    /// Whether it may have an effect on a cluster otherwise at rest.
    pub(crate) const fn matters(&self) -> bool {
        !matches!(self, Self::ToCoordinator(_, _, Message::Beat(_)))
    }
}

impl Cluster {
    /// Sends from the worker to the coordinator: in order, unless the plan is chaotic.
    pub(super) fn say(&mut self, worker: WorkerId, message: Message) {
        let Some(connection) = self.machine(worker).connection else {
            return;
        };
        let may_stray =
            self.plan.is_chaotic && matches!(message, Message::Beat(_) | Message::Report(..));
        if may_stray && self.dice.random_bool(0.1) {
            let late = self.now + Duration::from_millis(self.dice.random_range(0..30_000));
            self.schedule(
                late,
                Event::Network(Delivery::ToCoordinator(worker, connection, message.clone())),
            );
        }
        let arrival = self.now + self.way();
        let machine = self.machine(worker);
        let arrival = arrival.max(if may_stray {
            machine.joined
        } else {
            machine.said_until
        });
        machine.said_until = arrival.max(machine.said_until);
        if matches!(message, Message::Join(..)) {
            machine.joined = arrival;
        }
        self.schedule(
            arrival,
            Event::Network(Delivery::ToCoordinator(worker, connection, message)),
        );
    }

    /// Sends from the coordinator to the worker, always in order.
    pub(super) fn tell(&mut self, worker: WorkerId, order: Order) {
        let Some(&connection) = self.connections.get(&worker) else {
            return;
        };
        let arrival = self.now + self.way();
        let machine = self.machine(worker);
        machine.told_until = arrival.max(machine.told_until);
        let arrival = machine.told_until;
        self.schedule(
            arrival,
            Event::Network(Delivery::ToMachine(worker, connection, order)),
        );
    }

    /// Ends a worker's connection. The coordinator notices at once or by its keepalive.
    pub(super) fn hang_up(&mut self, worker: WorkerId) {
        if let Some(connection) = self.machine(worker).connection.take() {
            let notice = if self.dice.random_bool(0.5) {
                Duration::ZERO
            } else {
                Duration::from_secs(4)
            };
            self.schedule(
                self.now + notice,
                Event::Network(Delivery::Broken(worker, connection)),
            );
        }
    }

    pub(super) fn deliver(&mut self, delivery: Delivery) {
        match delivery {
            Delivery::ToMachine(worker, connection, order) => {
                let thaw = self.machine(worker).thaw;
                if self.now < thaw {
                    self.schedule(
                        thaw,
                        Event::Network(Delivery::ToMachine(worker, connection, order)),
                    );
                } else if self.machine(worker).connection == Some(connection) {
                    self.obey(worker, order);
                }
            }
            Delivery::Broken(worker, connection) => {
                if self.connections.get(&worker) == Some(&connection) {
                    self.connections.remove(&worker);
                    self.scheduler.leave(self.now, worker, false);
                }
            }
            Delivery::ToCoordinator(worker, connection, message) => {
                self.hear(worker, connection, message)
            }
        }
    }

    fn hear(&mut self, worker: WorkerId, connection: u64, message: Message) {
        let is_current = self.connections.get(&worker) == Some(&connection);
        match message {
            // Joining is a handshake and cannot outlive its connection.
            Message::Join(slots, holding)
                if self.machine(worker).connection == Some(connection) =>
            {
                self.connections.insert(worker, connection);
                self.scheduler.join(self.now, worker, slots, &holding);
            }
            Message::Beat(progress) if is_current => {
                self.scheduler.heartbeat(self.now, worker, &progress)
            }
            Message::Report(task, attempt, report) if is_current || self.plan.is_chaotic => {
                self.scheduler
                    .report(self.now, worker, task, attempt, report);
            }
            Message::Goodbye if is_current => {
                self.connections.remove(&worker);
                self.scheduler.leave(self.now, worker, true);
            }
            _ => {}
        }
    }

    fn way(&mut self) -> Duration {
        let most = self.plan.latency.as_micros() as u64;
        Duration::from_micros(self.dice.random_range(most / 4..=most))
    }
}
