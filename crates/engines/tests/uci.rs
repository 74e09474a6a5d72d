//! Engines with UCI, well-behaved and faulty.

mod stub;

use std::time::Duration;

use kagetsu_engines::{EngineSettings, External, Fault, FaultKind};
use kagetsu_game::{Answer, Bound, Effort, Move, Position, ProofKind, Question, Score, Variant};
use kagetsu_search::{Control, Progress};
use stub::{patiently, shell, stub, stub_once};

fn question(line: &str) -> Question {
    let position = Position::from_line(Variant::XIANGQI, line).expect("a line");
    Question {
        width: 3,
        ..Question::new(position, Effort::depth(3))
    }
}

fn start(settings: EngineSettings) -> Result<External, Fault> {
    External::start(settings, &Control::new())
}

fn ask(engine: &mut External, question: &Question) -> Result<Answer, Fault> {
    engine.answer(question, &Control::new(), &mut |_| {})
}

/// Returns the answer of a well-behaved engine.
fn truth(question: &Question) -> Answer {
    let mut engine = start(stub("uci", "good")).expect("it starts");
    ask(&mut engine, question).expect("an answer")
}

fn moves(answer: &Answer) -> Vec<(Move, Score, Bound)> {
    answer
        .verdicts()
        .iter()
        .map(|(m, verdict)| (*m, verdict.score, verdict.bound))
        .collect()
}

#[test]
fn answer_has_best_moves_and_bounds() {
    let question = question("h2e2 h9g7");
    let answer = truth(&question);
    let legal = question.position.legal_moves();
    assert_eq!(answer.len(), legal.len());
    let exact: Vec<_> = answer
        .verdicts()
        .iter()
        .take(3)
        .map(|(_, verdict)| verdict)
        .collect();
    assert!(exact.iter().all(|v| v.bound == Bound::Exact
        && v.depth == 3
        && v.proof.is_none()
        && v.line.len() == 1));
    assert!(
        answer.verdicts()[3..]
            .iter()
            .all(|(_, v)| v.bound == Bound::Upper && v.score == exact[2].score)
    );
    assert_eq!(&*exact[0].by.engine, "Stub good");
    assert_eq!(answer.nodes(), 300);
}

#[test]
fn only_requested_moves_are_judged() {
    let whole = question("h2e2 h9g7 h0g2");
    let allowed: Vec<Move> = whole
        .position
        .legal_moves()
        .into_iter()
        .skip(5)
        .take(4)
        .collect();
    let some = Question {
        moves: allowed.clone(),
        ..whole.clone()
    };
    let truth = truth(&some);
    assert_eq!(truth.len(), 4);
    assert!(truth.verdicts().iter().all(|(m, _)| allowed.contains(m)));
    for mode in ["one-line", "from-one"] {
        let mut engine = start(stub("uci", mode)).expect("it starts");
        engine
            .check(Variant::XIANGQI, &Control::new())
            .expect("it knows the rules");
        for question in [&some, &whole] {
            let answer = ask(&mut engine, question).expect("an answer");
            assert_eq!(moves(&answer), moves(&self::truth(question)), "{mode}");
        }
    }
}

#[test]
fn unrestricted_engine_is_asked_behind_moves() {
    let whole = question("h2e2 h9g7 h0g2");
    let allowed: Vec<Move> = whole.position.legal_moves().into_iter().take(2).collect();
    let some = Question {
        moves: allowed.clone(),
        ..whole
    };
    let mut checked = start(stub("uci", "unruly")).expect("it starts");
    checked
        .check(Variant::XIANGQI, &Control::new())
        .expect("it knows the rules");
    let mut unchecked = start(stub("uci", "unruly")).expect("it starts");
    for engine in [&mut checked, &mut unchecked] {
        let answer = ask(engine, &some).expect("an answer");
        assert_eq!(answer.len(), 2);
        assert!(
            answer
                .verdicts()
                .iter()
                .all(|(m, v)| allowed.contains(m) && v.line[0] == *m && v.line.len() > 1)
        );
    }
}

