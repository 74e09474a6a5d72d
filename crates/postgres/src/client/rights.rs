//! The rights of a role to the tables.

use crate::client::book_url::BookUrl;
use crate::client::error::RequestError;
use crate::client::session::DatabaseSession;

/// Whether a book may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookCreation {
    Allowed,
    Refused,
}

/// The statements by which an administrator gives a role what it lacks, as one text.
/// `information_schema` shows only tables that a role may use, so it tells nothing of them.
const LACKING: &str = "with needed (name, privilege, by_reader) as (values \
    ('kagetsu_schema', 'select', true), ('kagetsu_book', 'select', true), \
    ('kagetsu_journal', 'select', true), ('kagetsu_book', 'insert', false), \
    ('kagetsu_book', 'update', false), ('kagetsu_journal', 'insert', false), \
    ('kagetsu_quarantine', 'select', false), ('kagetsu_quarantine', 'insert', false), \
    ('kagetsu_quarantine', 'update', false)), \
    tables as (select format('grant %s on %s to %I', \
    string_agg(privilege, ', ' order by privilege = 'update', privilege = 'insert'), \
    name, current_user) as grants from needed where (by_reader or $1) \
    and not has_table_privilege(to_regclass(name), privilege) group by name order by name), \
    schemas as (select format('grant usage on schema %I to %I', nspname, current_user) as grants \
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace \
    where relname = 'kagetsu_schema' and relkind in ('r', 'p') \
    and not has_schema_privilege(pg_namespace.oid, 'usage')) \
    select current_user::text, string_agg(grants, '; ') from \
    (select grants from schemas union all select grants from tables) as lacking";

/// Fails where the role lacks a right to tables that are there.
pub(crate) fn check(
    session: &DatabaseSession,
    url: &BookUrl,
    creation: BookCreation,
) -> Result<(), RequestError> {
    let writes = creation == BookCreation::Allowed;
    let (role, grants): (String, Option<String>) = session.request(move |client| {
        let row = client.query_one(LACKING, &[&writes])?;
        Ok((row.get(0), row.get(1)))
    })?;
    grants.map_or(Ok(()), |grants| {
        Err(RequestError::fatal(format!(
            "the role {role} lacks rights at {url}; run this as an administrator of the database: \
             {grants}"
        )))
    })
}
