//! Laws of scores, proofs, verdicts, and the merging of answers.

use kagetsu_game::{
    Answer, Bound, Claim, Move, Proof, ProofKind, Provenance, Score, Side, Variant, Verdict,
};
use proptest::prelude::*;

fn scores() -> impl Strategy<Value = Score> {
    prop_oneof![
        (-400..400_i32).prop_map(Score::opinion),
        any::<i32>().prop_map(Score::opinion),
        (0..2_100_u16).prop_map(Score::win_in),
        (0..2_100_u16).prop_map(Score::loss_in),
        Just(Score::ZERO),
    ]
}

fn proofs() -> impl Strategy<Value = Proof> {
    let claim = prop::sample::select(vec![Claim::Win, Claim::Loss, Claim::Draw]);
    use ProofKind::{Manual, Search, Terminal, Tree, Vcf, Vct};
    let kind = prop::sample::select(vec![Manual, Search, Vct, Vcf, Tree, Terminal]);
    (claim, kind, prop_oneof![0..9_u16, 0..=Score::MAX_PLIES]).prop_map(|(claim, kind, plies)| {
        Proof {
            claim,
            kind,
            plies: if claim == Claim::Draw { 0 } else { plies },
        }
    })
}

/// Each field has few values, so that later fields break ties.
fn verdicts() -> impl Strategy<Value = Verdict> {
    let bound = prop::sample::select(vec![Bound::Exact, Bound::Lower, Bound::Upper]);
    let line = prop::collection::vec((0..3_u16).prop_map(Move::new), 0..3);
    let by = (
        prop::sample::select(vec!["kagetsu 0.1.0", "another 2"]),
        0..2_u32,
    );
    let by = by.prop_map(|(engine, day)| Provenance {
        engine: engine.into(),
        day,
    });
    (
        prop::option::of(proofs()),
        -2..3_i32,
        bound,
        0..3_u8,
        0..3_u64,
        line,
        by,
    )
        .prop_map(|(proof, centi, bound, depth, nodes, line, by)| {
            let score = proof.map_or_else(|| Score::opinion(centi), Proof::score);
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
    prop::collection::vec(((0..6_u16).prop_map(Move::new), verdicts()), 0..12)
        .prop_map(Answer::from_iter)
}

fn merged(a: &Answer, b: &Answer) -> Answer {
    let mut answer = a.clone();
    answer.merge(b.clone());
    answer
}

proptest! {
    #[test]
    fn best_moves_stay_and_bounds_follow_values(answer in answers(), most in 0..8usize) {
        let mut kept = answer.clone();
        kept.keep_best(most);
        prop_assert_eq!(kept.len(), answer.len().min(most));
        let is_known = |(_, v): &&(Move, Verdict)| v.bound != Bound::Upper;
        let known = |answer: &Answer| answer.verdicts().iter().filter(is_known).cloned().collect::<Vec<_>>();
        let all = known(&answer);
        prop_assert_eq!(known(&kept), &all[..all.len().min(most)]);
        prop_assert!(kept.verdicts().iter().all(|verdict| answer.verdicts().contains(verdict)));
    }

    #[test]
    fn merging_is_a_semilattice(a in answers(), b in answers(), c in answers()) {
        prop_assert_eq!(merged(&a, &a), a.clone());
        prop_assert_eq!(merged(&a, &Answer::new()), a.clone());
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
    }

    #[test]
    fn merging_loses_no_move_and_no_proof(a in answers(), b in answers()) {
        let both = merged(&a, &b);
        for (m, verdict) in a.verdicts().iter().chain(b.verdicts()) {
            let kept = both.get(*m).expect("a move that was asked about");
            prop_assert!(kept >= verdict);
            prop_assert!(kept.proof >= verdict.proof);
        }
        for (m, kept) in both.verdicts() {
            prop_assert!(a.get(*m) == Some(kept) || b.get(*m) == Some(kept), "a verdict of neither answer");
        }
    }

    /// The verdicts may come one by one, in any order, some of them twice.
    #[test]
    fn answer_does_not_depend_on_report_order(
        reports in prop::collection::vec(((0..4_u16).prop_map(Move::new), verdicts()), 0..12).prop_shuffle(),
    ) {
        let at_once: Answer = reports.iter().cloned().collect();
        let mut one_by_one = Answer::new();
        for report in reports.iter().rev().chain(&reports) {
            one_by_one.extend([report.clone()]);
        }
        prop_assert_eq!(at_once, one_by_one);
    }

    #[test]
    fn answers_are_in_order_best_first(answer in answers()) {
        for pair in answer.verdicts().windows(2) {
            prop_assert!(pair[0].1.score >= pair[1].1.score);
            prop_assert_ne!(pair[0].0, pair[1].0);
        }
        let moves: Vec<Move> = answer.verdicts().iter().map(|(m, _)| *m).collect();
        let mut distinct = moves.clone();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), moves.len(), "each move stands once");
        prop_assert_eq!(answer.best().map(|(m, _)| m), moves.first().copied());
        prop_assert_eq!(answer.len(), moves.len());
    }

    #[test]
    fn turning_an_answer_there_and_back_changes_nothing(answer in answers(), number in 0..8_usize) {
        let variant = Variant::RENJU_15;
        let symmetry = variant.symmetries().nth(number).expect("one of eight");
        let turned = answer.clone().turned(variant, symmetry);
        prop_assert_eq!(turned.clone().turned(variant, variant.inverse(symmetry)), answer.clone());
        for (m, verdict) in answer.verdicts() {
            let there = turned.get(variant.image(*m, symmetry)).expect("the image of a move");
            prop_assert_eq!((there.score, there.proof, there.line.len()), (verdict.score, verdict.proof, verdict.line.len()));
        }
    }

    /// `Equal` only for equal verdicts, and antisymmetric.
    #[test]
    fn the_order_of_verdicts_is_total(a in verdicts(), b in verdicts(), c in verdicts()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b).is_eq(), a == b);
        prop_assert!(!(a <= b && b <= c) || a <= c);
    }

    #[test]
    fn order_of_proofs_is_total_and_prefers_checked(a in proofs(), b in proofs(), c in proofs()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b).is_eq(), a == b);
        prop_assert!(!(a <= b && b <= c) || a <= c);
        prop_assert!(a.kind == ProofKind::Manual || b.kind != ProofKind::Manual || a > b);
        prop_assert!(a.kind != b.kind || a.plies >= b.plies || a > b, "the shorter way is the stronger proof");
    }

    #[test]
    fn score_of_a_child_is_one_ply_longer(score in scores()) {
        let before = score.before();
        prop_assert_eq!(score.win_plies().map(|n| (n + 1).min(Score::MAX_PLIES)), before.loss_plies());
        prop_assert_eq!(score.loss_plies().map(|n| (n + 1).min(Score::MAX_PLIES)), before.win_plies());
        prop_assert_eq!(score.is_mate(), before.is_mate());
        let is_farthest = [score.win_plies(), score.loss_plies()].contains(&Some(Score::MAX_PLIES));
        prop_assert!(is_farthest || before.after() == score);
        prop_assert_eq!(Score::from_raw(score.raw()), Some(score));
    }

    /// A better score for one side is worse for the other, at any distance.
    #[test]
    fn view_of_the_parent_reverses_the_order(a in scores(), b in scores()) {
        prop_assert!(a > b || a.before() >= b.before());
        prop_assert!(a > b || a.after() >= b.after());
        prop_assert_eq!(-(-a), a);
    }

    #[test]
    fn retraction_removes_proof_and_score(proof in proofs()) {
        prop_assert_eq!(proof.before().score(), proof.score().before());
        prop_assert_eq!(proof.before().claim, proof.claim.negated());
        prop_assert_eq!(proof.before().kind, proof.kind);
        prop_assert!(proof.contradicts(proof.before()) || proof.claim == Claim::Draw);
        prop_assert!(!proof.contradicts(proof));
    }

    #[test]
    fn every_raw_score_is_read_or_refused(raw in any::<i16>()) {
        match Score::from_raw(raw) {
            Some(score) => {
                prop_assert_eq!(score.raw(), raw);
                prop_assert!(Score::MIN <= score && score <= Score::MAX);
                prop_assert!(!score.to_string().is_empty());
            }
            None => prop_assert!(raw > Score::MAX.raw() || raw < Score::MIN.raw()),
        }
    }
}

#[test]
fn scores_are_written_for_people() {
    let texts = [
        Score::opinion(34),
        Score::opinion(-1_205),
        Score::win_in(7),
        Score::loss_in(8),
    ]
    .map(|s| s.to_string());
    assert_eq!(texts, ["+0.34", "-12.05", "win in 7", "loss in 8"]);
}

#[test]
fn sides_and_bounds_turn_round_and_back() {
    for side in [Side::First, Side::Second] {
        assert_ne!(side.other(), side);
        assert_eq!(side.other().other(), side);
        assert_eq!(side.index() + side.other().index(), 1);
    }
    for bound in [Bound::Exact, Bound::Lower, Bound::Upper] {
        assert_eq!(bound.negated().negated(), bound);
        assert_eq!(bound.negated() == bound, bound == Bound::Exact);
    }
}