#[test]
fn mate_is_a_claim_until_on_the_board() {
    let mut engine = start(stub("uci", "mates")).expect("it starts");
    let answer = ask(&mut engine, &question("h2e2 h9g7")).expect("an answer");
    let (_, best) = answer.best().expect("a move");
    assert!(
        best.score > Score::opinion(29_000) && best.proof.is_none() && !best.score.is_mate(),
        "{best:?}"
    );
    // A rook mates, which the rules see.
    let position = Position::from_fen(Variant::XIANGQI, "3k5/R8/9/9/9/9/9/9/9/1R3K3 w - - 0 1")
        .expect("a FEN");
    let answer = ask(
        &mut engine,
        &Question::new(position.clone(), Effort::depth(1)),
    )
    .expect("an answer");
    let mate = position.parse_move("b0b9").expect("legal");
    let verdict = answer.get(mate).expect("a verdict");
    assert_eq!(
        (verdict.score, verdict.proof.map(|proof| proof.kind)),
        (Score::win_in(1), Some(ProofKind::Terminal))
    );
}

#[test]
fn iterations_and_nodes_are_reported() {
    let mut engine = start(stub("uci", "good")).expect("it starts");
    let (control, mut depths) = (Control::new(), Vec::new());
    let mut report = |progress: &Progress| depths.push((progress.depth, progress.answer.len()));
    engine
        .answer(&question("h2e2"), &control, &mut report)
        .expect("an answer");
    assert_eq!(depths, [(1, 3), (2, 3), (3, 3)]);
    assert_eq!(control.nodes(), 300);
}

#[test]
fn transient_fault_costs_one_retry() {
    let folder = tempfile::tempdir().expect("a folder");
    let question = question("h2e2 h9g7");
    for mode in ["crash", "hang", "flood", "chatter", "illegal", "nonsense"] {
        patiently(|stall_timeout| {
            let file = folder
                .path()
                .join(format!("{mode}-{}", stall_timeout.as_secs()));
            let mut engine = start(EngineSettings {
                stall_timeout,
                ..stub_once("uci", mode, &file)
            })
            .map_err(|f| f.to_string())?;
            engine
                .check(Variant::XIANGQI, &Control::new())
                .map_err(|fault| fault.to_string())?;
            let answer = ask(&mut engine, &question).map_err(|fault| format!("{mode}: {fault}"))?;
            assert_eq!(moves(&answer), moves(&truth(&question)), "{mode}");
            Ok(())
        });
    }
}

/// Compares a message with these words and the timeout in seconds.
fn check_message(message: &str, words: &[&str], stall_timeout: Duration) -> Result<(), String> {
    let seconds = format!("{} s", stall_timeout.as_secs());
    let is_contained = |words: &&str| message.contains(&words.replace("SECONDS", &seconds));
    if words.iter().all(is_contained) {
        Ok(())
    } else {
        Err(format!("{message}, not {words:?}"))
    }
}

#[test]
fn permanent_faults_are_described() {
    let rows = [
        ("crash", "exit code 3; its last message: segmentation fault"),
        (
            "hang",
            "sent nothing useful for SECONDS while it was to think",
        ),
        ("flood", "wrote a line of more than 65536 bytes"),
        ("chatter", "sent nothing useful for SECONDS"),
        (
            "illegal",
            "played 'a1i8' in xiangqi h2e2, which is not legal",
        ),
        ("nonsense", "which is not legal"),
    ];
    for (mode, words) in rows {
        patiently(|stall_timeout| {
            let mut engine = start(EngineSettings {
                stall_timeout,
                ..stub("uci", mode)
            })
            .map_err(|fault| format!("{mode}: {fault}"))?;
            let fault = ask(&mut engine, &question("h2e2"))
                .expect_err(mode)
                .to_string();
            check_message(&fault, &[words, &format!("Stub {mode}")], stall_timeout)?;
            // The engine is asked again: the next position may suit it.
            ask(&mut engine, &question(""))
                .map(drop)
                .map_err(|fault| format!("{mode}: {fault}"))
        });
    }
}

