use kagetsu_certificate::ProofDag;
use kagetsu_game::{Answer, Effort, Variant, Verdict};
use kagetsu_search::Control;
use kagetsu_search::threats::ThreatSearch;

use super::*;
use crate::source::empty_book;

fn verdict(m: Move, proof: Option<Proof>) -> (Move, Verdict) {
    (m, kagetsu_builders::verdict(m, proof))
}

/// Seen as it stands, the side to move has no threat that the search sees to win. A mirror
/// image of it is won within 25 plies.
#[test]
fn win_seen_in_one_image_counts_in_all() {
    let line = "g4 e4 f5 g5 i5 g6 i6 h6 i7 j6 h8 g7 g9 h7 h9 f8 j9 i8 h10 d10";
    let position = Position::from_line(Variant::STANDARD_15, line).expect("legal");
    let mut threats = ThreatSearch::new(1 << 20);
    let effort = Effort::nodes(1_000_000);
    let direct = threats.strategy(&position, effort, &Control::new());
    assert_eq!(
        direct.expect("gomoku"),
        None,
        "the test needs a position that hides its win"
    );

    let (_folder, book) = empty_book();
    let mut cache = ProofCache::quick(position.variant(), 4_000_000, Control::new());
    let mut builder = ProofTreeBuilder::new(&book, &mut cache);
    let plan = builder
        .plan(&position, 4_000_000)
        .expect("a search")
        .expect("a win");
    let root = builder.add(&plan);
    let tree = cache.pool.dag.tree(root, position, Claim::Win);
    let checked = kagetsu_certificate::check(&tree);
    assert!(checked.is_ok(), "{checked:?}");
}

/// Only the replies at the ends of an open four have positions in the book, and the search for
/// others may visit one position.
#[test]
fn replies_that_lose_to_known_answers_come_last() {
    let (_folder, mut book) = empty_book();
    let line = "h8 a1 i8 a3 j8 a5 k8";
    let position = Position::from_line(Variant::STANDARD_15, line).expect("legal");
    let proof = |claim, kind, plies| Some(Proof::new(claim, kind, plies));
    let ends = [("g8", "l8"), ("l8", "g8")];
    let ends = ends.map(|(end, five)| (position.parse_move(end).expect("legal"), five));
    let lost = |m| {
        let is_end = ends.iter().any(|(end, _)| *end == m);
        let claim = proof(Claim::Loss, ProofKind::Tree, 2);
        verdict(m, claim.filter(|_| !is_end))
    };
    let claims: Answer = position.distinct_moves().into_iter().map(lost).collect();
    book.learn(&position, &claims).expect("learned");
    for (end, five) in ends {
        let next = position.play(end).expect("legal");
        let five = next.parse_move(five).expect("legal");
        let won = verdict(five, proof(Claim::Win, ProofKind::Terminal, 1));
        let won: Answer = [won].into_iter().collect();
        book.learn(&next, &won).expect("learned");
    }
    let mut cache = ProofCache::new(position.variant(), 1);
    let tree = ProofTreeBuilder::new(&book, &mut cache)
        .tree(&position)
        .expect("a tree");
    assert_eq!(tree.nodes().len(), 3);
    let checked = kagetsu_certificate::check(&tree);
    assert!(checked.is_ok(), "{checked:?}");
}
/// The first side has two groups of stones that win by threats. The given answer to one reply
/// uses the first group, and the book's uses the second. The book counts the other replies as
/// lost, and the search for them may visit one position.
#[test]
fn answers_of_the_book_are_grown_again() {
    let (_folder, mut book) = empty_book();
    let read = |line| Position::from_line(Variant::STANDARD_15, line).expect("legal");
    let position = read("d4 a9 e5 a15 d6 o1 e3 o6 l11 h1 m12 f15 l13 i8 m10");
    let far = position.parse_move("j15").expect("legal");
    let next = position.play(far).expect("legal");
    let mut threats = ThreatSearch::new(1 << 20);
    let mut win_of = |group| {
        let effort = Effort::nodes(1_000_000);
        let plan = threats.strategy(&read(group), effort, &Control::new());
        plan.expect("gomoku").expect("a win")
    };
    let first = win_of("d4 a9 e5 a15 d6 o1 e3 o6");
    let second = win_of("l11 a9 m12 a15 l13 o1 m10 o6");
    let start = second.steps.last().expect("a step").at;

    let proof = |claim, plies| Proof::new(claim, ProofKind::Tree, plies);
    let losses = |position: &Position, open: Option<Move>| {
        let lost = Some(proof(Claim::Loss, 10));
        let moves = position.distinct_moves().into_iter();
        let claims = moves.map(|m| verdict(m, lost.filter(|_| Some(m) != open)));
        claims.collect::<Answer>()
    };
    let mut learn = |position: &Position, answer: &Answer| {
        book.learn(position, answer).expect("learned");
    };
    learn(&position, &losses(&position, Some(far)));
    let won = verdict(start, Some(proof(Claim::Win, 9)));
    learn(&next, &[won].into_iter().collect());
    let after = next.play(start).expect("legal");
    learn(&after, &losses(&after, None));

    let mut dag = ProofDag::default();
    let root = plant(&mut dag, &first);
    let given = dag.tree(root, next, Claim::Win);
    let mut cache = ProofCache::new(position.variant(), 1);
    cache.load(&given).expect("a part");
    let grown = ProofTreeBuilder::new(&book, &mut cache).tree(&position);
    let tree = grown.expect("a tree");
    let checked = kagetsu_certificate::check(&tree);
    assert!(checked.is_ok(), "{checked:?}");
}
