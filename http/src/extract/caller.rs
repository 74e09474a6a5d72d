use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tonic::Request;
use tonic::metadata::MetadataMap;

use crate::services::CallerExtensions;

/// The caller of an HTTP request, on whose account its rpcs are made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller(CallerExtensions);

impl Caller {
    /// A request of an rpc.
    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        Request::from_parts(MetadataMap::new(), self.0.0.clone(), message)
    }
}

impl From<CallerExtensions> for Caller {
    fn from(extensions: CallerExtensions) -> Self {
        Self(extensions)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let extensions = parts.extensions.get::<CallerExtensions>().cloned();
        Ok(Self(extensions.unwrap_or_default()))
    }
}