#[test]
fn engine_with_failing_start_is_refused() {
    let rows = [
        (
            stub("uci", "mute"),
            "sent nothing useful for SECONDS while it was to say uciok",
        ),
        (
            stub("uci", "chess"),
            "played 'e2e4' in xiangqi, which is not legal",
        ),
        (
            shell("uci", "exec 1>&-; sleep 60"),
            "it has closed its output",
        ),
        (
            shell("uci", "yes | tr -d '\\n'"),
            "wrote a line of more than 65536 bytes",
        ),
        (shell("uci", "exit 7"), "exit code 7"),
        (
            shell("uci", "echo info string ERROR: no network; exit 1"),
            "its last message: info string ERROR: no network",
        ),
        (
            EngineSettings::new("uci:/nowhere/engine".parse().expect("an address")),
            "cannot be started: /nowhere/engine",
        ),
    ];
    for (settings, words) in rows {
        patiently(|stall_timeout| {
            let fault = start(EngineSettings {
                stall_timeout,
                ..settings.clone()
            })
            .err()
            .expect(words);
            check_message(&fault.to_string(), &[words], stall_timeout)
        });
    }
    let option = "Hsh=3".parse().expect("an option");
    let fault = start(EngineSettings {
        options: vec![option],
        ..stub("uci", "good")
    })
    .err()
    .expect("no such option");
    assert!(
        fault
            .to_string()
            .ends_with("has no option 'Hsh'; it has Hash, MultiPV"),
        "{fault}"
    );
}

#[test]
fn known_answers_expose_wrong_engines() {
    let mut engine = start(stub("uci", "illegal-check")).expect("it starts");
    let fault = engine
        .check(Variant::XIANGQI, &Control::new())
        .expect_err("illegal");
    let text = fault.to_string();
    let is_illegal =
        text.contains("played 'a0a9' in xiangqi") && text.contains("is not legal there");
    assert!(is_illegal, "{fault}");
    let mut engine = start(stub("uci", "good")).expect("it starts");
    assert!(matches!(
        engine.check(Variant::RENJU_15, &Control::new()),
        Err(Fault {
            wrong: FaultKind::Permanent(_),
            ..
        })
    ));
}

#[test]
fn stopped_search_ends_at_once() {
    let settings = EngineSettings {
        stall_timeout: Duration::from_secs(300),
        ..stub("uci", "hang")
    };
    let mut engine = start(settings).expect("it starts");
    let control = Control::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while control.nodes() == 0 {
                std::thread::yield_now();
            }
            control.stop();
        });
        // The engine hangs and is killed.
        assert!(
            engine
                .answer(&question("h2e2"), &control, &mut |_| {})
                .is_err()
        );
    });
}

#[test]
fn searched_value_outweighs_preference_bound() {
    let whole = question("h2e2 h9g7");
    let mut known = truth(&whole);
    let beside = known.verdicts().last().expect("a move").0;
    let shallow = Question {
        moves: vec![beside],
        ..Question::new(whole.position, Effort::depth(1))
    };
    known.merge(truth(&shallow));
    assert!(
        known.get(beside).is_some_and(|verdict| verdict.is_exact()),
        "{known:?}"
    );
}

/// Whether a process runs; one that has ended and was not reaped does not.
#[cfg(target_os = "linux")]
fn is_running(process: &str) -> bool {
    std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| !line.is_empty())
}

#[test]
#[cfg(target_os = "linux")]
fn descendants_in_other_sessions_end_with_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("processes");
    let engine = stub("uci", "good").address;
    // A child and a grandchild whose parent has ended, each in a session of its own.
    let script = format!(
        "setsid sleep 600 & echo $! >>{file}; \
         setsid sh -c 'sleep 600 >&- & echo $! >>{file}'; \
         exec '{program}' {arguments}",
        file = file.display(),
        program = engine.program,
        arguments = engine.arguments.join(" "),
    );
    let mut engine = start(shell("uci", &script)).expect("it starts");
    let question = question("h2e2");
    ask(&mut engine, &question).expect("an answer");
    let processes = std::fs::read_to_string(&file).expect("written before the answer");
    let processes: Vec<&str> = processes.lines().collect();
    assert_eq!(processes.len(), 2, "{processes:?}");
    assert!(processes.iter().all(|process| is_running(process)));
    drop(engine);
    for process in processes {
        while is_running(process) {
            std::thread::yield_now();
        }
    }
}
