use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;

use crate::error::ApiError;

/// Most bytes of a query.
const LONGEST_QUERY: usize = 32 << 10;

/// The parameters of a query, as in `?variant=freestyle-15&moves=h8`.
#[derive(Debug)]
pub(crate) struct Params(BTreeMap<String, String>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let length = parts.uri.query().map_or(0, str::len);
        if length > LONGEST_QUERY {
            let message = format!("the query has {length} bytes, and may have {LONGEST_QUERY}");
            return Err(ApiError::new(StatusCode::URI_TOO_LONG, "too_long", message));
        }
        let pairs = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let Query(pairs) = pairs.map_err(|error| ApiError::wrong(error.body_text()))?;
        let mut params = BTreeMap::new();
        for (name, value) in pairs {
            if params.insert(name.clone(), value).is_some() {
                return Err(ApiError::wrong(format!(
                    "the parameter '{name}' is given twice"
                )));
            }
        }
        Ok(Self(params))
    }
}

impl Params {
    /// # Errors
    /// A parameter that is none of `known`.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), ApiError> {
        let unknown = self.0.keys().find(|name| !known.contains(&name.as_str()));
        let there_are = if known.is_empty() {
            "there is none".into()
        } else {
            format!("there are {}", known.join(", "))
        };
        let refused = |name| ApiError::wrong(format!("no parameter '{name}'; {there_are}"));
        unknown.map_or(Ok(()), |name| Err(refused(name)))
    }

    /// A text; an empty one is as good as none.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|text| !text.is_empty())
    }

    /// # Errors
    /// If it is neither `true` nor `false`.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, ApiError> {
        match self.text(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(ApiError::wrong(format!(
                "{name}={other}: must be true or false"
            ))),
        }
    }

    /// # Errors
    /// If it is no number of the range.
    pub(crate) fn number<T>(
        &self,
        name: &str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, ApiError>
    where
        T: FromStr + PartialOrd + Display,
    {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let found = text.parse().ok().filter(|number| range.contains(number));
        let (from, to) = (range.start(), range.end());
        found.map(Some).ok_or_else(|| {
            ApiError::wrong(format!(
                "{name}={text}: must be a number from {from} to {to}"
            ))
        })
    }
}
