//! Wrong answers and false claims of workers that passed their calibration.

use kagetsu_coordinator::{Config, Role};
use kagetsu_game::{Move, Position, Question};
use kagetsu_proto::v1;
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_search::Engine;

use super::{
    build_until_found, claim_a_win, facts, favour_the_worst, is_exam, liar, suspicious,
    worker_named,
};
use crate::analyses::{keep, last};
use crate::world::{Cluster, ScriptedWorker, TokenFile, answer, build, hello, position};

/// A certificate that does not hold: it forgets a six of the loser, two stones of which are missing
/// in one of its positions. Black wins in another way.
const FORGED: &str =
    include_str!("../../../../crates/certificate/tests/trees/data/closed-six.proof");

#[tokio::test(flavor = "multi_thread")]
async fn liars_kept_analysis_is_taken_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 100.0);
    let line = "a1 o15 a15";
    let is_held = async || {
        let found = cluster
            .books()
            .await
            .lookup(v1::Position::from(&position(line)))
            .await;
        found.expect("readable").into_inner().facts.is_some()
    };
    let _liar = liar(&cluster, 7, favour_the_worst).await;
    last(keep(&cluster, line).await.expect("a place")).await;
    assert!(is_held().await);
    cluster.worker("honest");
    cluster.worker("truthful");
    build_until_found(&cluster, "worker 7", 10).await;
    assert!(!is_held().await, "no other worker has answered it");
    cluster.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn true_proofs_enter_the_book_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = suspicious(folder.path(), 0.0);
    // Black wins by continuous fours; every move of White's loses but where it takes longer.
    let roots = vec![(&position("h8 a1 i8 a15 j8 o1")).into()];
    let request = v1::StartRequest {
        roots,
        ..build("test", 1)
    };
    cluster.start_build(request).await;
    cluster.worker("honest");
    assert_eq!(cluster.finished("test").await.positions, 1);
    let proofs = facts(&cluster)
        .await
        .into_values()
        .filter(|(_, proof)| proof.is_some())
        .count();
    assert!(proofs >= 1, "{proofs}");
    cluster.end().await;
}

/// Further stones with which Black loses after the first move of [`FORGED`].
const MORE_STONES: &str = " m8 a14 o10 b14 m14 c14";

/// Returns the position of a certificate with more stones, and its nodes as a strategy for the
/// image of the position that a book stores.
fn strategy_of(certificate: &str) -> (Position, v1::Strategy) {
    let mut lines = certificate.lines().skip(1);
    let mut field = |name| {
        let line = lines.next().expect("a head");
        line.strip_prefix(name).expect("the fields in their order")
    };
    let variant = field("variant ").parse().expect("a variant");
    let line = field("position ").to_owned() + MORE_STONES;
    let root = Position::from_line(variant, &line).expect("a line");
    let (_, symmetry) = root.key_and_symmetry();
    let code = |m: &str| {
        let m = root.parse_move(m).expect("a move");
        u32::from(root.variant().image(m, symmetry).code())
    };
    let mut steps = Vec::new();
    for line in lines.filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
        let mut words = line.split(' ').skip(1);
        let mut step = v1::StrategyStep {
            r#move: code(words.next().expect("a move")),
            ..v1::StrategyStep::default()
        };
        for answer in words {
            let (reply, node) = answer.split_once('>').expect("an answer");
            let node = node.parse::<u32>().expect("a node") - 1;
            if reply == "*" {
                step.otherwise = Some(node);
            } else {
                step.replies.push(code(reply));
                step.answers.push(node);
            }
        }
        steps.push(step);
    }
    let reply = None;
    (root, v1::Strategy { reply, steps })
}

/// The only worker is a volunteer that names one variant, is honest in its calibration, and sends a
/// forged strategy with its claim.
#[tokio::test(flavor = "multi_thread")]
async fn forged_strategy_of_the_only_worker_is_no_proof() {
    let folder = tempfile::tempdir().expect("a folder");
    let roles: [(&str, &[Role], _); 2] = [
        ("admin", &[Role::Admin], None),
        ("stranger", &[Role::Volunteer], None),
    ];
    let tokens = TokenFile::new(100_000, &roles);
    let config = Config {
        book: Some(folder.path().into()),
        cache_mib: 8,
        verify_share: 0.0,
        ..Config::default()
    };
    let cluster = Cluster::listen(&config, Some(&tokens), None, tokens.access("admin")).await;
    let (root, strategy) = strategy_of(FORGED);
    let roots = vec![(&root).into()];
    let request = v1::StartRequest {
        roots,
        ..build("test", 1)
    };
    cluster.start_build(request).await;
    let connector = cluster.connector_by(&tokens.access("stranger"));
    let channel = connector.connect().await.expect("it listens");
    let hello = v1::Hello {
        engine: Engine::NAME.into(),
        variants: vec!["standard-15".into()],
        ..hello(7)
    };
    let hello = WorkerMessage::Hello(hello);
    let stranger = ScriptedWorker::say_first(channel, hello).await;
    let mut stranger = stranger.expect("a stream");
    let m = strategy.steps.last().expect("a step").r#move;
    let mut exam = 0;
    let (task, position) = loop {
        let task = stranger.task().await;
        if is_exam(&task) {
            exam += 1;
            stranger.answer(&task).await;
            continue;
        }
        let question = task.question.as_ref().expect("a question");
        let question = Question::try_from(question).expect("a good one");
        assert_eq!(question.position.key(), root.key());
        break (task, question.position);
    };
    let mut reply = claim_a_win(answer(&task));
    reply.verdicts.truncate(1);
    let claim = &mut reply.verdicts[0];
    (claim.r#move, claim.line) = (m, vec![m]);
    let report = v1::Report {
        task: task.task,
        attempt: task.attempt,
        outcome: Some(Outcome::Answer(reply)),
        strategies: vec![strategy],
    };
    stranger.say(WorkerMessage::Report(report)).await;
    assert_eq!(cluster.finished("test").await.state(), v1::JobState::Done);
    let found = cluster.export().await.remove(0);
    let facts = found.facts.expect("searched");
    let facts = facts.about(&position).expect("legal moves");
    let believed = facts.get(Move::new(m as u16));
    assert!(
        believed.is_none_or(|v| v.proof.is_none() && i32::from(v.score.raw()) < 10_000),
        "{facts:?}"
    );
    let listed = worker_named(&cluster, "worker 7").await.expect("connected");
    assert!(
        exam > 0 && listed.confirmed == 0 && listed.quarantine.contains("wrong about"),
        "{exam} questions, {listed:?}"
    );
    cluster.end().await;
}
