use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Most connections for gRPC, half of them from one address: room for 10,000 workers behind one. Each holds some memory.
const MOST_GRPC: u64 = 24_576;
/// Most connections for HTTP, and for metrics.
const MOST_HTTP: u64 = 2_048;
/// Files where the system does not say how many there are.
const FEW: u64 = 1_024;

/// How many connections there may be at a time, so that there are always files for the book and for who is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connections {
    pub(crate) grpc: usize,
    /// The same for metrics.
    pub(crate) http: usize,
}

impl Connections {
    /// By how many files this process may open. That is raised to what the system lets us: shells give but a thousand.
    pub(crate) fn of_system() -> Self {
        let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| {
            if soft < hard {
                setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
            } else {
                Ok(())
            }
        });
        if let Err(error) = raised {
            tracing::warn!("the limit of open files stays as it is: {error}");
        }
        Self::of(getrlimit(Resource::RLIMIT_NOFILE).map_or(FEW, |(soft, _)| soft))
    }

    fn of(files: u64) -> Self {
        let part =
            |of: u64, most: u64| usize::try_from((files / of).clamp(8, most)).unwrap_or(usize::MAX);
        Self {
            grpc: part(3, MOST_GRPC),
            http: part(12, MOST_HTTP),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fourth_of_the_files_is_for_the_book() {
        for files in [256, 1_024, 4_096, 65_536, 1 << 20, u64::MAX] {
            let Connections { grpc, http } = Connections::of(files);
            // Half as many again are about to agree on secrets.
            assert!((grpc + 2 * http) as u64 / 2 * 3 <= files / 4 * 3, "{files}");
        }
        let many = Connections::of(1 << 20);
        assert_eq!((many.grpc, many.http), (24_576, 2_048));
    }
}
