//! What holds of every plan.

use alloc::vec;
use alloc::vec::Vec;

use kagetsu_game::{
    Answer, Bound, Effort, Move, Position, Provenance, Question, Score, Variant, Verdict, Window,
};

use super::plan::{Order, Terms};
use super::{Ask, ROOT, Tree, What};
use crate::{TaskId, WorkerId};

const DEEPEST: u8 = 10;
/// Root moves of the trees here.
const MOVES: u16 = 6;

/// So many slots, all of them free, for tasks that take next to nothing to hand out.
fn terms(slots: u64) -> Terms {
    Terms {
        slots,
        least: 1,
        free: slots as usize,
        queue: slots as usize,
    }
}

fn verdict(m: Move, value: i32, bound: Bound, depth: u8, nodes: u64) -> Verdict {
    let by = Provenance {
        engine: "law".into(),
        day: 0,
    };
    Verdict {
        score: Score::opinion(value),
        bound,
        depth,
        nodes,
        line: vec![m],
        proof: None,
        by,
    }
}

/// A tree and the names of its tasks.
struct Trial {
    tree: Tree,
    tasks: u64,
}

impl Trial {
    fn new() -> Self {
        let position = Position::from_line(Variant::XIANGQI, "").expect("the start");
        Self {
            tree: Tree::new(Question::new(position, Effort::depth(DEEPEST))),
            tasks: 0,
        }
    }

    /// One of which two iterations are complete: the moves are known, the first is the best and worth 0, and all are dear.
    fn begun() -> Self {
        let mut trial = Self::new();
        let asked = trial.plan(terms(1));
        let [(task, _, _)] = asked[..] else {
            panic!("{asked:?}")
        };
        let iteration = trial.tree.iteration;
        let of = |n: u16| {
            let bound = if n == 0 { Bound::Exact } else { Bound::Upper };
            (
                Move::new(n),
                verdict(
                    Move::new(n),
                    if n == 0 { 0 } else { -1 },
                    bound,
                    iteration,
                    1_000,
                ),
            )
        };
        trial.tree.report(task, (0..MOVES).map(of).collect(), 6_000);
        for (bound, count) in [(Bound::Exact, 1), (Bound::Upper, MOVES - 1)] {
            let asked = trial.plan(terms(1));
            let all = Terms {
                queue: usize::from(count),
                ..terms(1)
            };
            let asked = if asked.len() < usize::from(count) {
                [asked, trial.plan(all)].concat()
            } else {
                asked
            };
            asked
                .into_iter()
                .take(count.into())
                .for_each(|(task, ask, _)| trial.say(task, ask, 0, bound));
        }
        assert_eq!(trial.tree.iteration, iteration + 2);
        trial
    }

    /// A plan, of which everything is done; what is asked anew.
    fn plan(&mut self, mut terms: Terms) -> Vec<(TaskId, Ask, u8)> {
        let mut asked = Vec::new();
        loop {
            let mut is_again = false;
            for order in self.tree.plan(terms) {
                match order {
                    Order::Ask { ask, level } => {
                        self.tasks += 1;
                        self.tree.made(TaskId(self.tasks), ask, level);
                        self.tree.begin(TaskId(self.tasks), WorkerId(self.tasks));
                        asked.push((TaskId(self.tasks), ask, level));
                        let room = if terms.free > 0 {
                            &mut terms.free
                        } else {
                            &mut terms.queue
                        };
                        *room = room.saturating_sub(1);
                    }
                    // Nothing below the root's moves is looked at here.
                    Order::Expand(node) => {
                        self.tree.expand(node, &Answer::new());
                        is_again = true;
                    }
                    Order::Revoke(task) => {
                        asked.retain(|(name, _, _)| *name != task);
                        terms.free += 1;
                    }
                    Order::Narrow(..) => {}
                }
            }
            if !is_again {
                return asked;
            }
        }
    }

    /// A worker's word on the move of a node.
    fn say(&mut self, task: TaskId, ask: Ask, value: i32, bound: Bound) {
        let (m, What::Value { iteration, .. }) = (self.tree.nodes[ask.node].m, ask.what) else {
            panic!("{ask:?} is no value")
        };
        self.tree.report(
            task,
            [(m, verdict(m, value, bound, iteration, 1_000))]
                .into_iter()
                .collect(),
            1_000,
        );
    }

    /// Where a window lies.
    fn window(ask: &Ask) -> Window {
        let What::Value { window, .. } = ask.what else {
            panic!("{ask:?} is no value")
        };
        window
    }
}

fn null(value: i32) -> Window {
    Window {
        alpha: Score::opinion(value),
        beta: Score::opinion(value + 1),
    }
}

#[test]
fn the_first_question_is_one_however_many_there_are_to_answer() {
    for slots in [1, 2, 8, 1_000] {
        let asked = Trial::new().plan(terms(slots));
        let nodes: Vec<_> = asked
            .iter()
            .map(|(_, ask, level)| (ask.node, *level))
            .collect();
        assert_eq!(nodes, [(ROOT, 0)]);
    }
}

#[test]
fn without_news_there_is_nothing_to_do() {
    for slots in [1, 2, 3, 5, 100] {
        for mut trial in [Trial::new(), Trial::begun()] {
            trial.plan(terms(slots));
            let left = Terms {
                free: 0,
                queue: 0,
                ..terms(slots)
            };
            assert_eq!(trial.tree.plan(left), [], "{slots} slots");
        }
    }
}

