use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use crate::messages::ProtocolVersion;

/// Metadata of every request: this program's protocol version, and the token if there is one.
#[derive(Clone, Default)]
pub struct Credentials(Option<MetadataValue<Ascii>>);

impl Credentials {
    /// Returns the credentials with a token; `None` for text that is no token.
    pub(super) fn new(token: &str) -> Option<Self> {
        let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if token.is_empty() || !token.bytes().all(is_token_byte) {
            return None;
        }
        let mut value: MetadataValue<Ascii> = format!("Bearer {token}").parse().ok()?;
        // Keeps it out of logs and of HTTP/2's table of headers.
        value.set_sensitive(true);
        Some(Self(Some(value)))
    }
}

impl Interceptor for Credentials {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        ProtocolVersion::ours().add_to(request.metadata_mut());
        if let Some(value) = &self.0 {
            request
                .metadata_mut()
                .insert("authorization", value.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_no_token_is_refused() {
        for text in ["", "two words", "a\nb", "ü"] {
            assert!(Credentials::new(text).is_none(), "{text:?}");
        }
        assert!(Credentials::new("kagetsu_0-9.A").is_some());
    }
}
