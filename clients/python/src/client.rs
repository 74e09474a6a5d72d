//! Servers: `kagetsu serve` and `kagetsu-coordinator`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use kagetsu_api::JobJson;
use kagetsu_game::Question;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::v1::builds_client::BuildsClient;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Access, AuthenticatedChannel, Connector, explain, v1};
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use tokio::runtime::Runtime;

use crate::analysis::effort;
use crate::answer::PyAnswer;
use crate::choice::{choice, picked};
use crate::errors::{self, whole};
use crate::json::as_python;
use crate::position::PyPosition;

/// Positions of one request.
const MAX_POSITIONS: usize = 1_024;
/// Time between two looks for Ctrl-C.
const SIGNAL_POLL: Duration = Duration::from_millis(100);

/// A connection to a server. It can be used by any number of threads at once.
#[pyclass(name = "Client", frozen, subclass, module = "kagetsu")]
pub struct PyClient {
    name: String,
    channel: AuthenticatedChannel,
    runtime: Runtime,
    timeout: Option<Duration>,
}

impl PyClient {
    /// Runs a call to its end, and lets Ctrl-C and the timeout end it.
    fn wait<T: Send>(
        &self,
        py: Python<'_>,
        call: impl Future<Output = Result<T, tonic::Status>> + Send,
    ) -> PyResult<T> {
        self.wait_for(py, self.timeout, call)
    }

    /// Runs a call to its end, and lets Ctrl-C and a limit of its own end it.
    fn wait_for<T: Send>(
        &self,
        py: Python<'_>,
        limit: Option<Duration>,
        call: impl Future<Output = Result<T, tonic::Status>> + Send,
    ) -> PyResult<T> {
        let begun = Instant::now();
        let mut call = Box::pin(call);
        loop {
            let polled = py.detach(|| {
                self.runtime
                    .block_on(async { tokio::time::timeout(SIGNAL_POLL, &mut call).await })
            });
            match polled {
                Ok(done) => {
                    return done.map_err(|status| errors::server(explain(&self.name, &status)));
                }
                Err(_) => py.check_signals()?,
            }
            if limit.is_some_and(|limit| begun.elapsed() >= limit) {
                let text = format!("{} has not answered in time", self.name);
                return Err(PyTimeoutError::new_err(text));
            }
        }
    }

    fn answer(
        &self,
        position: &kagetsu_game::Position,
        answer: Option<v1::Answer>,
        time_ms: u64,
    ) -> PyResult<Option<PyAnswer>> {
        let answer = answer.map(|answer| answer.about(position)).transpose();
        let answer = answer.map_err(|error| errors::server(format!("{}: {error}", self.name)))?;
        Ok(answer.map(|answer| PyAnswer {
            position: position.clone(),
            answer,
            value: None,
            time_ms,
        }))
    }

    fn found(
        &self,
        position: &kagetsu_game::Position,
        found: v1::Found,
    ) -> PyResult<Option<PyAnswer>> {
        self.answer(position, found.answer, 0)
    }
}

