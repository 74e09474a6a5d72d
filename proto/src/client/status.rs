use tonic::{Code, Status};

/// The name of a coordinator inside this process.
pub const IN_PROCESS: &str = "this process";

/// Explains an error status of the coordinator at `url` to a user.
#[must_use]
pub fn explain(url: &str, status: &Status) -> String {
    match status.code() {
        Code::Unavailable | Code::Unknown
            if status.message().is_empty() || is_transport_error(status.message()) =>
        {
            format!(
                "the connection to the coordinator at {url} was lost; check whether it still runs"
            )
        }
        Code::Internal | Code::Unknown | Code::Unimplemented if is_http_error(status.message()) => {
            format!(
                "the server at {url} answers as an HTTP server: this is no coordinator's gRPC port; the coordinator prints it as \
             `listening on`"
            )
        }
        Code::Unimplemented => format!(
            "the server at {url} does not know this request: `kagetsu serve` only looks books up; upgrade an older coordinator to \
             kagetsu {}",
            env!("CARGO_PKG_VERSION")
        ),
        _ if url == IN_PROCESS => status.message().to_string(),
        _ => format!("the coordinator at {url} says: {}", status.message()),
    }
}

/// Whether a retry may succeed: the coordinator stops, or the connection broke. A refused request
/// stays refused, and a server that is no coordinator stays one.
#[must_use]
pub fn is_transient(status: &Status) -> bool {
    let may_pass = matches!(
        status.code(),
        Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal
    );
    may_pass && !is_http_error(status.message())
}

/// Whether the message comes from our own library, not from the coordinator.
fn is_transport_error(message: &str) -> bool {
    ["transport", "http2 error", "h2 protocol error"]
        .iter()
        .any(|words| message.contains(words))
}

/// Whether the answer came from an HTTP server that does not speak gRPC.
fn is_http_error(message: &str) -> bool {
    [
        "invalid compression flag",
        "mapped from HTTP status code 404",
        "mapped from HTTP status code 405",
    ]
    .iter()
    .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_port_is_named() {
        let page = "protocol error: received message with invalid compression flag: 123 (valid flags are 0 and 1)";
        let missing = "grpc-status header missing, mapped from HTTP status code 404";
        for status in [
            Status::internal(page),
            Status::unimplemented(missing),
            Status::unknown(missing),
        ] {
            let message = explain("http://there", &status);
            assert!(
                message.contains("http://there") && message.contains("no coordinator's gRPC port"),
                "{message}"
            );
            assert!(message.contains("`listening on`"), "{message}");
            assert!(!is_transient(&status), "a retry reaches the same port");
        }
    }

    #[test]
    fn broken_connection_is_not_an_answer() {
        let lost = [
            "",
            "transport error",
            "http2 error",
            "h2 protocol error: error reading a body from connection",
        ];
        for words in lost {
            assert!(
                explain("http://there", &Status::unknown(words)).contains("was lost"),
                "{words}"
            );
            assert!(is_transient(&Status::unknown(words)), "{words}");
        }
        let message = explain("http://there", &Status::unknown("no such job"));
        assert_eq!(message, "the coordinator at http://there says: no such job");
        assert_eq!(
            explain(IN_PROCESS, &Status::unknown("no such job")),
            "no such job"
        );
    }
}
