use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use kagetsu_book::{Compiler, Derived, Overview, Stats};
use kagetsu_game::{Answer, Bound, Position, Provenance, Score, Variant, Verdict};
use kagetsu_proto::v1;
use kagetsu_proto::v1::books_client::BooksClient;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint};

use kagetsu_terminal::json::write_json;
use kagetsu_terminal::runtime::runtime;

/// Positions of the book, of 2 to 12 stones around the centre, with five moves each.
const POSITIONS: usize = 20_000;
const MOVES: usize = 5;
/// Positions of one call of `LookupMany`.
const MANY: usize = 512;
/// Calls of `LookupMany` in flight.
const IN_FLIGHT: usize = 4;
/// Length of each turn of each measurement.
const TURN: Duration = Duration::from_millis(1_000);
/// Paths of the health checks, the cheapest requests that a server answers.
const EMPTY_GRPC: &str = "/grpc.health.v1.Health/Check";
const EMPTY_HTTP: &str = "/healthz";

/// Time of a look-up over gRPC and HTTP on this machine, beside an empty call
///
/// Example: kagetsu bench doors --clients 16
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Clients at the same time, each with a connection of its own
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    clients: u16,
    /// Turns of a second that each measurement gets; they alternate
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// Times of calls, in microseconds.
#[derive(Default, Serialize)]
struct TurnTimes {
    calls: usize,
    a_second: f64,
    p50_us: f64,
    p99_us: f64,
}

#[derive(Serialize)]
struct ServersReport {
    clients: u16,
    grpc_empty: TurnTimes,
    grpc_lookup: TurnTimes,
    http_empty: TurnTimes,
    http_lookup: TurnTimes,
    /// Positions a second, with all their moves.
    lookup_many: f64,
    /// The same with the best move of each alone.
    lookup_many_best: f64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("kagetsu-bench-doors-{}", std::process::id()));
    std::fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let measured = runtime()?.block_on(measure(args, &folder));
    std::fs::remove_dir_all(&folder)
        .with_context(|| format!("cannot remove {}", folder.display()))?;
    let report = measured?;
    if args.json {
        return write_json(out, &report);
    }
    let ServersReport {
        clients,
        grpc_empty,
        grpc_lookup,
        http_empty,
        http_lookup,
        lookup_many,
        lookup_many_best,
    } = &report;
    writeln!(
        out,
        "`kagetsu serve` of a compiled book of {POSITIONS} positions as a process of its own; {clients} clients"
    )?;
    writeln!(
        out,
        "on loopback, each asking as soon as it is answered, positions by chance, all warm; an empty call is a"
    )?;
    writeln!(
        out,
        "health check; turns of {} ms alternate, {} of each\n",
        TURN.as_millis(),
        args.rounds
    )?;
    for (name, empty, lookup) in [
        ("gRPC", grpc_empty, grpc_lookup),
        ("HTTP", http_empty, http_lookup),
    ] {
        for (what, times) in [("empty", empty), ("look-up", lookup)] {
            let TurnTimes {
                a_second,
                p50_us,
                p99_us,
                ..
            } = times;
            writeln!(
                out,
                "{name} {what:<8} {a_second:>9.0}/s   p50 {p50_us:>7.0} us   p99 {p99_us:>7.0} us"
            )?;
        }
        let ratio = |of: fn(&TurnTimes) -> f64| of(lookup) / of(empty).max(1e-9);
        writeln!(
            out,
            "{name} ratio    p50 {:.2}, p99 {:.2}",
            ratio(|t| t.p50_us),
            ratio(|t| t.p99_us)
        )?;
    }
    writeln!(
        out,
        "LookupMany of {MANY}, {IN_FLIGHT} in flight: {lookup_many:.0} positions/s with their {MOVES} moves, \
         {lookup_many_best:.0} with the best"
    )?;
    Ok(())
}

