//! Plans of wins by continuous threats, each held by the checker of win trees, which knows nothing
//! but the rules.

use kagetsu_certificate::{Node, ProofDag, Reference, Tree, check};
use kagetsu_game::{Answer, Claim, Effort, Move, Position, Question, Score, Variant, Window};
use kagetsu_search::threats::{self, ThreatSearch};
use kagetsu_search::{Control, Engine, EngineOptions};
use proptest::prelude::*;

/// The plan as a win tree.
fn tree(position: &Position, plan: &threats::Strategy) -> Tree {
    let mut dag = ProofDag::default();
    let mut numbers: Vec<u32> = Vec::new();
    for step in &plan.steps {
        let to = |next: u32| Reference::to(numbers[next as usize]);
        let replies = step
            .replies
            .iter()
            .map(|(m, next)| (*m, to(*next)))
            .collect();
        numbers.push(dag.add(Node {
            at: Some(step.at),
            replies,
            otherwise: step.otherwise.map(to),
        }));
    }
    dag.tree(
        *numbers.last().expect("a plan has a step"),
        position.clone(),
        Claim::Win,
    )
}

fn plan(position: &Position, nodes: u64) -> Option<threats::Strategy> {
    ThreatSearch::new(16 << 20)
        .strategy(position, Effort::nodes(nodes), &Control::new())
        .expect("gomoku")
}

#[test]
fn a_plan_answers_every_legal_reply() {
    let rows = [
        // A five, an open four, a four and an open four, two rows of two that meet.
        ("freestyle-15", "h8 a1 i8 a3 j8 a5 k8 a7", 1),
        ("freestyle-15", "h8 a1 i8 a3 j8 a5", 3),
        ("standard-15", "h8 g8 i8 a3 j8 a5 h9 a7 h10 a9", 5),
        ("renju-15", "h8 g8 i8 a3 j8 a5 h9 a7 h10 a9", 5),
        ("caro-15", "h8 a1 i8 a3 j8 a5", 3),
        ("caro-overline-15", "h8 a1 i9 a4 h10 a7 i7 a10", 9),
        ("freestyle-15", "h8 a1 i9 a4 h10 a7 i7 a10", 7),
        // The defender has a three of his own: his fours stand in the way.
        ("freestyle-15", "h8 k3 i9 l3 h10 m3 i7", 21),
        ("standard-15", "h8 a1 h9 b1 j10 c2", 17),
        ("renju-15", "h8 a1 h9 b1 j10 c2", 17),
        // A stone that makes but a two, and threatens a four that makes a three.
        (
            "renju-15",
            "g11 j10 i10 g10 h10 i9 g9 h9 i8 f9 h8 f8 g8 h7 i7 j6",
            7,
        ),
        ("renju-15", "i8 h9 h8 g9 e8 j8 j6 g7 i6 e7 f6 e6 e5 g5", 7),
    ];
    for (variant, line, most) in rows {
        let position =
            Position::from_line(variant.parse().expect("a variant"), line).expect("a line");
        let Some(plan) = plan(&position, 200_000) else {
            panic!("{position}: no win found")
        };
        let checked = check(&tree(&position, &plan));
        assert!(
            checked.as_ref().is_ok_and(|checked| checked.plies <= most),
            "{position}: {checked:?}"
        );
    }
    let start =
        Position::from_line("freestyle-15".parse().expect("a variant"), "h8 i9").expect("a line");
    assert_eq!(plan(&start, 1_000), None);
}

/// Returns an engine's answer to the question which move wins.
fn asked_for_win(line: &str, nodes: u64) -> (Position, Answer) {
    let window = Window {
        alpha: Score::OPINION_MAX,
        beta: Score::MAX,
    };
    asked(Variant::FREESTYLE_15, line, window, |_| nodes)
}

/// Returns an engine's answer to the question whether all moves of a position lose.
fn asked_for_loss(variant: Variant, line: &str, nodes: u64) -> (Position, Answer) {
    let window = Window {
        alpha: Score::MIN,
        beta: -Score::OPINION_MAX,
    };
    asked(variant, line, window, |moves| nodes * moves as u64)
}

fn asked(
    variant: Variant,
    line: &str,
    window: Window,
    nodes: impl Fn(usize) -> u64,
) -> (Position, Answer) {
    let position = Position::from_line(variant, line).expect("a line");
    let effort = Effort::nodes(nodes(position.distinct_moves().len()));
    let question = Question {
        window,
        ..Question::new(position.clone(), effort)
    };
    let mut engine = Engine::new(EngineOptions::default()).expect("an engine");
    let answer = engine.answer(&question, &Control::new(), &mut |_| {});
    (position, answer.expect("gomoku"))
}

