use tonic::{Code, Status};

/// The name of a coordinator that is in the process of who asks it.
pub const HERE: &str = "this process";

/// What a coordinator's refusal means to a person; what one in this process says is our own word.
#[must_use]
pub fn explain(url: &str, status: &Status) -> String {
    match status.code() {
        Code::Unavailable | Code::Unknown
            if status.message().is_empty() || is_of_the_line(status.message()) =>
        {
            format!(
                "the connection to the coordinator at {url} was lost; see whether it still runs"
            )
        }
        Code::Internal | Code::Unknown | Code::Unimplemented if is_of_http(status.message()) => {
            format!(
                "the server at {url} answers as one of HTTP does: this is no coordinator's gRPC port; the coordinator prints it as \
             `listening on`"
            )
        }
        Code::Unimplemented => format!(
            "the server at {url} does not know what it is asked: if it is a coordinator, please upgrade it to kagetsu {}",
            env!("CARGO_PKG_VERSION")
        ),
        _ if url == HERE => status.message().to_string(),
        _ => format!("the coordinator at {url} says: {}", status.message()),
    }
}

/// Whether a coordinator that answers so may answer otherwise soon: it stops, or the connection broke. What it says of a request
/// stays so, and so does what no coordinator says.
#[must_use]
pub fn is_lost(status: &Status) -> bool {
    let may_pass = matches!(
        status.code(),
        Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal
    );
    may_pass && !is_of_http(status.message())
}

/// Whether our own end of a connection says it, and nobody at the other.
fn is_of_the_line(message: &str) -> bool {
    ["transport", "http2 error", "h2 protocol error"]
        .iter()
        .any(|words| message.contains(words))
}

/// Whether what came back was no message of gRPC: a page's first letters are not how one begins, nor is it there that gRPC says
/// what it does not know.
fn is_of_http(message: &str) -> bool {
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
    fn a_port_of_http_is_named() {
        let page = "protocol error: received message with invalid compression flag: 123 (valid flags are 0 and 1)";
        let missing = "grpc-status header missing, mapped from HTTP status code 404";
        for status in [
            Status::internal(page),
            Status::unimplemented(missing),
            Status::unknown(missing),
        ] {
            let said = explain("http://there", &status);
            assert!(
                said.contains("http://there") && said.contains("no coordinator's gRPC port"),
                "{said}"
            );
            assert!(said.contains("`listening on`"), "{said}");
            assert!(!is_lost(&status), "it will be the same port");
        }
    }

    #[test]
    fn a_connection_that_breaks_is_not_the_coordinators_word() {
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
            assert!(is_lost(&Status::unknown(words)), "{words}");
        }
        let said = explain("http://there", &Status::unknown("no such job"));
        assert_eq!(said, "the coordinator at http://there says: no such job");
        assert_eq!(
            explain(HERE, &Status::unknown("no such job")),
            "no such job"
        );
    }
}