async fn measure(args: &Args, folder: &Path) -> Result<ServersReport> {
    let path = folder.join("bench.kbk");
    let positions = Arc::new(compile(&path)?);
    let server = MeasuredServer::start(&path)?;
    let mut channels = Vec::new();
    for _ in 0..args.clients {
        channels.push(
            Endpoint::from_shared(server.grpc.clone())?
                .tcp_nodelay(true)
                .connect()
                .await?,
        );
    }
    let mut times: [Vec<Duration>; 4] = Default::default();
    let mut many = [Vec::new(), Vec::new()];
    for round in 0..args.rounds {
        let grpc = |empty| by_grpc(&channels, &positions, u64::from(round), empty);
        times[0].extend(grpc(true).await?);
        times[1].extend(grpc(false).await?);
        let http = |empty| {
            by_http(
                &server.http,
                args.clients,
                &positions,
                u64::from(round),
                empty,
            )
        };
        times[2].extend(http(true).await?);
        times[3].extend(http(false).await?);
        for (top, many) in (0..).zip(&mut many) {
            many.push(lookup_many(&channels, &positions, top).await?);
        }
    }
    let seconds = TURN.as_secs_f64() * f64::from(args.rounds);
    let [grpc_empty, grpc_lookup, http_empty, http_lookup] =
        times.map(|times| TurnTimes::of(times, seconds));
    let [lookup_many, lookup_many_best] = many.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    });
    Ok(ServersReport {
        clients: args.clients,
        grpc_empty,
        grpc_lookup,
        http_empty,
        http_lookup,
        lookup_many,
        lookup_many_best,
    })
}

impl TurnTimes {
    fn of(mut times: Vec<Duration>, seconds: f64) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            times
                .get((times.len() as f64 * share) as usize)
                .map_or(0.0, |t| t.as_secs_f64() * 1e6)
        };
        Self {
            calls: times.len(),
            a_second: times.len() as f64 / seconds,
            p50_us: at(0.5),
            p99_us: at(0.99),
        }
    }
}

/// Writes a book of positions by chance, and gives them.
fn compile(path: &Path) -> Result<Vec<Position>> {
    let mut chance = StdRng::seed_from_u64(1);
    let mut compiler = Compiler::default();
    let (mut positions, mut seen) = (Vec::with_capacity(POSITIONS), HashSet::new());
    let by = Provenance {
        engine: "bench".into(),
        day: 0,
    };
    while positions.len() < POSITIONS {
        let mut position = Position::start(Variant::FREESTYLE_15);
        for _ in 0..chance.random_range(2..=12) {
            let near = kagetsu_game::Move::new(
                chance.random_range(4..11) * 15 + chance.random_range(4..11),
            );
            position = position.play(near).unwrap_or(position);
        }
        if position.outcome().is_some() || !seen.insert(position.key()) {
            continue;
        }
        let canonical = position.canonical();
        let verdict = |m: kagetsu_game::Move| {
            let score = Score::opinion(chance.random_range(-300..300));
            (
                m,
                Verdict {
                    score,
                    bound: Bound::Exact,
                    depth: 8,
                    nodes: 0,
                    line: vec![m],
                    proof: None,
                    by: by.clone(),
                },
            )
        };
        let answer: Answer = position
            .legal_moves()
            .into_iter()
            .take(MOVES)
            .map(verdict)
            .collect();
        let answer = answer.turned(position.variant(), canonical.symmetry);
        let best = answer.best().map(|(m, v)| (m, v.score));
        let score = best.map_or(Score::ZERO, |(_, score)| score);
        let value = Derived {
            score,
            proof: None,
            best: best.map(|(m, _)| m),
            depth: 9,
            is_open: false,
        };
        compiler.add(canonical.key, &value, &answer)?;
        positions.push(position);
    }
    compiler.write(
        path,
        &Stats {
            positions: POSITIONS as u64,
            ..Stats::default()
        },
        &Overview::default(),
    )?;
    Ok(positions)
}

/// The server as a process of its own; it is killed when this value is dropped.
struct MeasuredServer {
    child: Child,
    grpc: String,
    http: String,
}

impl MeasuredServer {
    fn start(book: &Path) -> Result<Self> {
        let program: PathBuf = std::env::current_exe()?.with_file_name("kagetsu");
        let mut child = Command::new(program)
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--http",
                "127.0.0.1:0",
                "--book",
            ])
            .arg(book)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        let mut address = |begin: &str| {
            let line = lines.next().and_then(Result::ok).unwrap_or_default();
            line.strip_prefix(begin)
                .map(String::from)
                .ok_or_else(|| anyhow!("the server says '{line}'"))
        };
        let (grpc, http) = (address("listening on ")?, address("http on ")?);
        Ok(Self {
            child,
            grpc: format!("http://{grpc}"),
            http,
        })
    }
}

