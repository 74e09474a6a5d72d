//! The usual places of a database's password.

use std::path::PathBuf;

use postgres::config::Host;

/// Finds the password for a connection: `PGPASSWORD`, then the file `PGPASSFILE`, then
/// `~/.pgpass`, on Windows `%APPDATA%\postgresql\pgpass.conf`.
pub(crate) fn find(config: &postgres::Config) -> Option<String> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Some(password);
    }
    let inside = |folder, name| Some(PathBuf::from(std::env::var_os(folder)?).join(name));
    let file = std::env::var_os("PGPASSFILE")
        .map(PathBuf::from)
        .or_else(|| inside("HOME", ".pgpass"))
        .or_else(|| inside("APPDATA", "postgresql/pgpass.conf"))?;
    let text = std::fs::read_to_string(file).ok()?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        _ => "localhost".into(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    in_file(&text, [&host, &port.to_string(), database, user])
}

/// Returns the password of the first line that matches host, port, database and user.
fn in_file(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let mut fields = fields(line).into_iter();
            let is_match = wanted.iter().all(|wanted| {
                fields
                    .next()
                    .is_some_and(|field| field == "*" || field == *wanted)
            });
            fields.next().filter(|_| is_match)
        })
}

/// Splits a line at its colons; a backslash escapes the next character.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(character) = chars.next() {
        let last = fields.len() - 1;
        match character {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields[last].extend(chars.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_matching_line_has_the_password() {
        let text = "# a comment\ndb:5432:books:kim:on\\:e\n*:*:books:*:two:2\n*:*:*:*:three\n";
        let find = |host, database, user| in_file(text, [host, "5432", database, user]);
        assert_eq!(find("db", "books", "kim").as_deref(), Some("on:e"));
        assert_eq!(find("db", "books", "lee").as_deref(), Some("two:2"));
        assert_eq!(find("x", "y", "z").as_deref(), Some("three"));
        assert_eq!(
            in_file("db:5432:books:kim\n", ["db", "5432", "books", "kim"]),
            None
        );
    }
}
