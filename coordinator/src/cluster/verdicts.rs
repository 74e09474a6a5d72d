//! The effects of the verification.

use kagetsu_book::JobId;
use kagetsu_game::{Answer, Question};
use kagetsu_schedule::{QuestionId, WorkerId};
use kagetsu_verification::{CheckId, Decision};

use super::dispatcher::Dispatcher;
use super::purpose::{Analysis, Purpose};
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
        let strategies = match self.scheduler.payload_mut(id) {
            Some(Purpose::Build(_, strategies)) => std::mem::take(strategies),
            _ => Vec::new(),
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
        match (self.scheduler.take_payload(id), &self.book) {
            (Some(Purpose::Build(work, _)), Some(book)) => {
                book.send(Command::Finish(id, Box::new(work), answer));
            }
            (
                Some(Purpose::Analysis(Analysis {
                    progress,
                    kept: Some(question),
                    nodes,
                    given,
                })),
                Some(book),
            ) if !answer.is_empty() => {
                let reply = given.unwrap_or_else(|| answer.clone());
                let stored = Box::new(move |result: Result<(), String>| {
                    progress.end(result.map(|()| (reply, nodes)));
                });
                let position = Box::new(question.position);
                book.send(Command::Store(id, position, answer, stored));
            }
            (Some(Purpose::Analysis(analysis)), _) => {
                let reason = "no part of the answer could be verified";
                analysis.progress.end(Err(reason.into()));
                self.scheduler.settle(id);
            }
            _ => self.scheduler.settle(id),
        }
    }

    fn reject(&mut self, id: QuestionId) {
        match self.scheduler.take_payload(id) {
            Some(Purpose::Build(work, _)) => {
                if let Some(book) = &self.book {
                    book.send(Command::Release(Box::new(work)));
                }
            }
            Some(Purpose::Analysis(analysis)) => {
                let reason = "the answer was found to be wrong; ask again";
                analysis.progress.end(Err(reason.into()));
            }
            Some(Purpose::Check(_)) | None => {}
        }
        self.scheduler.settle(id);
    }

    fn ask_again(
        &mut self,
        check: CheckId,
        question: Question,
        priority: u64,
        except: Vec<WorkerId>,
    ) {
        let purpose = Purpose::Check(check);
        let id = self
            .scheduler
            .submit_check(self.now, question, priority, except, purpose);
        self.checks.insert(check, id);
    }
}