#[test]
fn no_more_is_asked_than_there_is_room_for() {
    for slots in 1..20 {
        for free in 0..=slots {
            for queue in 0..3 {
                let asked = Trial::begun().plan(Terms {
                    slots,
                    least: 1,
                    free: free as usize,
                    queue,
                });
                assert!(
                    asked.len() <= free as usize + queue,
                    "{slots} {free} {queue}: {asked:?}"
                );
                let spare = asked.iter().filter(|(_, _, level)| *level > 0).count();
                assert!(
                    spare <= free as usize,
                    "only what is needed waits: {asked:?}"
                );
            }
        }
    }
}

#[test]
fn young_brothers_wait_or_are_guesses() {
    let mut trial = Trial::begun();
    let asked = trial.plan(terms(100));
    let eldest = trial.tree.replies(ROOT)[0];
    assert_eq!(asked[0].1.node, eldest, "the eldest comes first");
    assert_eq!(Trial::window(&asked[0].1), trial.tree.window());
    assert!(asked.len() > 1, "who has nothing else to do guesses");
    for (_, ask, level) in &asked[1..] {
        assert!(
            *level > 0,
            "{ask:?} is not needed before the eldest is known"
        );
    }
}

#[test]
fn brothers_are_scouts_and_who_beats_the_eldest_is_asked_for_his_value() {
    let mut trial = Trial::begun();
    let asked = trial.plan(terms(1));
    trial.say(asked[0].0, asked[0].1, 25, Bound::Exact);
    let (eldest, iteration) = (asked[0].1.node, trial.tree.iteration);
    let scouts: Vec<_> = trial
        .plan(terms(100))
        .into_iter()
        .filter(|(_, _, level)| *level == 0)
        .collect();
    let brothers: Vec<_> = trial.tree.replies(ROOT)[1..].to_vec();
    assert_eq!(
        scouts
            .iter()
            .map(|(_, ask, _)| ask.node)
            .collect::<Vec<_>>(),
        brothers
    );
    assert!(
        scouts
            .iter()
            .all(|(_, ask, _)| Trial::window(ask) == null(25)),
        "{scouts:?}"
    );
    // One is better than it was thought.
    trial.say(scouts[2].0, scouts[2].1, 40, Bound::Lower);
    let again: Vec<_> = trial
        .plan(terms(100))
        .into_iter()
        .filter(|(_, _, level)| *level == 0)
        .collect();
    let [(task, ask, _)] = again[..] else {
        panic!("{again:?}")
    };
    assert_eq!(ask.node, scouts[2].1.node);
    let Window { alpha, beta } = Trial::window(&ask);
    assert!(
        alpha < Score::opinion(40) && beta > Score::opinion(1_000),
        "his value, not only a bound"
    );
    trial.say(task, ask, 45, Bound::Exact);
    // The others must now beat him.
    for (task, ask, _) in [0, 1, 3, 4].map(|at| scouts[at]) {
        assert_eq!(trial.tree.iteration, iteration);
        trial.say(task, ask, 20, Bound::Upper);
    }
    assert_eq!(trial.tree.iteration, iteration + 1, "all is known");
    let (best, said) = trial.tree.answer.best().expect("it is complete");
    assert_eq!(
        (best, said.score, said.bound),
        (Move::new(3), Score::opinion(45), Bound::Exact)
    );
    assert_eq!(
        trial.tree.replies(ROOT)[..2],
        [scouts[2].1.node, eldest],
        "the best is the next eldest"
    );
}

#[test]
fn what_is_needed_takes_the_place_of_what_is_not() {
    let mut trial = Trial::begun();
    let guesses = trial.plan(terms(10));
    trial.say(guesses[0].0, guesses[0].1, 25, Bound::Exact);
    let ahead = trial.plan(Terms {
        free: 5,
        ..terms(10)
    });
    assert!(
        !ahead.is_empty() && ahead.iter().all(|(_, _, level)| *level > 0),
        "{ahead:?}"
    );
    // A guess has come to nothing: the brother may be better than what is known now.
    trial.say(guesses[1].0, guesses[1].1, 1, Bound::Lower);
    match trial.tree.plan(Terms {
        slots: 10,
        least: 1,
        free: 0,
        queue: 0,
    })[..]
    {
        [Order::Revoke(task), Order::Ask { ask, level: 0 }] => {
            assert_eq!(
                (ask.node, Trial::window(&ask)),
                (guesses[1].1.node, null(25))
            );
            assert!(
                ahead.iter().any(|(name, _, _)| *name == task),
                "{task:?} is of the iteration ahead"
            );
        }
        ref orders => panic!("{orders:?}"),
    }
}

#[test]
fn a_task_of_less_than_the_least_is_not_divided() {
    let mut trial = Trial::begun();
    let asked = trial.plan(Terms {
        least: 1_000_000,
        ..terms(8)
    });
    let values: Vec<_> = asked
        .iter()
        .filter(|(_, ask, _)| matches!(ask.what, What::Value { .. }))
        .collect();
    let [(_, ask, 0)] = values[..] else {
        panic!("{asked:?}")
    };
    assert_eq!(ask.node, ROOT);
}
