//! Builds of books by the command line.

use serde_json::Value;

use super::command::kagetsu;

/// A build, in a folder or on a coordinator.
#[derive(Clone, Copy)]
pub(crate) struct BookBuild<'a> {
    pub(crate) variant: &'a str,
    /// Moves to the root; empty for the start of the game.
    pub(crate) moves: &'a str,
    pub(crate) positions: u32,
    /// Plies.
    pub(crate) depth: u8,
}

impl BookBuild<'_> {
    /// Five positions of freestyle-15 after h8, two plies deep.
    pub(crate) const H8: Self = Self {
        variant: "freestyle-15",
        moves: "h8",
        positions: 5,
        depth: 2,
    };

    /// Returns the arguments of the build, without its place.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let all = format!(
            "build --json --variant {} --positions {} --depth {}",
            self.variant, self.positions, self.depth
        );
        let mut all: Vec<_> = all.split(' ').map(String::from).collect();
        if !self.moves.is_empty() {
            all.extend(["--moves".into(), self.moves.into()]);
        }
        all
    }

    /// Builds a book in a folder to the end of the job. Returns the job.
    #[track_caller]
    pub(crate) fn run_in(self, book: &str) -> Value {
        self.run(&["--book", book])
    }

    /// Builds to the end of the job, with these further arguments. Returns the job.
    #[track_caller]
    pub(crate) fn run(self, more: &[&str]) -> Value {
        let arguments = self.arguments();
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let job = kagetsu(&[&arguments[..], more].concat()).json();
        assert_eq!(job["state"], "done", "{job}");
        job
    }
}
