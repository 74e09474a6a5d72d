//! Calls every rpc with every role and without a token: each role does what it may, and no more.

mod http;
mod tls;

use std::collections::BTreeMap;
use std::time::Duration;

use kagetsu_coordinator::{Config, Permission, Role};
use kagetsu_proto::{Access, Connector, v1};
use prost::Message;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use crate::world::{Cluster, TokenFile, accepted};

/// The roles that may call each rpc. A new rpc needs a row.
const TABLE: &[(&str, &[Role])] = {
    use Role::{Admin, Analyse, Build, Read, Volunteer, Work};
    const LOOK: &[Role] = &[Read, Analyse, Build, Admin];
    &[
        ("/grpc.health.v1.Health/Check", &Role::ALL),
        ("/grpc.health.v1.Health/Watch", &Role::ALL),
        (
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            &Role::ALL,
        ),
        (
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            &Role::ALL,
        ),
        ("/kagetsu.v1.Analysis/Analyze", &[Analyse, Admin]),
        ("/kagetsu.v1.Books/Annotate", &[Build, Admin]),
        ("/kagetsu.v1.Books/Export", LOOK),
        ("/kagetsu.v1.Books/Lookup", LOOK),
        ("/kagetsu.v1.Books/LookupMany", LOOK),
        ("/kagetsu.v1.Books/Read", LOOK),
        ("/kagetsu.v1.Builds/Cancel", &[Build, Admin]),
        ("/kagetsu.v1.Builds/Get", LOOK),
        ("/kagetsu.v1.Builds/List", LOOK),
        ("/kagetsu.v1.Builds/Pause", &[Build, Admin]),
        ("/kagetsu.v1.Builds/Resume", &[Build, Admin]),
        ("/kagetsu.v1.Builds/Retry", &[Build, Admin]),
        ("/kagetsu.v1.Builds/Prioritize", &[Build, Admin]),
        ("/kagetsu.v1.Builds/Start", &[Build, Admin]),
        ("/kagetsu.v1.Builds/Watch", LOOK),
        ("/kagetsu.v1.Workers/Beat", &[Work, Volunteer, Admin]),
        ("/kagetsu.v1.Workers/List", LOOK),
        ("/kagetsu.v1.Workers/Release", &[Admin]),
        ("/kagetsu.v1.Workers/Work", &[Work, Volunteer, Admin]),
    ]
};

/// Rpcs that need no token.
const OPEN: &[&str] = &[
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
];

