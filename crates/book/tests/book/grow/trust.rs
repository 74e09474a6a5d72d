//! Skipped positions and invalid answers.

use kagetsu_game::{Claim, Move, Proof, ProofKind, Question};

use super::*;

#[test]
fn skipped_position_has_reason_and_can_retry() {
    let (folder, mut book) = new_book();
    let job = book.create_job(&spec(30)).expect("a job");
    let works = book.next_work(job, 2).expect("readable");
    book.set_aside(&works[0], "the engine is gone")
        .expect("room");
    book.finish(&works[1], &Answer::new()).expect("room");
    let state = book.job(job).expect("known").state;
    assert!(matches!(state, JobState::Failed(_)), "{state:?}");
    let mut book = rebuilt(book, folder.path());
    let mut reasons: Vec<_> = book
        .asides(job, 9)
        .expect("readable")
        .into_iter()
        .map(|aside| aside.reason)
        .collect();
    reasons.sort();
    assert_eq!(reasons, ["the answer has no moves", "the engine is gone"]);
    assert_eq!(book.asides(job, 1).expect("readable").len(), 1);
    assert_clean(&book);

    book.change_job(job, JobChange::Retry).expect("room");
    assert_clean(&book);
    let state = book.job(job).expect("known");
    assert_eq!(
        (state.set_aside, state.frontier, state.state),
        (0, 2, JobState::Running)
    );
    assert_eq!(book.asides(job, 9).expect("readable"), []);
    grow(&mut book, job, 2, &mut StdRng::seed_from_u64(7));
    assert_eq!(book.job(job).expect("known").positions, 30);
    assert_clean(&book);
}

/// Returns an answer that calls the worst move a win.
fn lie(question: &Question) -> Answer {
    let mut answer = engine::answer(question);
    let worst = answer
        .verdicts()
        .last()
        .map(|(m, v)| (*m, v.clone()))
        .expect("a move");
    answer.retain(|m, _| m != worst.0);
    let proof = Proof::new(Claim::Win, ProofKind::Search, 9);
    let won = Verdict {
        score: proof.score(),
        bound: Bound::Exact,
        proof: Some(proof),
        line: vec![worst.0],
        ..worst.1
    };
    answer.extend([(worst.0, won)]);
    answer
}

#[test]
fn invalid_answer_is_replaced_without_trace() {
    for seed in 0..6 {
        let folder = tempfile::tempdir().expect("a folder");
        let chance = &mut StdRng::seed_from_u64(seed);
        let mut book = open(folder.path());
        let job = book.create_job(&spec(80)).expect("a job");
        let mut lies = Vec::new();
        loop {
            let works = book.next_work(job, 3).expect("readable");
            if works.is_empty() {
                break;
            }
            for work in works {
                let is_lie = chance.random_bool(0.2);
                let answer = if is_lie {
                    lie(&work.question)
                } else {
                    engine::answer(&work.question)
                };
                book.finish(&work, &answer).expect("room");
                if is_lie {
                    lies.push(work.question.position);
                }
            }
        }
        // A widening may be in progress while its position is invalidated.
        let at_hand = book.next_work(job, 1).expect("readable");
        for position in &lies {
            book.distrust(Some(job), position).expect("room");
            book.distrust(Some(job), position)
                .expect("it is harmless twice");
            assert_clean(&book);
        }
        at_hand.iter().for_each(|work| book.release(work));
        let state = book.job(job).expect("known");
        assert_eq!(state.state, JobState::Running, "seed {seed}");
        assert!(state.positions < 80);
        let mut book = rebuilt(book, folder.path());
        grow(&mut book, job, 3, chance);
        assert_clean(&book);
        assert_eq!(book.job(job).expect("known").positions, 80, "seed {seed}");
        let is_true = |position: &Position, m, verdict: &Verdict| {
            let question = Question {
                moves: vec![m],
                ..Question::new(position.clone(), Effort::depth(3))
            };
            let truth = engine::answer(&question);
            truth
                .get(m)
                .is_some_and(|truth| (truth.score, truth.proof) == (verdict.score, verdict.proof))
        };
        for entry in book.positions() {
            let entry = entry.expect("readable");
            let exact = entry
                .facts
                .verdicts()
                .iter()
                .filter(|(_, verdict)| verdict.is_exact());
            let wrong: Vec<_> = exact
                .filter(|(m, verdict)| !is_true(&entry.position, *m, verdict))
                .collect();
            assert_eq!(
                wrong,
                Vec::<&(Move, Verdict)>::new(),
                "seed {seed}: {}",
                entry.position
            );
        }
        let nowhere = Position::from_line(spec(1).variant, "a1 g7 a7 g1 b4 f4").expect("legal");
        let before = dump(&book);
        book.distrust(None, &nowhere).expect("room");
        assert_eq!(dump(&book), before);
    }
}
