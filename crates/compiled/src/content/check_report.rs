use serde::Serialize;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Checked positions.
    pub positions: u64,
    /// Checked links.
    pub links: u64,
    /// Positions that wait in frontiers.
    pub frontier: u64,
    /// The first hundred faults, one line each.
    pub faults: Vec<String>,
    /// The number of faults.
    #[serde(rename = "fault_count")]
    pub count: u64,
}

impl CheckReport {
    /// Returns whether there is no fault.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.count == 0
    }

    /// Adds a fault.
    pub fn fault(&mut self, fault: String) {
        const MAX_NAMED_FAULTS: usize = 100;
        self.count += 1;
        if self.faults.len() < MAX_NAMED_FAULTS {
            self.faults.push(fault);
        }
    }

    /// Adds a fault unless `is_so`.
    pub fn hold(&mut self, is_so: bool, fault: impl FnOnce() -> String) {
        if !is_so {
            self.fault(fault());
        }
    }

    /// Adds the faults of another report.
    pub fn add(&mut self, other: Self) {
        self.count += other.count - other.faults.len() as u64;
        other.faults.into_iter().for_each(|fault| self.fault(fault));
    }
}
