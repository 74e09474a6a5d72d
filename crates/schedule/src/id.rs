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
    /// One worker, named by the caller. A worker that comes back under its old number is known again.
    WorkerId,
    "worker"
);
id!(
    /// One task, named by the scheduler; never used twice, see [`Options::first_id`](crate::Options::first_id).
    TaskId,
    "task"
);
id!(
    /// One question, named by the scheduler when it is submitted; never used twice.
    QuestionId,
    "question"
);
