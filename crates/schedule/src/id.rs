use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $word:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($word, " {}"), self.0)
            }
        }
    };
}

id!(
    /// A worker, numbered by the caller. A worker that returns under its old number is recognised.
    WorkerId,
    "worker"
);
id!(
    /// A task, numbered by the scheduler. Ids are never reused; see
    /// [`Options::first_id`](crate::Options::first_id).
    TaskId,
    "task"
);
id!(
    /// A question, numbered by the scheduler when it is submitted. Ids are never reused.
    QuestionId,
    "question"
);
