use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::permission::Permission;

/// The function of a token's holder, with its permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads the book, jobs and workers.
    Read,
    /// Reads, and has positions analysed.
    Analyse,
    /// Reads, and starts, pauses, resumes and cancels jobs.
    Build,
    /// Is a worker of the operator.
    Work,
    /// Is a worker that the operator does not own.
    Volunteer,
    /// May do everything.
    Admin,
}

kagetsu_game::names!(Role {
    Read = "read",
    Analyse = "analyse",
    Build = "build",
    Work = "work",
    Volunteer = "volunteer",
    Admin = "admin",
});

impl Role {
    /// Whether the role includes a permission.
    #[must_use]
    pub const fn has(self, permission: Permission) -> bool {
        match permission {
            Permission::Public | Permission::AnyToken => true,
            Permission::Read => {
                matches!(self, Self::Read | Self::Analyse | Self::Build | Self::Admin)
            }
            Permission::Analyse => matches!(self, Self::Analyse | Self::Admin),
            Permission::Build => matches!(self, Self::Build | Self::Admin),
            Permission::Work => matches!(self, Self::Work | Self::Volunteer | Self::Admin),
            Permission::Admin => matches!(self, Self::Admin),
        }
    }
}

impl Permission {
    /// The names of the roles that include it, separated by commas.
    #[must_use]
    pub fn roles(self) -> String {
        let roles: Vec<_> = Role::ALL
            .into_iter()
            .filter(|role| role.has(self))
            .collect();
        names(&roles)
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::named(name)
            .ok_or_else(|| format!("'{name}' is no role; the roles are {}", names(&Self::ALL)))
    }
}

/// The names of roles, separated by commas.
pub(super) fn names(roles: &[Role]) -> String {
    let names: Vec<_> = roles.iter().map(|role| role.name()).collect();
    names.join(", ")
}
