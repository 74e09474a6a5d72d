//! One suite of laws for every game. A new game only adds rows to [`ROWS`].

use std::collections::BTreeSet;

use kagetsu_game::{
    Game, Key, Move, Outcome, Packed, Position, Side, Symmetry, Variant, with_game,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRng, TestRunner};

/// A variant, and the line after which the walks begin.
struct Row {
    variant: &'static str,
    line: &'static str,
    /// Whether an outcome may come from the history (repetition), which the packed position lacks.
    remembers: bool,
}

const fn row(variant: &'static str, line: &'static str) -> Row {
    Row {
        variant,
        line,
        remembers: false,
    }
}

/// The line is empty or ends with a capture, so that no position before the walk can repeat in it.
const fn remembering(variant: &'static str, line: &'static str) -> Row {
    Row {
        variant,
        line,
        remembers: true,
    }
}

/// Small boards reach fives, forbidden points and full boards; the lines lead into the middle of a
/// game.
const ROWS: &[Row] = &[
    row("freestyle-5", ""),
    row("freestyle-7", ""),
    row("freestyle-15", "h8 i9 h9 h10 g8 i8 i10 f7"),
    row("freestyle-22", ""),
    row("standard-6", ""),
    row("standard-15", "h8 h9 i8 i9 j8 j9 k8 k9"),
    row("renju-5", ""),
    row("renju-6", "c3 a1 d3 f6 c4 a6"),
    row("renju-8", "c3 a1 d4 h1 c5 a8 e4 h8 d6 h5 f4 a4"),
    row("renju-15", "h8 a1 i8 a3 h9 a5 g7 a7 i10 a9 j7 c1 g10 e1"),
    row("renju-22", ""),
    row("caro-7", "c3 a1 d3 f6 c4 a6"),
    row(
        "caro-overline-15",
        "h8 a1 i8 a3 h9 a5 g7 a7 i10 a9 j7 c1 g10 e1",
    ),
    remembering("xiangqi", ""),
    remembering("xiangqi", "h2e2 h9g7 e2e6"),
    remembering("xiangqi-chase", "b2b9 a9b9 h2h9 i9h9"),
    remembering("surakarta", ""),
    remembering(
        "surakarta",
        "c2d3 d5d4 d3e3 e5e4 b1c2 e6e5 e3f3 d6d5 f3f4 d5f4",
    ),
    remembering("surakarta-7", ""),
];

/// A walk: the game after some moves from the start of its row.
struct Walk<G> {
    root: G,
    game: G,
}

impl<G: Game> Walk<G> {
    /// Each number chooses a move; one in sixteen is a forbidden one, if there is any.
    fn new(variant: Variant, line: &str, choices: &[u16]) -> Self {
        let root: G = Position::from_line(variant, line)
            .expect("a legal line")
            .game();
        let mut game = root.clone();
        for &choice in choices {
            let (mut moves, forbidden) = (Vec::new(), game.forbidden());
            if choice % 16 == 0 && !forbidden.is_empty() {
                moves.extend(forbidden.iter().map(|(m, _)| *m));
            } else {
                game.moves(&mut moves);
            }
            match moves.as_slice() {
                [] => break,
                moves => game.play(moves[usize::from(choice / 16) % moves.len()]),
            }
        }
        Self { root, game }
    }

    fn played(&self) -> &[Move] {
        &self.game.history()[self.root.history().len()..]
    }
}

