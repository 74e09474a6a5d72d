/// The largest limit of gRPC connections. One address may have half of them, so that 10,000 workers
/// fit behind one.
const MAX_GRPC: u64 = 24_576;
/// The largest limit of HTTP connections, and of connections for metrics.
const MAX_HTTP: u64 = 2_048;
/// The smallest limit of connections.
const MIN_CONNECTIONS: u64 = 8;
/// The assumed limit of open files where the system states none.
const DEFAULT_OPEN_FILES: u64 = 1_024;

/// Limits of concurrent connections, which leave open files for the book.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connections {
    pub(crate) grpc: usize,
    /// For HTTP, and as many again for metrics.
    pub(crate) http: usize,
}

impl Connections {
    /// The limits for this process. Raises its limit of open files to what the system allows,
    /// because shells often grant only a thousand.
    pub(crate) fn of_system() -> Self {
        let files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or_else(|error| {
            tracing::warn!("cannot raise the limit of open files: {error}");
            DEFAULT_OPEN_FILES
        });
        Self::of(files)
    }

    fn of(files: u64) -> Self {
        let limit = |share: u64| usize::try_from(share).unwrap_or(usize::MAX);
        Self {
            grpc: limit((files / 3).clamp(MIN_CONNECTIONS, MAX_GRPC)),
            http: limit((files / 12).clamp(MIN_CONNECTIONS, MAX_HTTP)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn book_keeps_a_quarter_of_the_files() {
        for files in [256, 1_024, 4_096, 65_536, 1 << 20, u64::MAX] {
            let Connections { grpc, http } = Connections::of(files);
            // Half as many again may be in their TLS handshake.
            assert!((grpc + 2 * http) as u64 / 2 * 3 <= files / 4 * 3, "{files}");
        }
        let many = Connections::of(1 << 20);
        assert_eq!((many.grpc, many.http), (24_576, 2_048));
    }
}
