use super::*;

use kagetsu_book::StandingState;

#[test]
fn overview_lists_variants_and_roots() {
    let (_folder, mut book) = new_book();
    assert_eq!(book.overview().expect("readable"), Default::default());
    let job = book.create_job(&spec(30)).expect("a job");
    grow_to(&mut book, job, 30);
    let other = Position::from_line(Variant::RENJU_15, "h8 i9").expect("legal");
    let question = Question::new(other.clone(), Effort::depth(3));
    book.learn(&other, &engine::answer(&question))
        .expect("room");
    let overview = book.overview().expect("readable");
    let small: Variant = "freestyle-7".parse().expect("a variant");
    let held = overview.variant(small).expect("held");
    let roots: Vec<_> = held
        .roots
        .iter()
        .map(|root| root.position.to_string())
        .collect();
    assert_eq!((held.positions, held.all_roots), (30, 2));
    assert_eq!(roots, ["freestyle-7", "freestyle-7 d4"]);
    assert_eq!(held.roots[0].positions, 30, "all follow from the start");
    let learned = overview.variant(Variant::RENJU_15).expect("held");
    assert_eq!((learned.positions, learned.roots.len()), (1, 1));
    assert_eq!(learned.roots[0].position.key(), other.key());
    assert_eq!(learned.roots[0].positions, 1);
}

#[test]
fn nearest_part_of_a_book_is_named() {
    let (_folder, mut book) = new_book();
    let root = Position::from_line(Variant::FREESTYLE_15, "h8 i9").expect("legal");
    let question = Question::new(root.clone(), Effort::depth(3));
    book.learn(&root, &engine::answer(&question)).expect("room");
    let overview = book.overview().expect("readable");
    let rows = [
        (
            Variant::FREESTYLE_15,
            "h8 i9 a1 a2",
            "the book does not hold freestyle-15 h8 i9 a1 a2; it holds this line as far as \
             freestyle-15 h8 i9 (2 moves)",
        ),
        (
            Variant::FREESTYLE_15,
            "",
            "the book does not hold freestyle-15; it begins at freestyle-15 ",
        ),
        (
            Variant::XIANGQI,
            "h2e2",
            "the book does not hold xiangqi h2e2; it holds freestyle-15 (1 positions)",
        ),
    ];
    for (variant, line, expected) in rows {
        let position = Position::from_line(variant, line).expect("legal");
        let mut prefixes = position.prefixes();
        let held = prefixes.find(|prefix| book.lookup(prefix).expect("readable").is_some());
        let message = overview.nearest(&position, held).message(&position);
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn standings_say_which_job_waits_for_a_position() {
    let (_folder, mut book) = new_book();
    let job = book.create_job(&spec(10)).expect("a job");
    grow_to(&mut book, job, 10);
    let start = Position::start("freestyle-7".parse().expect("a variant"));
    let root = book.standings(&start).expect("readable");
    assert_eq!((root[0].job.as_str(), root[0].priority), ("test", 0));
    assert_eq!(root[0].state, StandingState::Searched);
    let mut waiting = 0;
    for m in start.legal_moves() {
        let next = start.play(m).expect("legal");
        let is_held = book.lookup(&next).expect("readable").is_some();
        for standing in book.standings(&next).expect("readable") {
            waiting += u64::from(standing.state == StandingState::Waiting);
            assert!(standing.priority >= 1_000_000 || standing.priority == 0);
            assert!(is_held || standing.state == StandingState::Waiting);
        }
    }
    assert!(waiting > 0);
    let stranger = Position::from_line(Variant::FREESTYLE_15, "h8").expect("legal");
    assert_eq!(book.standings(&stranger).expect("readable"), []);
}