impl Drop for MeasuredServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has every client ask for a turn; the times of all calls.
async fn by_grpc(
    channels: &[Channel],
    positions: &Arc<Vec<Position>>,
    seed: u64,
    empty: bool,
) -> Result<Vec<Duration>> {
    let end = Instant::now() + TURN;
    let mut clients = JoinSet::new();
    for (number, channel) in channels.iter().enumerate() {
        let (channel, positions) = (channel.clone(), Arc::clone(positions));
        clients.spawn(async move {
            let mut chance = StdRng::seed_from_u64(seed * 1_000 + number as u64);
            let mut times = Vec::new();
            let mut books = BooksClient::new(channel.clone());
            let mut health = tonic::client::Grpc::new(channel);
            while Instant::now() < end {
                let message =
                    v1::Position::from(&positions[chance.random_range(0..positions.len())]);
                let begun = Instant::now();
                if empty {
                    health.ready().await?;
                    let path = tonic::codegen::http::uri::PathAndQuery::from_static(EMPTY_GRPC);
                    let codec = tonic_prost::ProstCodec::<(), ()>::default();
                    let _: tonic::Response<()> =
                        health.unary(tonic::Request::new(()), path, codec).await?;
                } else {
                    let found = books.lookup(message).await?.into_inner();
                    ensure!(found.answer.is_some(), "a position is not found");
                }
                times.push(begun.elapsed());
            }
            Ok(times)
        });
    }
    gather(clients).await
}

/// The same over HTTP, by keep-alive connections.
async fn by_http(
    address: &str,
    count: u16,
    positions: &Arc<Vec<Position>>,
    seed: u64,
    empty: bool,
) -> Result<Vec<Duration>> {
    let mut streams = Vec::new();
    for _ in 0..count {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    let end = Instant::now() + TURN;
    let mut clients = JoinSet::new();
    for (number, mut stream) in streams.into_iter().enumerate() {
        let (address, positions) = (address.to_string(), Arc::clone(positions));
        clients.spawn(async move {
            let mut chance = StdRng::seed_from_u64(seed * 1_000 + number as u64);
            let (mut times, mut buffer) = (Vec::new(), Vec::new());
            while Instant::now() < end {
                let position = &positions[chance.random_range(0..positions.len())];
                let names: Vec<String> = position
                    .moves()
                    .iter()
                    .map(|&m| position.write_move(m))
                    .collect();
                let lookup = format!(
                    "/api/v1/book?variant={}&moves={}",
                    position.variant(),
                    names.concat()
                );
                let path = if empty { EMPTY_HTTP } else { &lookup };
                let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
                let begun = Instant::now();
                stream.write_all(request.as_bytes()).await?;
                receive(&mut stream, &mut buffer).await?;
                times.push(begun.elapsed());
                ensure!(
                    buffer.starts_with(b"HTTP/1.1 200"),
                    "{}",
                    String::from_utf8_lossy(&buffer)
                );
            }
            Ok(times)
        });
    }
    gather(clients).await
}

/// Reads one answer, to the end of its body.
async fn receive(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<()> {
    buffer.clear();
    loop {
        ensure!(stream.read_buf(buffer).await? > 0, "the server has hung up");
        let Some(head) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let text = String::from_utf8_lossy(&buffer[..head]).to_lowercase();
        let length = text
            .split("content-length: ")
            .nth(1)
            .and_then(|rest| rest.lines().next()?.trim().parse().ok());
        let length: usize = length.context("an answer without a length")?;
        if buffer.len() >= head + 4 + length {
            return Ok(());
        }
    }
}

async fn gather(mut clients: JoinSet<Result<Vec<Duration>>>) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    while let Some(ended) = clients.join_next().await {
        times.extend(ended??);
    }
    Ok(times)
}

/// Positions a second of `LookupMany` for a turn, with the `top` best moves of each (0: all).
async fn lookup_many(channels: &[Channel], positions: &[Position], top: u32) -> Result<f64> {
    let messages = |chunk: &[Position]| v1::LookupManyRequest {
        positions: chunk.iter().map(Into::into).collect(),
        top,
    };
    let requests: Arc<Vec<v1::LookupManyRequest>> =
        Arc::new(positions.chunks_exact(MANY).map(messages).collect());
    let begun = Instant::now();
    let end = begun + TURN;
    let mut callers = JoinSet::new();
    for (number, channel) in channels.iter().take(IN_FLIGHT).enumerate() {
        let (mut books, requests) = (BooksClient::new(channel.clone()), Arc::clone(&requests));
        callers.spawn(async move {
            let (mut at, mut found) = (number, 0);
            while Instant::now() < end {
                let request = requests[at % requests.len()].clone();
                at += 1;
                found += books.lookup_many(request).await?.into_inner().found.len();
            }
            anyhow::Ok(found)
        });
    }
    let mut found = 0;
    while let Some(ended) = callers.join_next().await {
        found += ended??;
    }
    Ok(found as f64 / begun.elapsed().as_secs_f64())
}