#[test]
fn strategies_behind_claims_hold() {
    let lost = Window {
        alpha: Score::MIN,
        beta: -Score::OPINION_MAX,
    };
    let won = Window {
        alpha: Score::OPINION_MAX,
        beta: Score::MAX,
    };
    let new = || Engine::new(EngineOptions::default()).expect("an engine");
    let mut engine = new();
    for (line, window, claim) in [
        // Two rows of two that meet, one ply before and at the win.
        ("h8 a1 i9 a4 h10 a7 i7", lost, Claim::Loss),
        ("h8 a1 i9 a4 h10 a7 i7 a10", won, Claim::Win),
        // An image of the first, with other stones of the loser.
        ("h8 o1 i7 o4 h6 o7 i9", lost, Claim::Loss),
    ] {
        let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
        let question = Question {
            window,
            ..Question::new(position.clone(), Effort::nodes(400_000))
        };
        let ask = |engine: &mut Engine| {
            let answer = engine.answer(&question, &Control::new(), &mut |_| {});
            answer.expect("gomoku")
        };
        engine.want_strategies(true);
        let answer = ask(&mut engine);
        let proven = answer.verdicts().iter().filter(|(_, verdict)| {
            let proof = verdict.proof;
            proof.is_some_and(|proof| proof.claim == claim)
        });
        let proven: Vec<Move> = proven.map(|(m, _)| *m).collect();
        let strategies = engine.take_strategies();
        assert!(engine.take_strategies().is_empty(), "they are taken");
        assert!(
            !strategies.is_empty() && strategies.len() <= proven.len(),
            "{line}"
        );
        for found in strategies {
            let strategy = &found.strategy;
            let position = match (claim, found.reply) {
                (Claim::Win, reply) => {
                    assert_eq!(reply, None);
                    let first = strategy.steps.last().map(|step| step.at);
                    assert_eq!(first, proven.first().copied());
                    position.clone()
                }
                // A corner far away is like a pass.
                (_, None) => position
                    .play(position.parse_move("o15").expect("free"))
                    .expect("legal"),
                (_, Some(reply)) => {
                    assert!(proven.contains(&reply));
                    position.play(reply).expect("legal")
                }
            };
            let checked = check(&tree(&position, strategy));
            assert!(checked.is_ok(), "{line} {:?}: {checked:?}", found.reply);
        }
        // They change no answer, kept proofs only its cost; other questions and engines have none.
        let mut other = new();
        let alone = ask(&mut other);
        let cost = |answer: &Answer| answer.verdicts().iter().map(|(_, v)| v.nodes).sum::<u64>();
        if line.contains("h6") {
            assert_eq!(alone.len(), answer.len());
            assert!(cost(&answer) < cost(&alone), "{answer:?}");
        } else {
            assert_eq!(alone, answer);
        }
        assert!(other.take_strategies().is_empty());
        ask(&mut engine);
        let shallow = Question::new(position, Effort::depth(1));
        let answer = engine.answer(&shallow, &Control::new(), &mut |_| {});
        assert!(!answer.expect("gomoku").is_empty() && engine.take_strategies().is_empty());
    }
}

/// The move h7 makes no shape beyond a two, and its threat takes more than 2,000 positions to find.
#[test]
fn second_question_lists_quiet_threats() {
    for line in ["h8 i9 g9 f10", "h8 i9 g9 i11", "h8 i9 g9 h6"] {
        let position = Position::from_line(Variant::STANDARD_15, line).expect("a line");
        let h7 = position.parse_move("h7").expect("legal");
        let mut engine = Engine::new(EngineOptions::default()).expect("an engine");
        let mut ask = |moves: Vec<Move>| {
            let window = Window {
                alpha: Score::OPINION_MAX,
                beta: Score::MAX,
            };
            let question = Question {
                moves,
                window,
                ..Question::new(position.clone(), Effort::nodes(200_000))
            };
            let answer = engine.answer(&question, &Control::new(), &mut |_| {});
            answer.expect("gomoku")
        };
        let first = ask(Vec::new());
        let mut unlisted = position.distinct_moves();
        unlisted.retain(|m| first.get(*m).is_none());
        assert!(unlisted.contains(&h7), "{line}: the first answer lists h7");
        let second = ask(unlisted);
        let threat = second.get(h7);
        assert!(
            threat.is_some_and(|verdict| verdict.score > Score::opinion(-2_000)),
            "{line}: {threat:?}"
        );
    }
}

