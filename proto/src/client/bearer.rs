use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use crate::messages::Versions;

/// Goes with every request: what this program speaks, and the token, if there is one.
#[derive(Clone, Default)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    pub(super) fn new(token: &str) -> Option<Self> {
        let is_token = !token.is_empty()
            && token
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        let mut value: MetadataValue<Ascii> = format!("Bearer {token}")
            .parse()
            .ok()
            .filter(|_| is_token)?;
        // Kept out of logs, and of the tables by which HTTP/2 shortens headers.
        value.set_sensitive(true);
        Some(Self(Some(value)))
    }
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        Versions::ours().put(request.metadata_mut());
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
    fn what_is_no_token_is_not_sent() {
        for text in ["", "two words", "a\nb", "ü"] {
            assert!(Bearer::new(text).is_none(), "{text:?}");
        }
        assert!(Bearer::new("kagetsu_0-9.A").is_some());
    }
}
