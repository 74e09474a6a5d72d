use anyhow::{Context, Result, anyhow, bail};
use kagetsu_api::{StatisticsJson, read_games, read_overview, read_statistics};
use kagetsu_book::{Book, BookOptions, CheckReport, Overview};
use kagetsu_game::{Answer, Position};
use kagetsu_games::{FoundGames, GameFilter};
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::{Access, AuthenticatedChannel, explain, v1};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::reader::BookReader;

/// The book of a coordinator or of a book server.
pub struct ServerReader {
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

impl ServerReader {
    /// Connects to the server.
    ///
    /// # Errors
    /// If the server cannot be reached, or refuses the credentials.
    pub fn connect(url: &str, access: &Access) -> Result<Self> {
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

    fn find(&mut self, position: &Position) -> Result<v1::Found> {
        let found = self
            .runtime
            .block_on(self.client.lookup(v1::Position::from(position)));
        Ok(found
            .map_err(|status| anyhow!(explain(&self.url, &status)))?
            .into_inner())
    }

    fn checked(&self, answer: Option<v1::Answer>, position: &Position) -> Result<Option<Answer>> {
        let answer = answer.map(|answer| answer.about(position)).transpose();
        answer.with_context(|| format!("{} gave an answer that cannot be", self.url))
    }

    /// Copies the book into a temporary folder, position by position.
    fn copy(&mut self, progress: &mut dyn FnMut(u64)) -> Result<Copy> {
        let folder = tempfile::tempdir().context("cannot make a folder for a copy of the book")?;
        let options = BookOptions {
            create: true,
            ..BookOptions::default()
        };
        let (mut book, _) = Book::open(&folder.path().join("book"), &options)?;
        let Self {
            url,
            client,
            runtime,
            ..
        } = self;
        runtime.block_on(async {
            let explained = |status| anyhow!(explain(url, &status));
            let stream = client.export(v1::ExportRequest {}).await;
            let mut stream = stream.map_err(explained)?.into_inner();
            let mut copied = 0;
            while let Some(found) = stream.message().await.map_err(explained)? {
                let position = found.position.as_ref().context("a position is missing");
                let position = position.and_then(|position| Ok(Position::try_from(position)?));
                let position = position.with_context(|| format!("the export of {url}"))?;
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

impl BookReader for ServerReader {
    fn lookup(&mut self, position: &Position) -> Result<Option<Answer>> {
        let found = self.find(position)?;
        self.checked(found.answer, position)
    }

    fn lookup_searched(&mut self, position: &Position) -> Result<Option<Answer>> {
        let found = self.find(position)?;
        self.checked(found.facts, position)
    }

    fn overview(&mut self) -> Result<Overview> {
        let response = self.client.overview(v1::OverviewRequest {});
        let overview = self.runtime.block_on(response);
        let overview = overview.map_err(|status| anyhow!(explain(&self.url, &status)))?;
        read_overview(overview.get_ref())
            .with_context(|| format!("{} gave an overview that cannot be", self.url))
    }

    fn statistics(&mut self) -> Result<StatisticsJson> {
        let response = self.client.statistics(v1::StatisticsRequest {});
        let statistics = self.runtime.block_on(response);
        let statistics = statistics.map_err(|status| anyhow!(explain(&self.url, &status)))?;
        read_statistics(statistics.get_ref())
            .with_context(|| format!("{} gave statistics that cannot be", self.url))
    }

    fn bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    fn positions(&self) -> Option<u64> {
        None
    }

    fn check(&mut self, _: &mut dyn FnMut(u64)) -> Result<CheckReport> {
        bail!(
            "{} is a server; only the files of a book can be checked: \
             run `kagetsu check --book DIR` where they are",
            self.url
        )
    }

    fn contents(&mut self, progress: &mut dyn FnMut(u64)) -> Result<&Book> {
        if self.copy.is_none() {
            self.copy = Some(self.copy(progress)?);
        }
        self.copy
            .as_ref()
            .map(|copy| &copy.book)
            .context("the book was not copied")
    }

    fn games(&mut self, at: &Position, filter: &GameFilter, top: u32) -> Result<FoundGames> {
        let result = filter.result.map_or("", |result| result.text());
        let request = v1::GamesRequest {
            position: Some(at.into()),
            player: filter.player.clone(),
            event: filter.event.clone(),
            result: result.into(),
            top,
        };
        let found = self.runtime.block_on(self.client.games(request));
        let found = found.map_err(|status| anyhow!(explain(&self.url, &status)))?;
        read_games(found.get_ref())
            .with_context(|| format!("{} gave games that cannot be", self.url))
    }
}