#[test]
fn winning_or_threatening_move_is_found() {
    // Two rows of two that meet: a win by threats, reported alone.
    let (position, won) = asked_for_win("h8 a1 i9 a4 h10 a7 i7 a10", 100_000);
    let (m, verdict) = won.best().expect("a win");
    assert_eq!(
        (won.len(), verdict.proof.map(|proof| proof.claim)),
        (1, Some(Claim::Win))
    );
    let all = position.legal_moves();
    assert!(all.contains(&m) && verdict.line.first() == Some(&m));
    // No win yet: a quiet move that threatens one, and then every reply loses.
    let (position, found) = asked_for_win("h8 a1 g7 o15", 100_000);
    let (m, verdict) = found.best().expect("a move");
    assert!(
        verdict.proof.is_none() && verdict.is_exact() && verdict.score > Score::opinion(-1_000),
        "{verdict:?}"
    );
    assert!(
        found
            .verdicts()
            .windows(2)
            .all(|pair| pair[0].1.score >= pair[1].1.score)
    );
    let next = position.play(m).expect("legal");
    let (_, lost) = asked_for_loss(
        next.variant(),
        &format!("h8 a1 g7 o15 {}", position.write_move(m)),
        20_000,
    );
    let open = lost
        .verdicts()
        .iter()
        .filter(|(_, verdict)| verdict.proof.is_none())
        .count();
    assert!(
        open < 8 && lost.len() == next.distinct_moves().len(),
        "{open} of {} stand",
        lost.len()
    );
    assert!(
        found
            .verdicts()
            .iter()
            .all(|(_, v)| v.is_exact() && v.depth == 0),
        "an order is neither search nor bound"
    );
    // Only what was asked about; and an opinion of what threatens nothing.
    let (position, silent) = asked_for_win("h8 i9", 50_000);
    assert!(
        silent
            .best()
            .is_some_and(|(_, v)| v.proof.is_none() && v.score <= Score::opinion(-2_000)),
        "{silent:?}"
    );
    assert!(
        silent
            .verdicts()
            .iter()
            .all(|(_, v)| v.is_exact() && v.depth == 0),
        "{silent:?}"
    );
    let moves = position.legal_moves()[..2].to_vec();
    let window = Window {
        alpha: Score::OPINION_MAX,
        beta: Score::MAX,
    };
    let question = Question {
        moves: moves.clone(),
        window,
        ..Question::new(position, Effort::nodes(10_000))
    };
    let mut engine = Engine::new(EngineOptions::default()).expect("an engine");
    let answer = engine
        .answer(&question, &Control::new(), &mut |_| {})
        .expect("gomoku");
    assert!(
        !answer.is_empty() && answer.verdicts().iter().all(|(m, _)| moves.contains(m)),
        "{answer:?}"
    );
}

/// After a pass, the attack takes longer than the first round of the search spends on a reply.
#[test]
fn long_attack_after_a_pass_gives_replies_more_effort() {
    let (position, answer) = asked_for_loss(Variant::RENJU_15, "h8 h9 i9 g10 i8", 20_000);
    for reply in ["c6", "e3"] {
        let m = position.parse_move(reply).expect("legal");
        let proof = answer.get(m).and_then(|verdict| verdict.proof);
        let claim = proof.map(|proof| proof.claim);
        assert_eq!(claim, Some(Claim::Loss), "{reply}");
    }
}

