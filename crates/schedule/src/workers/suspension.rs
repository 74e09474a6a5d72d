/// Why a worker gets no tasks although it asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suspension {
    /// It has yet to show that its answers are right. It keeps what it has, and what it [brings](Scheduler::accepts) is for the
    /// caller to keep until it has.
    Qualification,
    /// Its answers were wrong.
    Quarantine,
}
