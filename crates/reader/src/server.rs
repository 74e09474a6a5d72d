use anyhow::{Context, Result, anyhow};
use kagetsu_api::{AnnotationsJson, OverviewJson};
use kagetsu_book::{AnnotationJson, Book, BookOptions, Overview};
use kagetsu_game::{Answer, Position};
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::{Access, AuthenticatedChannel, explain, v1};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::error::ViewError;
use crate::found::Found;

/// Positions of one request.
const MAX_POSITIONS: usize = 64;

/// The book of a coordinator or of a book server.
pub struct ServerBook {
    url: String,
    client: BooksClient<AuthenticatedChannel>,
    runtime: Runtime,
    /// The copy that was made for a command that reads the whole book.
    copy: Option<Copy>,
}

/// A copy of the book on this machine; it is removed with this value.
struct Copy {
    book: Book,
    _folder: TempDir,
}

impl ServerBook {
    /// Connects to the server.
    ///
    /// # Errors
    /// If the server cannot be reached, or refuses the credentials.
    pub(crate) fn connect(url: &str, access: &Access) -> Result<Self> {
        let connector = access.reading_connector(url)?;
        let runtime = Runtime::new()?;
        let client = BooksClient::new(runtime.block_on(connector.connect())?);
        Ok(Self {
            url: url.to_string(),
            client,
            runtime,
            copy: None,
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Reads a view of the server's book: the JSON of its result.
    pub(crate) fn read(
        &self,
        view: &str,
        at: Option<&Position>,
        options: String,
    ) -> Result<String, ViewError> {
        let request = v1::ReadRequest {
            view: view.into(),
            position: at.map(Into::into),
            options,
        };
        let response = self.runtime.block_on(self.client.clone().read(request));
        match response {
            Ok(response) => Ok(response.into_inner().json),
            Err(status) => Err(ViewError::of_status(&status, || {
                explain(&self.url, &status)
            })),
        }
    }

    /// Writes annotations into the server's book.
    pub(crate) fn annotate(&self, at: &Position, annotations: Vec<AnnotationJson>) -> Result<()> {
        let request = v1::AnnotateRequest {
            position: Some(at.into()),
            written: serde_json::to_string(&AnnotationsJson { annotations })?,
            taken_back: String::new(),
        };
        let written = self.runtime.block_on(self.client.clone().annotate(request));
        written.map_err(|status| anyhow!(explain(&self.url, &status)))?;
        Ok(())
    }

    pub(crate) fn overview(&self) -> Result<Overview> {
        let json = self.read("books", None, "{}".into())?;
        let overview = serde_json::from_str::<OverviewJson>(&json)
            .map_err(anyhow::Error::from)
            .and_then(|json| json.overview().map_err(anyhow::Error::msg));
        overview.with_context(|| format!("{} gave an overview that cannot be", self.url))
    }

    pub(crate) fn find_all(&self, positions: &[Position]) -> Result<Vec<Option<Found>>> {
        let mut all = Vec::with_capacity(positions.len());
        for part in positions.chunks(MAX_POSITIONS) {
            let found = self.request(part)?;
            for (position, found) in part.iter().zip(found) {
                let facts = self.checked(found.facts, position)?;
                let answer = self.checked(found.answer, position)?;
                all.push(answer.map(|answer| Found {
                    answer,
                    facts,
                    derived: None,
                }));
            }
        }
        Ok(all)
    }

    fn request(&self, positions: &[Position]) -> Result<Vec<v1::Found>> {
        let mut client = self.client.clone();
        let explained = |status| anyhow!(explain(&self.url, &status));
        if let [position] = positions {
            let found = self
                .runtime
                .block_on(client.lookup(v1::Position::from(position)));
            return Ok(vec![found.map_err(explained)?.into_inner()]);
        }
        let request = v1::LookupManyRequest {
            positions: positions.iter().map(Into::into).collect(),
            top: 0,
        };
        let found = self.runtime.block_on(client.lookup_many(request));
        Ok(found.map_err(explained)?.into_inner().found)
    }

    fn checked(&self, answer: Option<v1::Answer>, position: &Position) -> Result<Option<Answer>> {
        let answer = answer.map(|answer| answer.about(position)).transpose();
        answer.with_context(|| format!("{} gave an answer that cannot be", self.url))
    }

    /// Returns a copy of the book, which the first call makes.
    pub(crate) fn contents(&mut self, progress: &mut dyn FnMut(u64)) -> Result<&Book> {
        if self.copy.is_none() {
            self.copy = Some(self.copy(progress)?);
        }
        let copy = self.copy.as_ref().map(|copy| &copy.book);
        copy.context("the book was not copied")
    }

    /// Copies the book into a temporary folder, position by position.
    fn copy(&self, progress: &mut dyn FnMut(u64)) -> Result<Copy> {
        let folder = tempfile::tempdir().context("cannot make a folder for a copy of the book")?;
        let options = BookOptions::creating();
        let (mut book, _) = Book::open(&folder.path().join("book"), &options)?;
        let (url, mut client) = (&self.url, self.client.clone());
        self.runtime.block_on(async {
            let explained = |status| anyhow!(explain(url, &status));
            let stream = client.export(v1::ExportRequest {}).await;
            let mut stream = stream.map_err(explained)?.into_inner();
            let mut copied = 0;
            while let Some(found) = stream.message().await.map_err(explained)? {
                let position = found.position.as_ref().context("a position is missing");
                let position = position.and_then(|position| Ok(Position::try_from(position)?));
                let position = position.with_context(|| format!("the export of {url}"))?;
                if !found.annotations.is_empty() {
                    let read = serde_json::from_str::<AnnotationsJson>(&found.annotations)?;
                    let notes = read.annotations.iter().map(|note| note.read(&position));
                    book.annotate(&position, &notes.collect::<Result<Vec<_>, _>>()?)?;
                    continue;
                }
                let facts = found.facts.unwrap_or_default().about(&position);
                let facts = facts.with_context(|| format!("the export of {url}"))?;
                book.learn(&position, &facts)?;
                copied += 1;
                progress(copied);
            }
            anyhow::Ok(())
        })?;
        Ok(Copy {
            book,
            _folder: folder,
        })
    }
}