#[test]
fn every_move_is_judged_for_a_proof_of_loss() {
    let (position, lost) = asked_for_loss(Variant::FREESTYLE_15, "h8 a1 h9 b1 j10", 5_000);
    assert_eq!(lost.len(), position.distinct_moves().len());
    assert!(
        lost.verdicts()
            .iter()
            .all(|(_, v)| v.proof.is_some_and(|proof| proof.claim == Claim::Loss)),
        "some stand"
    );
    // The longest defence comes first, and every loss is played out.
    assert!(
        lost.verdicts()
            .windows(2)
            .all(|pair| pair[0].1.score >= pair[1].1.score)
    );
    for (m, verdict) in lost.verdicts().iter().step_by(29) {
        let next = position.play(*m).expect("legal");
        let plan = plan(&next, 100_000).expect("found again");
        let checked = check(&tree(&next, &plan)).expect("it holds");
        assert!(
            checked.plies < verdict.proof.expect("all have one").plies + 8,
            "{next}"
        );
    }
    // Far from lost: some moves stand, with a value.
    let (position, open) = asked_for_loss(Variant::FREESTYLE_15, "h8 i9 h9", 200);
    assert_eq!(open.len(), position.distinct_moves().len());
    assert!(open.verdicts().iter().all(|(_, v)| v.is_exact()));
    assert!(open.best().is_some_and(|(_, v)| v.proof.is_none()));
    // The side to move has an open three: it wins.
    let (_, won) = asked_for_loss(Variant::FREESTYLE_15, "h8 a1 i8 a3 j8 a5", 200);
    assert!(
        won.best()
            .is_some_and(|(_, v)| v.score.win_plies() == Some(3))
    );
}

/// Stones thrown onto the middle of a board of 15, so that there is much to threaten.
fn crowded() -> impl Strategy<Value = Position> {
    let variants = prop::sample::select(vec![
        "freestyle-15",
        "standard-15",
        "renju-15",
        "caro-15",
        "caro-overline-15",
    ]);
    let points = proptest::collection::vec((3u16..12, 3u16..12), 6..50);
    (variants, points).prop_map(|(variant, points)| {
        let variant: Variant = variant.parse().expect("a variant");
        points
            .into_iter()
            .fold(Position::start(variant), |position, (x, y)| {
                let m = Move::new(y * 15 + x);
                if position.legal_moves().contains(&m) {
                    position.play(m).expect("legal")
                } else {
                    position
                }
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn plans_on_random_boards_hold(position in crowded()) {
        if let Some(plan) = plan(&position, 2_000) {
            let checked = check(&tree(&position, &plan));
            prop_assert!(checked.is_ok(), "{position}: {checked:?}");
        }
    }

    #[test]
    fn every_line_of_a_loss_or_a_win_can_be_played(position in crowded()) {
        let mut engine = Engine::new(EngineOptions::default()).expect("an engine");
        let (lost, won) = ((Score::MIN, -Score::OPINION_MAX), (Score::OPINION_MAX, Score::MAX));
        for ((alpha, beta), nodes) in [(lost, 500 * position.legal_moves().len() as u64), (won, 5_000)] {
            let question = Question { window: Window { alpha, beta }, ..Question::new(position.clone(), Effort::nodes(nodes)) };
            let answer = engine.answer(&question, &Control::new(), &mut |_| {}).expect("gomoku");
            for (m, verdict) in answer.verdicts() {
                prop_assert!(verdict.line.is_empty() || verdict.line[0] == *m, "{position}: {verdict:?}");
                let end = verdict.line.iter().try_fold(position.clone(), |position, m| position.play(*m));
                prop_assert!(end.is_ok(), "{position}: {:?} {verdict:?}", end.err());
            }
        }
    }

    #[test]
    fn strategy_for_one_reply_holds_for_named_others(position in crowded()) {
        let mut threats = ThreatSearch::new(16 << 20);
        for reply in position.legal_moves().into_iter().step_by(3) {
            let plan = threats.refute(&position, reply, 2_000, &Control::new()).expect("a legal move of gomoku");
            if let Some(plan) = plan {
                let next = position.play(reply).expect("legal");
                let checked = check(&tree(&next, &plan));
                prop_assert!(checked.is_ok(), "{next}: {checked:?}");
            }
        }
    }
}

#[test]
fn every_reply_to_a_won_attack_is_refuted() {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 a1 h9 b1 j10").expect("a line");
    let mut threats = ThreatSearch::new(16 << 20);
    for reply in position.legal_moves() {
        let plan = threats
            .refute(&position, reply, 100_000, &Control::new())
            .expect("a legal move of gomoku");
        let next = position.play(reply).expect("legal");
        let plan = plan.unwrap_or_else(|| panic!("{next} stands"));
        assert!(check(&tree(&next, &plan)).is_ok(), "{next}");
    }
    let taken = position.moves()[0];
    let refused = threats.refute(&position, taken, 1_000, &Control::new());
    assert!(refused.is_err_and(|error| error.to_string().contains("h8")));
    let xiangqi = Position::start(Variant::XIANGQI);
    assert!(
        threats
            .refute(&xiangqi, xiangqi.legal_moves()[0], 1_000, &Control::new())
            .is_err()
    );
}
