use std::fmt;
use std::str::FromStr;

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Looks: at the book, at jobs, at workers.
    Read,
    /// Looks, and has positions analysed.
    Analyse,
    /// Looks, and starts, pauses, resumes and cancels jobs.
    Build,
    /// Works, and nothing else.
    Work,
    /// Everything.
    Admin,
}

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing, not even a token: whether the server lives is no secret.
    Nothing,
    /// Any token.
    Token,
    /// A role that looks.
    Look,
    /// A role that has positions analysed.
    Analyse,
    /// A role that changes jobs.
    Build,
    /// A role that works.
    Work,
    /// The role that may do everything.
    Admin,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Analyse,
        Self::Build,
        Self::Work,
        Self::Admin,
    ];

    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Analyse => "analyse",
            Self::Build => "build",
            Self::Work => "work",
            Self::Admin => "admin",
        }
    }

    /// Whether it is enough for what is needed.
    #[must_use]
    pub const fn may(self, need: Need) -> bool {
        match need {
            Need::Nothing | Need::Token => true,
            Need::Look => matches!(self, Self::Read | Self::Analyse | Self::Build | Self::Admin),
            Need::Analyse => matches!(self, Self::Analyse | Self::Admin),
            Need::Build => matches!(self, Self::Build | Self::Admin),
            Need::Work => matches!(self, Self::Work | Self::Admin),
            Need::Admin => matches!(self, Self::Admin),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.word())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.word() == word);
        found.ok_or_else(|| {
            format!("'{word}' is no role; the roles are read, analyse, build, work and admin")
        })
    }
}

impl Need {
    /// What a gRPC method needs, by its path. One that nobody has thought of needs the role that may do everything.
    #[must_use]
    pub fn of_method(path: &str) -> Self {
        match path {
            "/grpc.health.v1.Health/Check" | "/grpc.health.v1.Health/Watch" => Self::Nothing,
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" => Self::Token,
            "/kagetsu.v1.Analysis/Analyze" => Self::Analyse,
            "/kagetsu.v1.Builds/List" | "/kagetsu.v1.Builds/Get" | "/kagetsu.v1.Builds/Watch" => {
                Self::Look
            }
            "/kagetsu.v1.Builds/Start"
            | "/kagetsu.v1.Builds/Pause"
            | "/kagetsu.v1.Builds/Resume"
            | "/kagetsu.v1.Builds/Retry"
            | "/kagetsu.v1.Builds/Prioritize"
            | "/kagetsu.v1.Builds/Cancel" => Self::Build,
            "/kagetsu.v1.Books/Lookup"
            | "/kagetsu.v1.Books/LookupMany"
            | "/kagetsu.v1.Books/Pick"
            | "/kagetsu.v1.Books/Export" => Self::Look,
            "/kagetsu.v1.Workers/Work" | "/kagetsu.v1.Workers/Beat" => Self::Work,
            "/kagetsu.v1.Workers/List" => Self::Look,
            _ => Self::Admin,
        }
    }

    /// What a request of HTTP needs, by its method and its path. The page and whether the server lives are no secrets.
    #[must_use]
    pub fn of_http(method: &str, path: &str) -> Self {
        let is_asked = matches!(method, "GET" | "HEAD" | "OPTIONS");
        match (is_asked, method, path) {
            // A browser asks so, without a token, whether its page may ask.
            (_, "OPTIONS", _)
            | (true, _, "/healthz" | "/readyz" | "/api/v1/openapi.json" | "/") => Self::Nothing,
            (true, _, path) if path.starts_with("/page/") => Self::Nothing,
            (true, _, path) if path.starts_with("/api/v1/") || path == "/metrics" => Self::Look,
            (_, "POST", "/api/v1/analyses") => Self::Analyse,
            (_, "POST", path) if path == "/api/v1/jobs" || path.starts_with("/api/v1/jobs/") => {
                Self::Build
            }
            _ => Self::Admin,
        }
    }

    /// Which roles are enough, for people.
    #[must_use]
    pub fn roles(self) -> String {
        let enough: Vec<_> = Role::ALL
            .into_iter()
            .filter(|role| role.may(self))
            .map(Role::word)
            .collect();
        enough.join(", ")
    }
}
