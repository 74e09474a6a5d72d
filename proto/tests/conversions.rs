//! Laws of conversion: a message converts back to its value, and invalid messages are errors, never
//! panics.

use std::time::Duration;

use kagetsu_game::{
    Answer, Bound, Claim, Effort, MAX_NAME_BYTES, Move, Position, Proof, ProofKind, Provenance,
    Question, Score, Variant, Verdict, Window,
};
use kagetsu_proto::{MAX_MOVES, WireError, v1};
use proptest::prelude::*;
use prost::Message;

fn variants() -> impl Strategy<Value = Variant> {
    let names = [
        "freestyle-15",
        "standard-15",
        "renju-15",
        "freestyle-7",
        "freestyle-20",
        "xiangqi",
        "surakarta",
    ];
    prop::sample::select(names.to_vec()).prop_map(|name| name.parse().expect("a variant"))
}

/// Generates positions of games with legal moves.
fn positions() -> impl Strategy<Value = Position> {
    let packs = (
        variants(),
        any::<bool>(),
        prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    );
    packs.prop_map(|(variant, is_packed, choices)| {
        let mut position = Position::start(variant);
        for choice in choices {
            let legal = position.legal_moves();
            if legal.is_empty() {
                break;
            }
            position = position
                .play(legal[choice.index(legal.len())])
                .expect("a legal move");
        }
        let packed = || Position::unpack(variant, position.canonical().packed);
        if is_packed {
            packed().expect("a position that was played")
        } else {
            position
        }
    })
}

fn moves(most: usize) -> impl Strategy<Value = Vec<Move>> {
    prop::collection::vec(any::<u16>().prop_map(Move::new), 0..most)
}

fn scores() -> impl Strategy<Value = Score> {
    prop_oneof![
        any::<i32>().prop_map(Score::opinion),
        (0..=Score::MAX_PLIES).prop_map(Score::win_in),
        (0..=Score::MAX_PLIES).prop_map(Score::loss_in),
    ]
}

fn efforts() -> impl Strategy<Value = Effort> {
    let depth = prop::option::of(1..=Effort::MAX_DEPTH);
    let time = prop::option::of(any::<u32>().prop_map(|ms| Duration::from_millis(ms.into())));
    (depth, prop::option::of(any::<u64>()), time).prop_map(|(depth, nodes, time)| Effort {
        depth,
        nodes,
        time,
    })
}

fn questions() -> impl Strategy<Value = Question> {
    let edge = || prop_oneof![scores(), Just(Score::MIN), Just(Score::MAX)];
    let window = (edge(), edge()).prop_map(|(alpha, beta)| Window { alpha, beta });
    (positions(), moves(9), window, efforts(), 1..u16::MAX).prop_map(
        |(position, moves, window, effort, width)| Question {
            position,
            moves,
            window,
            effort,
            width,
        },
    )
}

fn proofs() -> impl Strategy<Value = Proof> {
    use ProofKind::{Manual, Search, Terminal, Tree, Vcf, Vct};
    let claim = prop::sample::select(vec![Claim::Win, Claim::Loss, Claim::Draw]);
    let kind = prop::sample::select(vec![Manual, Search, Vct, Vcf, Tree, Terminal]);
    (claim, kind, 0..=Score::MAX_PLIES)
        .prop_map(|(claim, kind, plies)| Proof::new(claim, kind, plies))
}

fn verdicts() -> impl Strategy<Value = Verdict> {
    let bound = prop::sample::select(vec![Bound::Exact, Bound::Lower, Bound::Upper]);
    let by = ("[a-z .0-9]{0,20}", any::<u32>()).prop_map(|(engine, day)| Provenance {
        engine: engine.into(),
        day,
    });
    (
        prop::option::of(proofs()),
        scores(),
        bound,
        any::<u8>(),
        any::<u64>(),
        moves(9),
        by,
    )
        .prop_map(|(proof, score, bound, depth, nodes, line, by)| {
            let score = proof.map_or(score, Proof::score);
            Verdict {
                score,
                bound,
                depth,
                nodes,
                line,
                proof,
                by,
            }
        })
}

fn answers() -> impl Strategy<Value = Answer> {
    prop::collection::vec((any::<u16>().prop_map(Move::new), verdicts()), 0..9)
        .prop_map(Answer::from_iter)
}

/// Encodes and decodes a message.
fn sent<M: Message + Default>(message: &M) -> M {
    M::decode(message.encode_to_vec().as_slice()).expect("what was encoded")
}

proptest! {
    #[test]
    fn a_position_arrives_as_it_was_sent(position in positions()) {
        prop_assert_eq!(Position::try_from(&sent(&v1::Position::from(&position))), Ok(position));
    }

    #[test]
    fn a_question_arrives_as_it_was_sent(question in questions()) {
        prop_assert_eq!(Question::try_from(&sent(&v1::Question::from(&question))), Ok(question));
    }

    #[test]
    fn an_answer_arrives_as_it_was_sent(answer in answers()) {
        prop_assert_eq!(Answer::try_from(&sent(&v1::Answer::from(&answer))), Ok(answer));
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes);
    }

    #[test]
    fn a_changed_message_is_a_message_or_an_error(
        question in questions(),
        answer in answers(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for mut bytes in [v1::Question::from(&question).encode_to_vec(), v1::Answer::from(&answer).encode_to_vec()] {
            for (at, byte) in &changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                }
            }
            read(&bytes);
        }
    }
}

