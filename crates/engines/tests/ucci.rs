//! Engines with UCCI.

mod stub;

use std::time::Duration;

use kagetsu_engines::{EngineSettings, External};
use kagetsu_game::{Answer, Effort, Move, Position, Question, Variant};
use kagetsu_search::Control;
use stub::{stub, stub_once};

fn start(settings: EngineSettings) -> External {
    External::start(settings, &Control::new()).unwrap_or_else(|fault| panic!("{fault}"))
}

fn ask(engine: &mut External, question: &Question) -> Answer {
    engine
        .answer(question, &Control::new(), &mut |_| {})
        .unwrap_or_else(|fault| panic!("{fault}"))
}

fn exact(answer: &Answer) -> Vec<Move> {
    answer
        .verdicts()
        .iter()
        .filter(|(_, v)| v.is_exact())
        .map(|(m, _)| *m)
        .collect()
}

#[test]
fn ucci_and_uci_find_the_same() {
    let (mut ucci, mut uci) = (start(stub("ucci", "good")), start(stub("uci", "good")));
    ucci.check(Variant::XIANGQI, &Control::new())
        .expect("it knows the rules");
    for line in ["", "h2e2", "h2e2 h9g7 h0g2"] {
        let position = Position::from_line(Variant::XIANGQI, line).expect("a line");
        let whole = Question {
            width: 3,
            ..Question::new(position, Effort::depth(2))
        };
        let some = Question {
            moves: whole.position.legal_moves()[4..9].to_vec(),
            ..whole.clone()
        };
        for question in [whole, some] {
            let (one, other) = (ask(&mut ucci, &question), ask(&mut uci, &question));
            assert_eq!(exact(&one), exact(&other), "{line}");
            assert_eq!(one.len(), other.len());
        }
    }
}

#[test]
fn every_limit_is_kept() {
    let mut engine = start(stub("ucci", "good"));
    let position = Position::start(Variant::XIANGQI);
    for effort in [
        Effort::depth(2),
        Effort::nodes(50),
        Effort::time(Duration::from_millis(50)),
    ] {
        assert!(!ask(&mut engine, &Question::new(position.clone(), effort)).is_empty());
    }
}

#[test]
fn ignored_banmoves_are_searched_behind() {
    let position = Position::from_line(Variant::XIANGQI, "h2e2").expect("a line");
    let moves = position.legal_moves()[..2].to_vec();
    let question = Question {
        moves: moves.clone(),
        ..Question::new(position, Effort::depth(2))
    };
    let answer = ask(&mut start(stub("ucci", "unruly")), &question);
    assert_eq!(answer.len(), 2);
    assert!(answer.verdicts().iter().all(|(m, _)| moves.contains(m)));
}

#[test]
fn transient_fault_costs_one_retry() {
    let folder = tempfile::tempdir().expect("a folder");
    let position = Position::from_line(Variant::XIANGQI, "h2e2").expect("a line");
    for mode in ["crash", "illegal", "flood"] {
        let mut engine = start(stub_once("ucci", mode, &folder.path().join(mode)));
        assert!(
            !ask(
                &mut engine,
                &Question::new(position.clone(), Effort::depth(2))
            )
            .is_empty(),
            "{mode}"
        );
    }
}
