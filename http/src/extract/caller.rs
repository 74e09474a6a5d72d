use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use tonic::Request;
use tonic::metadata::MetadataMap;

/// The caller of an HTTP request, as the extensions of the rpcs that the request makes on his
/// account. A layer around the API puts it into the extensions of each request.
#[derive(Clone, Debug, Default)]
pub struct Caller(pub Extensions);

impl Caller {
    /// A request of an rpc.
    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        Request::from_parts(MetadataMap::new(), self.0.clone(), message)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
