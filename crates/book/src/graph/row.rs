//! The row of a position in the store: its record, its value and its links.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::Derived;
use crate::base::links::Reach;
use crate::base::value::DerivedBody;
use kagetsu_store::{body, decode, digest, encode};

/// The store's entry of a position that was searched or that other positions lead to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// The encoded record; `None` where the position was not searched.
    pub(crate) record: Option<Arc<[u8]>>,
    pub(crate) value: Option<Derived>,
    pub(crate) links: Arc<Reach>,
    /// The digest of the bytes in the store; `None` where there are none.
    pub(crate) digest: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct RowBody<'a> {
    /// Empty where the position was not searched.
    #[serde(borrow, serialize_with = "write_bytes")]
    record: &'a [u8],
    value: Option<DerivedBody>,
    links: Reach,
}

fn write_bytes<S: Serializer>(bytes: &&[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

#[derive(Serialize)]
struct RowRef<'a> {
    #[serde(serialize_with = "write_bytes")]
    record: &'a [u8],
    value: Option<DerivedBody>,
    links: &'a Reach,
}

impl Row {
    /// The row under a key; `None` for bytes that are damaged.
    pub(crate) fn read(key: &[u8], bytes: &[u8]) -> Option<Self> {
        let (record, value, links) = parts(key, bytes)?;
        Some(Self {
            record: (!record.is_empty()).then(|| record.into()),
            value,
            links: Arc::new(links),
            digest: Some(digest(key, bytes)),
        })
    }

    /// The bytes of the row; `None` for an empty one.
    pub(crate) fn write(&self, key: &[u8]) -> Option<Vec<u8>> {
        let is_empty =
            self.record.is_none() && self.value.is_none() && *self.links == Reach::default();
        let body = RowRef {
            record: self.record.as_deref().unwrap_or_default(),
            value: self.value.map(DerivedBody::from),
            links: &self.links,
        };
        (!is_empty).then(|| encode(key, &body))
    }

    /// Whether two rows say the same of a position.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.value == other.value && self.links == other.links && self.record == other.record
    }
}

/// The encoded record, the value and the links of a row.
fn parts<'a>(key: &[u8], bytes: &'a [u8]) -> Option<(&'a [u8], Option<Derived>, Reach)> {
    let body: RowBody = decode(key, bytes)?;
    let value = match body.value {
        Some(value) => Some(value.derived()?),
        None => None,
    };
    Some((body.record, value, body.links))
}

/// The value and the links of a row; `None` for bytes that are damaged.
pub(crate) fn value_and_links(key: &[u8], bytes: &[u8]) -> Option<(Option<Derived>, Reach)> {
    parts(key, bytes).map(|(_, value, links)| (value, links))
}

/// Whether a row has a record; `bytes` are taken to be whole.
pub(crate) fn has_record(bytes: &[u8]) -> bool {
    // The version, and then the length of the record.
    bytes.get(1).is_some_and(|length| *length != 0)
}

/// The encoded record of a row that has one; `None` for bytes that are damaged.
pub(crate) fn record_in<'a>(key: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let body = body(key, bytes)?;
    let (record, _) = postcard::take_from_bytes::<&[u8]>(body).ok()?;
    Some(record)
}