/// Every rpc of the served descriptors.
fn methods() -> Vec<String> {
    let sets = [
        kagetsu_proto::DESCRIPTORS,
        tonic_health::pb::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
    ];
    let mut all = Vec::new();
    for set in sets {
        for file in prost_types::FileDescriptorSet::decode(set)
            .expect("our own")
            .file
        {
            let package = file.package().to_string();
            for service in &file.service {
                let method = |m: &prost_types::MethodDescriptorProto| {
                    format!("/{package}.{}/{}", service.name(), m.name())
                };
                all.extend(service.method.iter().map(method));
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

#[test]
fn every_rpc_declares_its_permission() {
    let table: BTreeMap<_, _> = TABLE
        .iter()
        .map(|&(method, roles)| (method.to_string(), roles))
        .collect();
    assert_eq!(methods(), table.keys().cloned().collect::<Vec<_>>());
    for (method, roles) in table {
        let need = Permission::of_rpc(&method).expect("a declared permission");
        assert_eq!(
            Role::ALL
                .into_iter()
                .filter(|role| role.has(need))
                .collect::<Vec<_>>(),
            roles,
            "{method}"
        );
        assert_eq!(
            need == Permission::Public,
            OPEN.contains(&method.as_str()),
            "{method}"
        );
    }
    assert_eq!(Permission::of_rpc("/kagetsu.v1.Builds/Erase"), None);
}

/// A coordinator with a book and one token of each role.
struct Guarded {
    _folder: TempDir,
    tokens: TokenFile,
    cluster: Cluster,
}

impl Guarded {
    async fn start(rate: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let tokens = TokenFile::of_each_role(rate);
        let config = Config {
            book: Some(folder.path().join("book")),
            cache_mib: 8,
            trusts_workers: true,
            ..Config::default()
        };
        let cluster = Cluster::listen(&config, Some(&tokens), None, Access::default()).await;
        Self {
            _folder: folder,
            tokens,
            cluster,
        }
    }

    /// Returns a connector that shows the token of this name.
    fn connector(&self, token: &str) -> Connector {
        self.cluster.connector_by(&self.tokens.access(token))
    }

    /// Returns a connector that shows a token that the coordinator does not know.
    fn unknown(&self) -> Connector {
        let access = self.tokens.access_by_secret("kagetsu_0123");
        self.cluster.connector_by(&access)
    }

    async fn end(self) {
        self.cluster.end().await;
    }
}

/// Bounds a test that has failed.
const TEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Calls an rpc with an empty message; returns only whether it was admitted.
async fn ask(connector: &Connector, method: &str) -> Result<(), Status> {
    let mut client = Grpc::new(connector.connect().await.expect("it listens"));
    client.ready().await.expect("it listens");
    let path = PathAndQuery::try_from(method.to_string()).expect("a path");
    let codec = ProstCodec::<(), ()>::default();
    // The head shows it; the first message of an admitted call may take any time.
    let head = tokio::time::timeout(
        TEST_TIMEOUT,
        client.server_streaming(Request::new(()), path, codec),
    );
    head.await.expect("a head").map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_role_calls_only_its_rpcs() {
    let guarded = Guarded::start(100_000).await;
    for (method, roles) in TABLE {
        for role in &Role::ALL {
            let result = ask(&guarded.connector(role.name()), method).await;
            let code = result.as_ref().map_or_else(Status::code, |()| Code::Ok);
            if roles.contains(role) {
                assert!(
                    !matches!(code, Code::PermissionDenied | Code::Unauthenticated),
                    "{role} {method}: {result:?}"
                );
            } else {
                let status = result.expect_err(method);
                assert_eq!(status.code(), Code::PermissionDenied, "{role} {method}");
                assert!(
                    status
                        .message()
                        .contains(&format!("the token '{role}' has the role {role}")),
                    "{status}"
                );
            }
        }
        let tokenless = guarded.cluster.connector_by(&Access::default());
        let result = ask(&tokenless, method).await;
        let code = result.as_ref().map_or_else(Status::code, |()| Code::Ok);
        assert_eq!(
            code == Code::Unauthenticated,
            !OPEN.contains(method),
            "no token, {method}: {result:?}"
        );
        if !OPEN.contains(method) {
            let unknown = ask(&guarded.unknown(), method).await.expect_err(method);
            assert_eq!(unknown.code(), Code::Unauthenticated, "{method}");
            assert!(unknown.message().contains("not known"), "{unknown}");
        }
    }
    guarded.end().await;
}

/// Concurrent requests of a token with a rate of one a second.
const CROWD: usize = 200;

#[tokio::test(flavor = "multi_thread")]
async fn excessive_requests_get_a_time_to_retry() {
    let guarded = Guarded::start(1).await;
    let connector = guarded.connector("read");
    let mut requests: JoinSet<_> = (0..CROWD)
        .map(|_| {
            let connector = connector.clone();
            async move { ask(&connector, "/kagetsu.v1.Builds/List").await }
        })
        .collect();
    let mut refused = None;
    while let Some(result) = requests.join_next().await {
        refused = refused.or(result.expect("no panic").err());
    }
    let status = refused.expect("refused");
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    let wait = |name: &str| {
        status
            .metadata()
            .get(name)
            .and_then(|v| v.to_str().ok()?.parse::<u64>().ok())
    };
    assert!(
        (1..=1_000).contains(&wait("grpc-retry-pushback-ms").expect("a time")),
        "{status:?}"
    );
    assert_eq!(wait("retry-after"), Some(1));
    assert!(
        status
            .message()
            .contains("exceeds 1 requests a second: try again in"),
        "{status}"
    );
    // Other tokens are not affected.
    let other = guarded.connector("admin");
    assert!(ask(&other, "/kagetsu.v1.Builds/List").await.is_ok());
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_tokens_are_limited_over_grpc() {
    let guarded = Guarded::start(1_000).await;
    let unknown = guarded.unknown();
    let mut rejected = 0;
    let limited = loop {
        let status = ask(&unknown, "/kagetsu.v1.Builds/List").await;
        let status = status.expect_err("no token of this coordinator");
        if status.code() != Code::Unauthenticated {
            break status;
        }
        rejected += 1;
        assert!(rejected < 10_000, "unknown tokens are not limited");
    };
    assert_eq!(limited.code(), Code::ResourceExhausted, "{limited}");
    assert!(limited.message().contains("try again in"), "{limited}");
    let valid = guarded.connector("read");
    ask(&valid, "/grpc.health.v1.Health/Check")
        .await
        .expect("a valid token is served");
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revoking_a_token_ends_its_streams() {
    let guarded = Guarded::start(1_000).await;
    let connector = guarded.connector("work");
    let mut client =
        v1::workers_client::WorkersClient::new(connector.connect().await.expect("it listens"));
    let hello = v1::Hello {
        protocol: kagetsu_proto::PROTOCOL,
        name: "w".into(),
        slots: 1,
        ..v1::Hello::default()
    };
    let hello = v1::FromWorker {
        message: Some(v1::from_worker::Message::Hello(hello)),
    };
    let (sender, messages) = tokio::sync::mpsc::channel(4);
    sender.send(hello).await.expect("room");
    let stream = tokio_stream::wrappers::ReceiverStream::new(messages);
    let mut tasks = accepted(client.work(stream).await);
    assert!(tasks.message().await.expect("a welcome").is_some());
    guarded.tokens.revoke("work");
    let ended = tokio::time::timeout(TEST_TIMEOUT, async {
        loop {
            match tasks.message().await {
                Ok(Some(_)) => {}
                ended => return ended,
            }
        }
    });
    let status = ended.await.expect("it ends").expect_err("refused");
    assert_eq!(status.code(), Code::Unauthenticated, "{status}");
    assert!(ask(&connector, "/kagetsu.v1.Workers/Work").await.is_err());
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keeping_an_answer_needs_two_roles() {
    let mut guarded = Guarded::start(100_000).await;
    guarded.tokens.add("both", &[Role::Analyse, Role::Build]);
    let position = kagetsu_game::Position::start(kagetsu_game::Variant::FREESTYLE_15);
    let question = kagetsu_game::Question::new(position, kagetsu_game::Effort::depth(2));
    let request = async |token: &str, keep| {
        let caller = guarded
            .connector(token)
            .connect()
            .await
            .expect("it listens");
        let request = v1::AnalyzeRequest {
            question: Some((&question).into()),
            split: 0,
            keep,
        };
        v1::analysis_client::AnalysisClient::new(caller)
            .analyze(request)
            .await
            .map(drop)
    };
    for role in Role::ALL {
        let token = role.name();
        let may = role.has(Permission::Analyse) && role.has(Permission::Build);
        let refused = request(token, true)
            .await
            .map_err(|status| (status.code(), status.message().to_string()));
        assert_eq!(refused.is_ok(), may, "{role}: {refused:?}");
        let need = if role.has(Permission::Analyse) {
            "build, admin"
        } else {
            "analyse, admin"
        };
        if let Err((code, message)) = refused {
            assert!(
                code == Code::PermissionDenied && message.ends_with(need),
                "{message}"
            );
        }
        assert_eq!(
            request(token, false).await.is_ok(),
            role.has(Permission::Analyse),
            "{role}"
        );
    }
    assert!(request("both", true).await.is_ok());
    guarded.end().await;
}
