use std::fmt;

/// A fault of the settings of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecFault {
    /// The setting's name, as in the JSON.
    pub field: String,
    /// The fault.
    pub problem: String,
}

impl SpecFault {
    pub(crate) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

/// All faults of the settings of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecFaults(pub Vec<SpecFault>);

impl SpecFaults {
    /// Returns an error if there is a fault.
    pub(crate) fn check(faults: Vec<SpecFault>) -> Result<(), Self> {
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Self(faults))
        }
    }
}

impl fmt::Display for SpecFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, SpecFault { field, problem, .. }) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{field}: {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SpecFaults {}
