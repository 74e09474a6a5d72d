/// The right to make a kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Nothing, not even a token: whether the server is alive is no secret.
    Public,
    /// A token of any role.
    AnyToken,
    /// A role that reads.
    Read,
    /// A role that has positions analysed.
    Analyse,
    /// A role that changes jobs.
    Build,
    /// A role of workers.
    Work,
    /// The role that may do everything.
    Admin,
}

/// The permission that each rpc needs. A test compares the table with the served descriptors.
const RPC_PERMISSIONS: &[(&str, Permission)] = &[
    ("/grpc.health.v1.Health/Check", Permission::Public),
    ("/grpc.health.v1.Health/List", Permission::Public),
    ("/grpc.health.v1.Health/Watch", Permission::Public),
    (
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        Permission::AnyToken,
    ),
    (
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        Permission::AnyToken,
    ),
    ("/kagetsu.v1.Analysis/Analyze", Permission::Analyse),
    ("/kagetsu.v1.Books/Annotate", Permission::Build),
    ("/kagetsu.v1.Books/Export", Permission::Read),
    ("/kagetsu.v1.Books/Lookup", Permission::Read),
    ("/kagetsu.v1.Books/LookupMany", Permission::Read),
    ("/kagetsu.v1.Books/Read", Permission::Read),
    ("/kagetsu.v1.Builds/Cancel", Permission::Build),
    ("/kagetsu.v1.Builds/Get", Permission::Read),
    ("/kagetsu.v1.Builds/List", Permission::Read),
    ("/kagetsu.v1.Builds/Pause", Permission::Build),
    ("/kagetsu.v1.Builds/Prioritize", Permission::Build),
    ("/kagetsu.v1.Builds/Resume", Permission::Build),
    ("/kagetsu.v1.Builds/Retry", Permission::Build),
    ("/kagetsu.v1.Builds/Start", Permission::Build),
    ("/kagetsu.v1.Builds/Watch", Permission::Read),
    ("/kagetsu.v1.Workers/Beat", Permission::Work),
    ("/kagetsu.v1.Workers/List", Permission::Read),
    ("/kagetsu.v1.Workers/Release", Permission::Admin),
    ("/kagetsu.v1.Workers/Work", Permission::Work),
];

impl Permission {
    /// The permission that an rpc needs, by its path; `None` for an unknown path.
    #[must_use]
    pub fn of_rpc(path: &str) -> Option<Self> {
        let known = RPC_PERMISSIONS.iter().find(|(rpc, _)| *rpc == path);
        known.map(|(_, permission)| *permission)
    }
}
