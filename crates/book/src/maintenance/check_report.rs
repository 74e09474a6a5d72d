use crate::opening::Notice;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Positions examined.
    pub positions: u64,
    /// Links examined.
    pub links: u64,
    /// Waiting positions examined.
    pub frontier: u64,
    /// What is wrong, one line each; the first hundred.
    pub faults: Vec<String>,
    /// How many faults there are.
    pub count: u64,
    /// What the opening of the book had to say.
    pub notices: Vec<Notice>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn fault(&mut self, fault: String) {
        const TOLD: usize = 100;
        self.count += 1;
        if self.faults.len() < TOLD {
            self.faults.push(fault);
        }
    }

    pub(crate) fn hold(&mut self, is_so: bool, fault: impl FnOnce() -> String) {
        if !is_so {
            self.fault(fault());
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count - other.faults.len() as u64;
        other.faults.into_iter().for_each(|fault| self.fault(fault));
    }
}