/// Runs a law on many walks from every row. The walks are the same in every run; `PROPTEST_CASES`
/// changes their number.
macro_rules! laws {
    ($($(#[$doc:meta])* $law:ident)*) => {$(
        $(#[$doc])*
        #[test]
        fn $law() {
            for row in ROWS {
                let variant: Variant = row.variant.parse().expect("a variant");
                with_game!(variant, G => on_walks::<G>(variant, row, law::$law))
            }
        }
    )*};
}

laws! {
    undo_restores_everything
    a_game_is_over_when_there_is_no_move
    moves_that_are_not_generated_are_refused
    the_hash_is_the_low_half_of_the_identity
    unpacking_inverts_packing
    symmetries_commute_with_play
    inverse_symmetries_undo
    the_key_is_the_same_for_all_images
    children_are_the_positions_after_their_moves
    distinct_moves_reach_every_key_once
    text_says_every_move
    any_bytes_unpack_or_are_refused
}

fn on_walks<G: Game>(variant: Variant, row: &Row, law: fn(&Row, &Walk<G>)) {
    let config = Config {
        cases: Config::default().cases / 4,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let choices = prop::collection::vec(any::<u16>(), 0..64);
    let result = TestRunner::new_with_rng(config, rng).run(&choices, |choices| {
        law(row, &Walk::new(variant, row.line, &choices));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{}: {error}", row.variant));
}

/// Returns everything observable of a game.
fn seen<G: Game>(game: &G) -> impl PartialEq + std::fmt::Debug + use<G> {
    let images: Vec<(u128, Packed)> = game
        .variant()
        .symmetries()
        .map(|symmetry| (game.zobrist(symmetry), game.pack(symmetry)))
        .collect();
    (
        game.side(),
        game.history().to_vec(),
        game.stones(),
        game.outcome(),
        legal(game),
        game.forbidden(),
        images,
    )
}

fn legal<G: Game>(game: &G) -> Vec<Move> {
    let mut moves = Vec::new();
    game.moves(&mut moves);
    moves
}

/// Returns the outcome from the view of the side to move, which no symmetry changes.
fn outcome_for_mover<G: Game>(game: &G) -> Option<Option<bool>> {
    game.outcome().map(|outcome| match outcome {
        Outcome::Win(side) => Some(side == game.side()),
        Outcome::Draw => None,
    })
}

fn position<G: Game>(game: &G) -> Position {
    Position::new(game.variant(), None, game.history()).expect("a position of legal moves")
}

mod law {
    use super::*;

    pub(super) fn undo_restores_everything<G: Game>(_: &Row, walk: &Walk<G>) {
        let before = seen(&walk.game);
        let mut game = walk.game.clone();
        let forbidden = game.forbidden();
        for m in legal(&game)
            .into_iter()
            .take(40)
            .chain(forbidden.into_iter().map(|(m, _)| m))
        {
            let (side, length) = (game.side(), game.history().len());
            game.play(m);
            assert_eq!(
                (game.side(), game.history().len()),
                (side.other(), length + 1)
            );
            game.undo();
            assert_eq!(seen(&game), before);
        }
        walk.played().iter().for_each(|_| game.undo());
        assert_eq!(seen(&game), seen(&walk.root));
    }

    pub(super) fn a_game_is_over_when_there_is_no_move<G: Game>(_: &Row, walk: &Walk<G>) {
        let moves = legal(&walk.game);
        assert_eq!(moves.is_empty(), walk.game.outcome().is_some());
        assert_eq!(
            moves.iter().collect::<BTreeSet<_>>().len(),
            moves.len(),
            "a move is generated twice"
        );
        assert!(moves.iter().all(|&m| walk.game.check(m).is_ok()));
    }

    pub(super) fn moves_that_are_not_generated_are_refused<G: Game>(_: &Row, walk: &Walk<G>) {
        let mut playable: BTreeSet<Move> = legal(&walk.game).into_iter().collect();
        playable.extend(walk.game.forbidden().into_iter().map(|(m, _)| m));
        let found = (0..=u16::MAX)
            .map(Move::new)
            .filter(|&m| walk.game.check(m).is_ok());
        assert!(found.eq(playable));
    }

    pub(super) fn the_hash_is_the_low_half_of_the_identity<G: Game>(_: &Row, walk: &Walk<G>) {
        assert_eq!(
            walk.game.hash(),
            walk.game.zobrist(Symmetry::IDENTITY) as u64
        );
    }

    /// Unpacking may add the stones in another order, so the hash is compared with one from
    /// scratch.
    pub(super) fn unpacking_inverts_packing<G: Game>(row: &Row, walk: &Walk<G>) {
        let packed = walk.game.pack(Symmetry::IDENTITY);
        let game = G::unpack(walk.game.variant(), &packed).expect("a packed position");
        assert!(game.history().is_empty());
        assert_eq!(
            (game.side(), game.stones(), game.hash()),
            (walk.game.side(), walk.game.stones(), walk.game.hash())
        );
        for symmetry in game.variant().symmetries() {
            assert_eq!(game.zobrist(symmetry), walk.game.zobrist(symmetry));
            assert_eq!(game.pack(symmetry), walk.game.pack(symmetry));
        }
        if !row.remembers || walk.game.outcome().is_none() {
            assert_eq!(game.outcome(), walk.game.outcome());
            assert_eq!(
                (legal(&game), game.forbidden()),
                (legal(&walk.game), walk.game.forbidden())
            );
        }
    }

    pub(super) fn symmetries_commute_with_play<G: Game>(_: &Row, walk: &Walk<G>) {
        let (variant, game) = (walk.game.variant(), &walk.game);
        for symmetry in variant.symmetries() {
            let mut image =
                G::unpack(variant, &walk.root.pack(symmetry)).expect("an image of a position");
            for &m in walk.played() {
                let m = variant.image(m, symmetry);
                assert_eq!(image.check(m), Ok(()));
                image.play(m);
            }
            assert_eq!(image.pack(Symmetry::IDENTITY), game.pack(symmetry));
            assert_eq!(image.zobrist(Symmetry::IDENTITY), game.zobrist(symmetry));
            assert_eq!(outcome_for_mover(&image), outcome_for_mover(game));
            let turned = |m: Move| variant.image(m, symmetry);
            assert_eq!(
                legal(&image).into_iter().collect::<BTreeSet<_>>(),
                legal(game).into_iter().map(turned).collect::<BTreeSet<_>>()
            );
            assert_eq!(
                image.forbidden().into_iter().collect::<BTreeSet<_>>(),
                game.forbidden()
                    .into_iter()
                    .map(|(m, why)| (turned(m), why))
                    .collect::<BTreeSet<_>>()
            );
        }
    }

    pub(super) fn inverse_symmetries_undo<G: Game>(_: &Row, walk: &Walk<G>) {
        let variant = walk.game.variant();
        assert_eq!(variant.symmetries().next(), Some(Symmetry::IDENTITY));
        for (symmetry, m) in variant
            .symmetries()
            .flat_map(|s| legal(&walk.game).into_iter().map(move |m| (s, m)))
        {
            assert_eq!(
                variant.image(variant.image(m, symmetry), variant.inverse(symmetry)),
                m
            );
            assert_eq!(variant.image(m, Symmetry::IDENTITY), m);
        }
    }

    pub(super) fn the_key_is_the_same_for_all_images<G: Game>(_: &Row, walk: &Walk<G>) {
        let (variant, position) = (walk.game.variant(), position(&walk.game));
        let canonical = position.canonical();
        assert_eq!(canonical.key, position.key());
        assert_eq!(canonical.stones, walk.game.stones());
        assert_eq!(canonical.packed, walk.game.pack(canonical.symmetry));
        assert_eq!(canonical.key, Key(walk.game.zobrist(canonical.symmetry)));
        for symmetry in variant.symmetries() {
            let image = Position::unpack(variant, walk.game.pack(symmetry))
                .expect("an image of a position");
            assert_eq!(image.key(), canonical.key);
            assert_eq!(image.canonical().packed, canonical.packed);
        }
    }

    pub(super) fn children_are_the_positions_after_their_moves<G: Game>(_: &Row, walk: &Walk<G>) {
        let position = position(&walk.game);
        let moves: Vec<Move> = legal(&walk.game).into_iter().take(30).collect();
        let one_by_one = moves
            .iter()
            .map(|&m| position.play(m).expect("a legal move").canonical());
        assert!(position.children(&moves).into_iter().eq(one_by_one));
    }

    pub(super) fn distinct_moves_reach_every_key_once<G: Game>(_: &Row, walk: &Walk<G>) {
        let position = position(&walk.game);
        let keys = |moves: &[Move]| {
            position
                .children(moves)
                .into_iter()
                .map(|child| child.key)
                .collect::<Vec<_>>()
        };
        let (all, distinct) = (
            keys(&position.legal_moves()),
            keys(&position.distinct_moves()),
        );
        let (all, set): (BTreeSet<Key>, BTreeSet<Key>) = (
            all.into_iter().collect(),
            distinct.iter().copied().collect(),
        );
        assert_eq!(set, all);
        assert_eq!(set.len(), distinct.len());
    }

    pub(super) fn text_says_every_move<G: Game>(_: &Row, walk: &Walk<G>) {
        let (variant, position) = (walk.game.variant(), position(&walk.game));
        for m in legal(&walk.game) {
            assert_eq!(walk.game.parse_move(&G::write_move(variant, m)), Ok(m));
        }
        let words: Vec<String> = position
            .moves()
            .iter()
            .map(|&m| position.write_move(m))
            .collect();
        for separator in [" ", ",", ", ", "\n"] {
            assert_eq!(
                Position::from_line(variant, &words.join(separator)),
                Ok(position.clone())
            );
        }
    }

    /// With one byte changed, a packed position is refused or packs into the same bytes.
    pub(super) fn any_bytes_unpack_or_are_refused<G: Game>(_: &Row, walk: &Walk<G>) {
        let packed = walk.game.pack(Symmetry::IDENTITY);
        for (index, value) in (0..packed.0.len())
            .flat_map(|index| [0, 1, 2, 3, 80, 242, 255].map(|value| (index, value)))
        {
            let mut bytes = packed.clone();
            bytes.0[index] = value;
            if let Ok(game) = G::unpack(walk.game.variant(), &bytes) {
                assert_eq!(game.pack(Symmetry::IDENTITY), bytes);
                assert!(matches!(game.side(), Side::First | Side::Second));
            }
        }
        for length in [0, 1, packed.0.len() - 1, packed.0.len() + 1] {
            let mut bytes = packed.clone();
            bytes.0.resize(length, 0);
            assert!(length == packed.0.len() || G::unpack(walk.game.variant(), &bytes).is_err());
        }
    }
}