/// Decodes bytes as each message that a client may send.
fn read(bytes: &[u8]) {
    if let Ok(question) = v1::Question::decode(bytes) {
        let _ = Question::try_from(&question);
    }
    if let Ok(position) = v1::Position::decode(bytes) {
        let _ = Position::try_from(&position);
    }
    if let Ok(answer) = v1::Answer::decode(bytes) {
        let _ = Answer::try_from(&answer);
        let _ = answer.about(&Position::start(Variant::FREESTYLE_15));
    }
}

fn question() -> v1::Question {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8").expect("a line");
    (&Question::new(position, Effort::depth(3))).into()
}

#[test]
fn impossible_question_is_refused() {
    type Spoil = fn(&mut v1::Question);
    assert!(Question::try_from(&question()).is_ok());
    let rows: [(Spoil, &str); 11] = [
        (|q| q.position = None, "the position is missing"),
        (|q| q.effort = None, "the effort is missing"),
        (
            |q| q.effort.get_or_insert_default().depth = Some(0),
            "depth 0 is out of range",
        ),
        (
            |q| q.effort.get_or_insert_default().depth = Some(101),
            "depth 101 is out of range",
        ),
        (|q| q.width = 0, "width 0 is out of range"),
        (|q| q.width = 70_000, "width 70000 is out of range"),
        (
            |q| q.alpha = Some(i32::MAX),
            "alpha 2147483647 is out of range",
        ),
        (
            |q| q.moves = vec![70_000],
            "moves of the question 70000 is out of range",
        ),
        (
            |q| q.moves = vec![0; MAX_MOVES + 1],
            "moves of the question: 2049 are more than 2048",
        ),
        (
            |q| q.position.get_or_insert_default().variant = "x".repeat(MAX_NAME_BYTES + 1),
            "letters of the variant: 201 are",
        ),
        (
            |q| q.position.get_or_insert_default().moves = vec![112, 112],
            "h8",
        ),
    ];
    for (spoil, words) in rows {
        let mut message = question();
        spoil(&mut message);
        let error = Question::try_from(&sent(&message))
            .expect_err(words)
            .to_string();
        assert!(error.contains(words), "{error}, not {words}");
    }
}

#[test]
fn impossible_answer_is_refused() {
    type Spoil = fn(&mut v1::Verdict);
    let rows: [(Spoil, &str); 9] = [
        (|v| v.bound = 0, "the bound of a verdict is missing"),
        (|v| v.bound = 77, "the bound of a verdict is missing"),
        (|v| v.depth = 256, "depth 256 is out of range"),
        (|v| v.score = 40_000, "score 40000 is out of range"),
        (
            |v| v.engine = "e".repeat(MAX_NAME_BYTES + 1),
            "letters of the engine's name: 201 are more than 200",
        ),
        (
            |v| v.line = vec![1; MAX_MOVES + 1],
            "moves of a line: 2049 are more than 2048",
        ),
        (
            |v| {
                v.proof = Some(v1::Proof {
                    claim: 3,
                    kind: 0,
                    plies: 1,
                })
            },
            "the kind of a proof is missing",
        ),
        (
            |v| {
                v.proof = Some(v1::Proof {
                    claim: 3,
                    kind: 4,
                    plies: 2_000,
                })
            },
            "plies of a proof 2000 is out of range",
        ),
        (
            |v| {
                v.proof = Some(v1::Proof {
                    claim: 3,
                    kind: 4,
                    plies: 1,
                })
            },
            "the score beside a proof 7 is out of range",
        ),
    ];
    let good = v1::Verdict {
        r#move: 113,
        score: 7,
        bound: v1::Bound::Exact.into(),
        ..Default::default()
    };
    assert!(
        Answer::try_from(&v1::Answer {
            verdicts: vec![good.clone()]
        })
        .is_ok()
    );
    for (spoil, words) in rows {
        let mut verdict = good.clone();
        spoil(&mut verdict);
        let error = Answer::try_from(&v1::Answer {
            verdicts: vec![verdict],
        })
        .expect_err(words)
        .to_string();
        assert_eq!(error, words);
    }
}

#[test]
fn an_answer_is_about_its_position() {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8").expect("a line");
    let code = |text| u32::from(position.parse_move(text).expect("a move").code());
    let (h8, h9, h10) = (
        u32::from(position.moves()[0].code()),
        code("h9"),
        code("h10"),
    );
    let about = |r#move, line: &[u32]| {
        let verdict = v1::Verdict {
            r#move,
            bound: v1::Bound::Exact.into(),
            line: line.to_vec(),
            ..Default::default()
        };
        v1::Answer {
            verdicts: vec![verdict],
        }
        .about(&position)
    };
    assert!(about(h9, &[]).is_ok());
    assert!(about(h9, &[h9, h10]).is_ok());
    assert_eq!(
        about(h8, &[]),
        Err(WireError::Illegal(112)),
        "an occupied point"
    );
    assert_eq!(
        about(9_999, &[]),
        Err(WireError::Illegal(9_999)),
        "off the board"
    );
    assert!(
        matches!(about(h9, &[h10]), Err(WireError::Illegal(_))),
        "a line that begins elsewhere"
    );
    assert!(
        matches!(about(h9, &[h9, h8]), Err(WireError::Position(_))),
        "a line that cannot be played"
    );
}
