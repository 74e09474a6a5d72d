use kagetsu_game::Side;

use super::*;

fn game(line: &str, result: GameResult, first: &str, date: &str) -> GameRecord {
    GameRecord {
        played: Position::from_line(Variant::FREESTYLE_15, line).expect("legal"),
        tail: Vec::new(),
        result,
        tags: GameTags {
            first: first.into(),
            second: "Bo".into(),
            event: "Cup".into(),
            date: date.into(),
            ..GameTags::default()
        },
    }
}

fn store(folder: &Path) -> GameStore {
    let mut store = GameStore::create(folder).expect("room");
    let games = [
        game(
            "h8 i9 h9",
            GameResult::Won(Side::First),
            "Ann",
            "2001-01-02",
        ),
        // The same by symmetry, and by another order of moves.
        game(
            "h8 g7 i9",
            GameResult::Won(Side::Second),
            "Cy",
            "2003-01-02",
        ),
        game("h9 i9 h8", GameResult::Drawn, "ann lee", "2002-01-02"),
    ];
    assert_eq!(store.add(&games).expect("room"), 3);
    assert_eq!(store.add(&games).expect("room"), 0, "they are known");
    store
}

#[test]
fn games_are_found_by_any_order_of_moves() {
    let folder = tempfile::tempdir().expect("a folder");
    store(folder.path());
    let store = GameStore::open(folder.path())
        .expect("readable")
        .expect("made");
    let find = |line: &str, filter: &GameFilter| {
        let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
        store.find(&position, filter, 10).expect("readable")
    };
    let all = find("", &GameFilter::default());
    assert_eq!((all.games, all.moves.len()), (3, 2), "{all:?}");
    let first = all.moves[0];
    assert_eq!(
        (first.games, first.first_wins, first.second_wins),
        (2, 1, 1)
    );
    let dates: Vec<&str> = all
        .played
        .iter()
        .map(|found| &*found.game.tags.date)
        .collect();
    assert_eq!(dates, ["2003-01-02", "2002-01-02", "2001-01-02"]);
    // One of two moves that are mirror images stands for both: the one that was made.
    let by = |player: &str| GameFilter {
        player: player.into(),
        ..GameFilter::default()
    };
    for (player, made) in [("cy", "g7"), ("ann", "i9")] {
        let h8 = Position::from_line(Variant::FREESTYLE_15, "h8").expect("legal");
        let found = store.find(&h8, &by(player), 0).expect("readable");
        let moves: Vec<String> = found.moves.iter().map(|m| h8.write_move(m.at)).collect();
        assert_eq!(moves, [made]);
    }
    // h8 i9 h9 and h9 i9 h8 meet only at their end; i9 beside h8 is one of its images.
    assert_eq!(find("h8 i9", &GameFilter::default()).games, 2);
    let start = Position::start(Variant::FREESTYLE_15);
    let results = |half_life| store.results(&start, half_life).expect("readable");
    let of_h8 = start.play_line("h8").expect("legal").key();
    let h8 = |half_life| {
        let mut found = results(half_life).into_iter();
        let found = found.find(|(next, _)| *next == of_h8);
        found.expect("it was played").1
    };
    assert_eq!(h8(None), [0.0, 1.0, 0.0, 1.0]);
    // The game of 2001 is two years older than that of 2003.
    assert_eq!(h8(Some(2.0)), [0.0, 0.5, 0.0, 1.0]);
    assert_eq!(find("", &by("ANN")).games, 2);
    assert_eq!(find("", &by("zz")).games, 0);
    let drawn = GameFilter {
        result: Some(GameResult::Drawn),
        ..by("ann")
    };
    assert_eq!(find("", &drawn).played[0].game.tags.first, "ann lee");
}

#[test]
fn game_counts_once_in_a_recurring_position() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = GameStore::create(folder.path()).expect("room");
    let start = Position::start(Variant::XIANGQI);
    let mut moves = start
        .play_line("h2e2 h9g7")
        .expect("legal")
        .moves()
        .to_vec();
    let around = "a0a1 a9a8 a1a0 a8a9";
    let at = start.play_line("h2e2 h9g7").expect("legal");
    let around = at.play_line(around).expect("legal").moves()[2..].to_vec();
    // The third repetition ends the game by the rules, but the players went on.
    for _ in 0..3 {
        moves.extend(&around);
    }
    let game = GameRecord::new(&start, &moves, GameResult::Drawn, GameTags::default());
    assert_eq!((game.moves().len(), game.tail.len()), (14, 4));
    assert_eq!(game.positions().len(), 15);
    assert_eq!(store.add(std::slice::from_ref(&game)).expect("room"), 1);
    let found = store
        .find(&at, &GameFilter::default(), 10)
        .expect("readable");
    assert_eq!((found.games, found.moves.len()), (1, 1), "{found:?}");
    assert_eq!(found.played[0].game, game);
}

#[test]
fn games_are_brought_into_another_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    store(folder.path());
    let other = folder.path().join("copy");
    std::fs::create_dir(&other).expect("room");
    for new in [3, 0] {
        assert_eq!(GameStore::bring(folder.path(), &other).expect("room"), new);
    }
    let copy = GameStore::open(&other).expect("readable").expect("made");
    assert_eq!(copy.count().expect("readable"), 3);
    let mut seen = 0;
    copy.for_each(|games| {
        seen += games.len();
        Ok::<_, GameStoreError>(())
    })
    .expect("readable");
    assert_eq!(seen, 3);
}

#[test]
fn other_bytes_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(GameStore::open(folder.path()).expect("none").is_none());
    std::fs::write(folder.path().join(FILE), "no games").expect("room");
    let error = GameStore::open(folder.path()).err().expect("damaged");
    assert!(error.to_string().contains(FILE), "{error}");
}
