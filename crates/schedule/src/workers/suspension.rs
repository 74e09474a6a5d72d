/// Why a worker gets no tasks although it asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bar {
    /// It has yet to show that its answers are right. It keeps what it has, and what it [brings](Scheduler::expects) is for the
    /// caller to keep until it has.
    Exam,
    /// Its answers were wrong.
    Quarantine,
}
