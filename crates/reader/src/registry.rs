use std::time::Duration;

use clap::{ArgMatches, Command};
use kagetsu_game::{Notation, Position};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::error::ViewError;
use crate::print::TextBlock;
use crate::source::Source;
use crate::view::{Subject, View};
use crate::views::{
    annotations::AnnotationsView, book::BookView, books::BooksView, bottlenecks::BottlenecksView,
    games::GamesView, pick::PickView, priorities::PrioritiesView, statistics::StatisticsView,
    suspects::SuspectsView, transpositions::TranspositionsView, tree::TreeView,
};

/// All views, in the order in which they are described.
pub const VIEWS: &[RegisteredView] = &[
    RegisteredView::of::<BookView>(),
    RegisteredView::of::<AnnotationsView>(),
    RegisteredView::of::<PickView>(),
    RegisteredView::of::<TreeView>(),
    RegisteredView::of::<TranspositionsView>(),
    RegisteredView::of::<PrioritiesView>(),
    RegisteredView::of::<SuspectsView>(),
    RegisteredView::of::<BottlenecksView>(),
    RegisteredView::of::<GamesView>(),
    RegisteredView::of::<BooksView>(),
    RegisteredView::of::<StatisticsView>(),
];

/// A schema with its name.
pub type NamedSchema = (String, RefOr<Schema>);

/// Prints the JSON of a view, read at a position, as text.
type PrintView = fn(&str, Option<&Position>, Notation) -> Result<Vec<TextBlock>, ViewError>;

/// A view of the registry, whose types are known to itself alone.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredView {
    /// [`View::NAME`].
    pub name: &'static str,
    /// [`View::COMMAND`].
    pub command: &'static str,
    /// [`View::LASTS`].
    pub lasts: Duration,
    /// [`View::IS_BRIEF`].
    pub is_brief: bool,
    /// Whether the query names a position.
    pub at_position: bool,
    read: fn(&Source, Option<&Position>, &str) -> Result<String, ViewError>,
    /// Writes the JSON of a result for a person.
    pub print: PrintView,
    /// Adds the options to a command, with the help of the view.
    pub arguments: fn(Command) -> Command,
    /// Returns the options of a command as JSON.
    pub matched: fn(&ArgMatches) -> Result<String, clap::Error>,
    /// Returns the options of a URL's query, as in `plies=4&top=3`, as JSON; or the name of the
    /// option and what is wrong with it.
    pub queried: fn(&str) -> Result<String, String>,
    /// Returns the schemas of the options and of the result.
    pub schemas: fn() -> ViewSchemas,
}

/// The schemas of a view.
pub struct ViewSchemas {
    /// The options of the query, as an object.
    pub options: RefOr<Schema>,
    /// The name of the result's schema.
    pub result: String,
    /// The schema of the result, and those that it refers to.
    pub named: Vec<NamedSchema>,
}

impl RegisteredView {
    const fn of<V: View>() -> Self {
        Self {
            name: V::NAME,
            command: V::COMMAND,
            lasts: V::LASTS,
            is_brief: V::IS_BRIEF,
            at_position: V::At::IS_POSITION,
            read: read::<V>,
            print: print::<V>,
            arguments: V::augment_args,
            matched: matched::<V>,
            queried: queried::<V>,
            schemas: schemas::<V>,
        }
    }

    /// Returns the view with this name.
    ///
    /// # Errors
    /// [`ViewError::Invalid`] with the names of all views.
    pub fn named(name: &str) -> Result<&'static Self, ViewError> {
        let found = VIEWS.iter().find(|view| view.name == name);
        found.ok_or_else(|| {
            let all: Vec<&str> = VIEWS.iter().map(|view| view.name).collect();
            let name = kagetsu_game::quote_message(name);
            ViewError::Invalid(format!("there is no view '{name}', but {}", all.join(", ")))
        })
    }

    /// Reads the view of a book with options as JSON, and returns the JSON of its result.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub fn read(
        &self,
        source: &Source,
        at: Option<&Position>,
        options: &str,
    ) -> Result<String, ViewError> {
        match source {
            Source::Server(server) => server.read(self.name, at, options.into()),
            _ => (self.read)(source, at, options),
        }
    }

    /// Returns the help of the view: its first line, and all of it.
    #[must_use]
    pub fn help(&self) -> (String, String) {
        let command = (self.arguments)(Command::new(self.command));
        let text = |text: Option<&clap::builder::StyledStr>| {
            text.map_or_else(String::new, ToString::to_string)
        };
        let about = text(command.get_about());
        let long = text(command.get_long_about().or(command.get_about()));
        (about, long)
    }
}

/// Reads a view of a book on this machine or of a server.
///
/// # Errors
/// See [`ViewError`].
pub fn read_view<V: View>(
    source: &Source,
    at: &Position,
    options: &V,
) -> Result<V::Result, ViewError> {
    let options = write(options)?;
    let view = RegisteredView::of::<V>();
    let at = Some(at).filter(|_| view.at_position);
    understood(&view.read(source, at, &options)?)
}

fn read<V: View>(
    source: &Source,
    at: Option<&Position>,
    options: &str,
) -> Result<String, ViewError> {
    let options = if options.is_empty() { "{}" } else { options };
    let options = serde_json::from_str(options)
        .map_err(|error| ViewError::Invalid(format!("the options of {}: {error}", V::NAME)))?;
    write(&V::read(source, &V::At::of(at)?, options)?)
}

fn print<V: View>(
    json: &str,
    at: Option<&Position>,
    notation: Notation,
) -> Result<Vec<TextBlock>, ViewError> {
    Ok(V::print(&understood(json)?, &V::At::of(at)?, notation))
}

fn matched<V: View>(matches: &ArgMatches) -> Result<String, clap::Error> {
    let options = V::from_arg_matches(matches)?;
    serde_json::to_string(&options)
        .map_err(|error| clap::Error::raw(clap::error::ErrorKind::Format, error))
}

fn queried<V: View>(query: &str) -> Result<String, String> {
    let read = |query: &str| serde_urlencoded::from_str::<V>(query);
    let options = read(query).map_err(|error| {
        // The error does not name the parameter.
        match query.split('&').find(|one| read(one).is_err()) {
            Some(one) => format!("{one}: {error}"),
            None => error.to_string(),
        }
    })?;
    serde_json::to_string(&options).map_err(|error| error.to_string())
}

fn schemas<V: View>() -> ViewSchemas {
    let result = V::Result::name().into_owned();
    let mut named = vec![(
        result.clone(),
        <V::Result as utoipa::PartialSchema>::schema(),
    )];
    V::Result::schemas(&mut named);
    ViewSchemas {
        options: V::schema(),
        result,
        named,
    }
}

fn write(value: &impl Serialize) -> Result<String, ViewError> {
    serde_json::to_string(value).map_err(|error| ViewError::Failed(error.into()))
}

fn understood<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, ViewError> {
    serde_json::from_str(json).map_err(|error| {
        let error = anyhow::Error::from(error).context("the server gave a result that cannot be");
        ViewError::Failed(error)
    })
}
