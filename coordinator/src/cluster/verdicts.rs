//! The effects of the verification.

use kagetsu_book::JobId;
use kagetsu_game::{Answer, Question};
use kagetsu_schedule::{QuestionId, WorkerId};
use kagetsu_verification::{CheckId, Decision};

use super::dispatcher::Dispatcher;
use super::purpose::{Destination, Purpose};
use crate::book::handle::Command;
use crate::verification::claim_verifier::{Finding, Request};

impl Dispatcher {
    /// Carries out one effect of the verification.
    pub(crate) fn follow_verdict(&mut self, effect: Decision) {
        match effect {
            Decision::Replay {
                id,
                question,
                answer,
            } => self.replay(id, question, answer),
            Decision::Accept { id, answer } => self.accept(id, answer),
            Decision::Reject { id } => self.reject(id),
            Decision::Ask {
                check,
                question,
                priority,
                except,
            } => self.ask_again(check, question, priority, except),
            Decision::Withdraw { check } => {
                if let Some(id) = self.checks.remove(&check) {
                    self.forget(id);
                    self.scheduler.cancel(self.now, id);
                }
            }
            Decision::Search {
                check,
                question,
                lines,
            } => self.ask_verifier(Request::Search {
                check,
                question,
                lines,
            }),
            Decision::Retract { answers } => {
                let answers = answers
                    .into_iter()
                    .map(|(job, position)| (job.map(JobId), position))
                    .collect();
                if let Some(book) = &self.book {
                    book.send(Command::Retract(answers));
                }
            }
            Decision::Quarantine { worker } => self.expel(worker),
            Decision::Store => {
                if let Some(book) = &self.book {
                    book.send(Command::StoreQuarantine(self.verification.quarantined()));
                }
            }
        }
    }

    /// Handles a result of the claim verifier.
    pub(crate) fn found(&mut self, finding: Finding) {
        let now = self.clock();
        match finding {
            Finding::Replayed(id, replay) => self.verification.replayed(now, id, replay),
            Finding::Searched(check, answer) => self.verification.searched(now, check, answer),
        }
    }

    fn replay(&mut self, id: QuestionId, question: Question, answer: Answer) {
        let strategies = match self.unverified.get_mut(&id) {
            Some(Destination::Build(_, strategies)) => std::mem::take(strategies),
            Some(Destination::Analysis { .. }) | None => Vec::new(),
        };
        self.ask_verifier(Request::Replay {
            id,
            question,
            answer,
            strategies,
        });
    }

    /// Without a verifier nothing is answered: the workers are trusted, or the coordinator stops.
    fn ask_verifier(&self, request: Request) {
        if let Some(verifier) = &self.claim_verifier {
            verifier.send(request);
        }
    }

    fn accept(&mut self, id: QuestionId, answer: Answer) {
        match (self.unverified.remove(&id), &self.book) {
            (Some(Destination::Build(work, _)), Some(book)) => {
                book.send(Command::Finish(id, Box::new(work), answer));
            }
            (
                Some(Destination::Analysis {
                    progress,
                    position,
                    nodes,
                    given,
                }),
                Some(book),
            ) if !answer.is_empty() => {
                let reply = given.unwrap_or_else(|| answer.clone());
                let stored = Box::new(move |result: Result<(), String>| {
                    progress.end(result.map(|()| (reply, nodes)));
                });
                book.send(Command::Store(id, Box::new(position), answer, stored));
            }
            (Some(Destination::Analysis { progress, .. }), _) => {
                progress.end(Err("no part of the answer could be verified".into()));
                self.scheduler.settle(id);
            }
            _ => self.scheduler.settle(id),
        }
    }

    fn reject(&mut self, id: QuestionId) {
        self.scheduler.settle(id);
        match self.unverified.remove(&id) {
            Some(Destination::Build(work, _)) => {
                if let Some(book) = &self.book {
                    book.send(Command::Release(Box::new(work)));
                }
            }
            Some(Destination::Analysis { progress, .. }) => {
                progress.end(Err("the answer was found to be wrong; ask again".into()));
            }
            None => {}
        }
    }

    fn ask_again(
        &mut self,
        check: CheckId,
        question: Question,
        priority: u64,
        except: Vec<WorkerId>,
    ) {
        let id = self
            .scheduler
            .submit_check(self.now, question, priority, except);
        self.checks.insert(check, id);
        self.purposes.insert(id, Purpose::Check(check));
    }
}
