/// Why a connected worker gets no tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suspension {
    /// It has not yet shown that its answers are right. It keeps its tasks; the caller holds back
    /// its reports until it has qualified.
    Qualification,
    /// Its answers were wrong.
    Quarantine,
}