#[pymethods]
impl PyClient {
    #[new]
    #[pyo3(signature = (url, *, tls_ca = None, tls_cert = None, tls_key = None, token = None, token_file = None, insecure = false, timeout = 30.0))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        url: &str,
        tls_ca: Option<PathBuf>,
        tls_cert: Option<PathBuf>,
        tls_key: Option<PathBuf>,
        token: Option<&str>,
        token_file: Option<PathBuf>,
        insecure: bool,
        timeout: Option<f64>,
    ) -> PyResult<Self> {
        if tls_cert.is_some() != tls_key.is_some() {
            return Err(PyValueError::new_err(
                "tls_cert and tls_key belong together",
            ));
        }
        let access = Access {
            tls_ca,
            tls_cert,
            tls_key,
            token_file,
            insecure,
        };
        let timeout = timeout
            .map(Duration::try_from_secs_f64)
            .transpose()
            .map_err(|_| PyValueError::new_err("timeout: seconds from 0 on, or None"))?;
        let connector = match token {
            Some(token) => access.connector_with_token(url, token),
            None => access.connector(url),
        };
        let connector: Connector = connector.map_err(errors::server)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let channel = py.detach(|| runtime.block_on(connector.connect()));
        Ok(Self {
            name: connector.name().to_string(),
            channel: channel.map_err(errors::server)?,
            runtime,
            timeout,
        })
    }

    /// Looks up a position in the server's book; None if the book lacks it.
    fn lookup(&self, py: Python<'_>, position: &PyPosition) -> PyResult<Option<PyAnswer>> {
        let mut client = BooksClient::new(self.channel.clone());
        let request = v1::Position::from(&position.0);
        let found = self.wait(py, async move { client.lookup(request).await })?;
        self.found(&position.0, found.into_inner())
    }

    /// Looks up many positions, 1,024 in a request.
    fn lookup_many(
        &self,
        py: Python<'_>,
        positions: Vec<PyRef<'_, PyPosition>>,
    ) -> PyResult<Vec<Option<PyAnswer>>> {
        let positions: Vec<_> = positions
            .iter()
            .map(|position| position.0.clone())
            .collect();
        let mut answers = Vec::with_capacity(positions.len());
        for some in positions.chunks(MAX_POSITIONS) {
            let mut client = BooksClient::new(self.channel.clone());
            let request = v1::LookupManyRequest {
                positions: some.iter().map(v1::Position::from).collect(),
                top: 0,
            };
            let found = self.wait(py, async move { client.lookup_many(request).await })?;
            let found = found.into_inner().found;
            if found.len() != some.len() {
                return Err(errors::server(format!(
                    "{}: a wrong number of answers",
                    self.name
                )));
            }
            for (position, found) in some.iter().zip(found) {
                answers.push(self.found(position, found)?);
            }
        }
        Ok(answers)
    }

    /// Chooses a move as an engine would; None if the book has none.
    #[pyo3(signature = (position, temperature = 0.0, seed = None, min_depth = 0))]
    fn pick(
        &self,
        py: Python<'_>,
        position: &PyPosition,
        temperature: f64,
        #[pyo3(from_py_with = whole)] seed: Option<u64>,
        #[pyo3(from_py_with = whole)] min_depth: u8,
    ) -> PyResult<Option<String>> {
        let choice = choice(temperature, seed, min_depth)?;
        Ok(picked(self.lookup(py, position)?, &choice))
    }

    /// Reads a view of the registry with options as JSON; None where the book has nothing to show.
    #[pyo3(signature = (name, position, options))]
    fn _read(
        &self,
        py: Python<'_>,
        name: &str,
        position: Option<&PyPosition>,
        options: &str,
    ) -> PyResult<Option<String>> {
        let mut client = BooksClient::new(self.channel.clone());
        let request = v1::ReadRequest {
            view: name.into(),
            position: position.map(|position| (&position.0).into()),
            options: options.into(),
        };
        let read = async move {
            match client.read(request).await {
                Ok(response) => Ok(Some(response.into_inner().json)),
                Err(status) if status.code() == tonic::Code::NotFound => Ok(None),
                Err(status) => Err(status),
            }
        };
        self.wait(py, read)
    }

    /// Lets the cluster search a position. `progress` gets each answer on the way.
    #[pyo3(signature = (position, *, depth = None, nodes = None, time = None, top = 1, progress = None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn analyze(
        &self,
        py: Python<'_>,
        position: &PyPosition,
        #[pyo3(from_py_with = whole)] depth: Option<u8>,
        #[pyo3(from_py_with = whole)] nodes: Option<u64>,
        time: Option<f64>,
        #[pyo3(from_py_with = whole)] top: u16,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyAnswer> {
        let question = Question {
            width: top,
            ..Question::new(position.0.clone(), effort(depth, nodes, time)?)
        };
        let request = v1::AnalyzeRequest {
            question: Some((&question).into()),
            ..v1::AnalyzeRequest::default()
        };
        let begun = Instant::now();
        let mut client = AnalysisClient::new(self.channel.clone());
        let updates = self.wait(py, async move { client.analyze(request).await })?;
        let mut updates = updates.into_inner();
        let mut last = None;
        // A search may take longer than any other request.
        while let Some(update) = self.wait_for(py, None, updates.message())? {
            let time_ms = begun.elapsed().as_millis() as u64;
            let Some(answer) = self.answer(&position.0, update.answer, time_ms)? else {
                continue;
            };
            if let Some(progress) = progress {
                let copy = PyAnswer {
                    position: answer.position.clone(),
                    answer: answer.answer.clone(),
                    ..answer
                };
                progress.call1((copy,))?;
            }
            last = Some(answer);
        }
        last.ok_or_else(|| errors::server(format!("{} gave no answer", self.name)))
    }

    /// Returns the build jobs as dictionaries, as `kagetsu jobs list --json` prints them.
    fn jobs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut client = BuildsClient::new(self.channel.clone());
        let listed = self.wait(py, async move { client.list(v1::ListJobsRequest {}).await })?;
        let jobs: Vec<_> = listed.into_inner().jobs.iter().map(JobJson::from).collect();
        as_python(py, &jobs)
    }

    /// Returns the workers as dictionaries, as `kagetsu workers list --json` prints them.
    fn workers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut client = WorkersClient::new(self.channel.clone());
        let request = v1::ListWorkersRequest { with_absent: true };
        let listed = self.wait(py, async move { client.list(request).await })?;
        let workers = listed.into_inner().workers.into_iter();
        let workers: Vec<_> = workers.map(kagetsu_api::WorkerJson::from).collect();
        as_python(py, &workers)
    }

    fn __repr__(&self) -> String {
        format!("Client({:?})", self.name)
    }
}
