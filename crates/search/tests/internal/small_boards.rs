//! Small boards, whose truth is known, solved by the same code: (m, n, k) is k in a row on a board
//! of m by n (Uiterwijk and van den Herik, "The advantage of the initiative", 2000).

use kagetsu_game::gomoku::{Gomoku, Rule};
use kagetsu_game::{Effort, Game, Move, RuleName, Score, Side, Symmetry, Variant};

use crate::alphabeta::AlphaBeta;
use crate::alphabeta::table::TranspositionTable;
use crate::control::limits::SearchLimits;
use crate::gomoku::Board;
use crate::heuristics::{Force, Heuristics, Moves, Situation, Style, VctOutcome};
use crate::{Control, EngineOptions};

/// A rule under which `K` or more in a row win.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row<const K: usize>;

impl<const K: usize> Rule for Row<K> {
    const NAME: RuleName = RuleName::Freestyle;
    const ROW: usize = K;

    fn is_five(_: Side, run: usize, _: impl FnOnce() -> bool) -> bool {
        run >= K
    }
}

/// A board whose images are one position, as they are in a book.
#[derive(Clone, Debug)]
struct Folded<R> {
    board: Board<R>,
    game: Gomoku<R>,
}

impl<R: Rule> Heuristics for Folded<R> {
    type Rules = Gomoku<R>;

    const STYLE: Style = <Board<R> as Heuristics>::STYLE;

    fn new(game: &Gomoku<R>, options: &EngineOptions) -> Self {
        Self {
            board: Board::new(game, options),
            game: game.clone(),
        }
    }

    fn play(&mut self, m: Move) {
        self.board.play(m);
        self.game.play(m);
    }

    fn undo(&mut self) {
        self.board.undo();
        self.game.undo();
    }

    fn hash(&self) -> u64 {
        (0..8)
            .map(|number| self.game.zobrist(Symmetry::new(number)) as u64)
            .min()
            .unwrap_or_default()
    }

    fn evaluate(&self) -> Score {
        self.board.evaluate()
    }

    fn situation(&self) -> Situation {
        self.board.situation()
    }

    fn list_moves(&self, situation: &Situation, moves: &mut Moves) {
        self.board.list_moves(situation, moves);
    }

    fn force(&self, m: Move) -> Force {
        self.board.force(m)
    }

    fn threat_class(&self) -> u16 {
        self.board.threat_class()
    }

    fn is_threatened(&self) -> bool {
        self.board.is_threatened()
    }

    fn vct(&mut self, effort: Effort, control: &Control) -> VctOutcome {
        self.board.vct(effort, control)
    }

    fn quick_vcf(&mut self, budget: &mut u32) -> Option<Vec<Move>> {
        self.board.quick_vcf(budget)
    }

    fn replies_to_four_three(&mut self) -> Option<Moves> {
        self.board.replies_to_four_three()
    }

    fn other_replies(&mut self, budget: &mut u32, searched: &[Move]) -> Option<(u16, Moves)> {
        self.board.other_replies(budget, searched)
    }

    fn legal(&self) -> Vec<Move> {
        self.board.legal()
    }

    fn urgent(&self) -> Vec<Move> {
        self.board.urgent()
    }

    fn can_win(&self) -> (bool, bool) {
        self.board.can_win()
    }

    fn may_have_vcf(&self) -> bool {
        self.board.may_have_vcf()
    }

    fn vcf(&mut self, budget: &mut u32, length: u32) -> Option<Vec<Move>> {
        self.board.vcf(budget, length)
    }
}

/// Whether the first side wins, by a search that goes to the end of the game and leaves nothing
/// out.
fn first_wins<const K: usize>(size: u8) -> bool {
    let game = Gomoku::<Row<K>>::start(Variant::Gomoku {
        rule: RuleName::Freestyle,
        size,
    });
    let options = EngineOptions {
        candidates: usize::MAX,
        selective: false,
        ..EngineOptions::default()
    };
    let board = Folded::new(&game, &options);
    let (control, mut table) = (Control::new(), TranspositionTable::new(options.table_bytes));
    table.begin();
    let limits = SearchLimits::new(&control, Effort::default());
    let mut search = AlphaBeta::new(board.clone(), &table, &limits, &options);
    let above = Score::from_raw(1).expect("a score");
    let most = size.pow(2);
    let mut depth = 2;
    // Deeper and deeper: a win that is short is found soon.
    let found = loop {
        let mut moves = board.moves(&board.situation());
        let mut best = Score::MIN;
        while let Some((_, m)) = moves.take() {
            let score = search
                .root_move(m, depth, Score::ZERO, above)
                .expect("it is not stopped")
                .score;
            best = best.max(score);
            if score.win_plies().is_some() {
                break;
            }
        }
        if best.win_plies().is_some() || depth == most {
            break best.win_plies().is_some();
        }
        depth = if depth < 10.min(most) {
            depth + 2
        } else {
            most
        };
    };
    println!(
        "({size},{size},{K}): {} after {} positions",
        if found { "win" } else { "no win" },
        search.nodes
    );
    found
}

#[test]
fn three_in_a_row() {
    assert!(!first_wins::<3>(3));
    assert!(first_wins::<3>(4));
}

#[test]
fn four_in_a_row() {
    assert!(!first_wins::<4>(4));
    assert!(!first_wins::<4>(5));
    assert!(first_wins::<4>(6));
}
