//! Impossible requests are refused with a reason, and other clients are served as before.

mod foreign_text;
mod roots;

use kagetsu_game::{Effort, Question};
use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use tonic::Code;
use tonic::Code::{FailedPrecondition, InvalidArgument, NotFound};

use crate::world::{Cluster, ScriptedWorker, accepted, build, hello, position, refused};

#[tokio::test(flavor = "multi_thread")]
async fn invalid_worker_is_refused() {
    let cluster = Cluster::start(None);
    let rows: [(WorkerMessage, Code, &str); 9] = [
        (
            WorkerMessage::Hello(v1::Hello {
                protocol: 0,
                ..hello(1)
            }),
            FailedPrecondition,
            "speaks protocol 0, this coordinator",
        ),
        (
            WorkerMessage::Hello(v1::Hello {
                protocol: 99,
                version: "9.9.0".into(),
                ..hello(1)
            }),
            FailedPrecondition,
            "upgrade the coordinator to kagetsu 9.9.0",
        ),
        (
            WorkerMessage::Hello(v1::Hello {
                protocol: 0,
                ..hello(1)
            }),
            FailedPrecondition,
            "please upgrade the worker to kagetsu",
        ),
        (
            WorkerMessage::Hello(v1::Hello {
                slots: 0,
                ..hello(1)
            }),
            InvalidArgument,
            "0 slots",
        ),
        (
            WorkerMessage::Hello(v1::Hello {
                slots: u32::MAX,
                ..hello(1)
            }),
            InvalidArgument,
            "4294967295 slots",
        ),
        (
            WorkerMessage::Hello(v1::Hello {
                name: "n".repeat(201),
                ..hello(1)
            }),
            InvalidArgument,
            "at most 200",
        ),
        (
            WorkerMessage::Hello(v1::Hello {
                name: "n\n1".into(),
                ..hello(1)
            }),
            InvalidArgument,
            "the worker's name 'n\\n1'",
        ),
        (
            WorkerMessage::Hello(v1::Hello {
                engine: "\u{1b}[2J".into(),
                ..hello(1)
            }),
            InvalidArgument,
            "the engine's name",
        ),
        (
            WorkerMessage::Heartbeat(v1::Heartbeat::default()),
            InvalidArgument,
            "the first message must be a hello",
        ),
    ];
    for (first, code, words) in rows {
        let status = ScriptedWorker::say_first(cluster.channel().await, first)
            .await
            .err()
            .expect("a refusal");
        assert_eq!(status.code(), code, "{status}");
        assert!(status.message().contains(words), "{status}, not {words}");
    }
    assert_eq!(cluster.workers().await, []);
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn impossible_build_is_refused() {
    type Spoil = fn(&mut v1::StartRequest);
    let cluster = Cluster::with_book();
    let mut builds = cluster.builds().await;
    let rows: [(Spoil, &str); 18] = [
        (|r| r.name.clear(), "name"),
        (|r| r.name = "n".repeat(201), "at most 200"),
        (
            |r| r.name = "x\nkagetsu_demand 1000000".into(),
            "the job's name 'x\\nkagetsu_demand",
        ),
        (|r| r.roots.clear(), "needs a root"),
        (|r| r.roots[0].variant = "draughts".into(), "draughts"),
        (|r| r.roots[0].variant = "renju-99".into(), "99"),
        (|r| r.roots[0].moves = vec![112, 112], "h8"),
        (|r| r.roots[0].setup = Some(vec![0xff; 1_000]), ""),
        (
            |r| {
                r.roots.push(v1::Position {
                    variant: "standard-15".into(),
                    ..Default::default()
                })
            },
            "one variant",
        ),
        (
            |r| r.settings = r#"{"alpha": NaN}"#.into(),
            "not a JSON object",
        ),
        (|r| r.settings = "[1]".into(), "not a JSON object"),
        (
            |r| r.settings = r#"{"alpha": -1}"#.into(),
            "alpha: -1 is not",
        ),
        (|r| r.settings = r#"{"depth": 0}"#.into(), "depth: 0 is not"),
        (
            |r| r.settings = r#"{"depth": "x"}"#.into(),
            "depth: \"x\" is not",
        ),
        (
            |r| r.settings = r#"{"width": 3}"#.into(),
            "width: a build has no such setting",
        ),
        (|r| r.settings = r#"{"top": 0}"#.into(), "top: 0 is not"),
        (
            |r| r.settings = r#"{"positions": 18446744073709551615}"#.into(),
            "positions: 18446744073709551615 is not a number from 1 to 1000000000000",
        ),
        (
            |r| r.settings = r#"{"deepen": {"engine": "a\u0000b"}}"#.into(),
            "deepen.engine: 'a\\0b' is not a text",
        ),
    ];
    for (spoil, words) in rows {
        let mut request = build("test", 10);
        spoil(&mut request);
        let (code, message) = refused(builds.start(request).await);
        assert_eq!(code, InvalidArgument, "{message}");
        assert!(message.contains(words), "{message}, not {words}");
    }
    for name in ["", "unknown", &"n".repeat(10_000)] {
        let name = v1::JobName { name: name.into() };
        assert_eq!(refused(builds.get(name.clone()).await).0, NotFound);
        assert_eq!(refused(builds.pause(name.clone()).await).0, NotFound);
        assert_eq!(refused(builds.watch(name).await).0, NotFound);
    }
    let jobs = accepted(builds.list(v1::ListJobsRequest {}).await).jobs;
    assert_eq!(jobs, [], "nothing was started");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn impossible_question_is_refused() {
    let cluster = Cluster::start(None);
    let mut client = AnalysisClient::new(cluster.channel().await);
    let good = v1::Question::from(&Question::new(position("h8"), Effort::depth(2)));
    let endless = v1::Question {
        effort: Some(v1::Effort::default()),
        ..good.clone()
    };
    let rows = [
        (None, "the question is missing"),
        (
            Some(v1::Question {
                width: 0,
                ..good.clone()
            }),
            "width 0 is out of range",
        ),
        (
            Some(v1::Question {
                moves: vec![112],
                ..good.clone()
            }),
            "code 112 cannot be made",
        ),
        (Some(endless), "an effort is needed"),
    ];
    for (question, words) in rows {
        let (code, message) = refused(
            client
                .analyze(v1::AnalyzeRequest {
                    question,
                    split: 0,
                    keep: false,
                })
                .await,
        );
        assert_eq!(code, InvalidArgument, "{message}");
        assert!(message.contains(words), "{message}, not {words}");
    }
    for split in [-1, 3, 99] {
        let request = v1::AnalyzeRequest {
            question: Some(good.clone()),
            split,
            keep: false,
        };
        let (code, message) = refused(client.analyze(request).await);
        assert_eq!(code, InvalidArgument, "{message}");
        assert!(message.contains(&format!("split {split}")), "{message}");
    }
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn impossible_look_up_is_refused() {
    let cluster = Cluster::with_book();
    let mut books = cluster.books().await;
    assert_eq!(
        refused(books.lookup(v1::Position::default()).await).0,
        InvalidArgument
    );
    let many = v1::LookupManyRequest {
        positions: vec![(&position("h8")).into(); 1_025],
        top: 0,
    };
    let words = "1025 positions are more than 1024: ask for fewer at a time";
    assert_eq!(
        refused(books.lookup_many(many).await),
        (InvalidArgument, words.into())
    );
    let rows = [
        ("pick", r#"{"temperature": -1}"#, "from 0 to"),
        ("tree", r#"{"plies": 101}"#, "from 1 to 100"),
        ("tree", r#"{"ply": 4}"#, "unknown field"),
        ("tree", "{", "EOF"),
        ("statistics", "", "leave the position out"),
        ("forest", "", "there is no view 'forest'"),
    ];
    for (view, options, words) in rows {
        let request = v1::ReadRequest {
            view: view.into(),
            position: Some((&position("h8")).into()),
            options: options.into(),
        };
        let (code, message) = refused(books.read(request).await);
        assert_eq!(code, InvalidArgument, "{view} {options}");
        assert!(message.contains(words), "{message}");
    }
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_book_only_analyses_are_done() {
    let cluster = Cluster::start(None);
    let (code, words) = refused(cluster.builds().await.start(build("test", 1)).await);
    assert_eq!(
        (code, words.as_str()),
        (
            FailedPrecondition,
            "this coordinator has no book; start it with --book DIR"
        )
    );
    let found = cluster
        .books()
        .await
        .lookup(v1::Position::from(&position("h8")))
        .await;
    assert_eq!(refused(found).0, FailedPrecondition);
    cluster.end().await;
}
