use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result};
use kagetsu_game::{Answer, Question};
use kagetsu_schedule::TaskRole;
use kagetsu_search::{Control, Engine, EngineError, EngineOptions};

/// A message of a search that pauses or ends.
pub(crate) enum Word {
    /// It has visited this many more positions, and waits.
    Visited(u64),
    /// It has ended.
    Done(Result<Answer, EngineError>),
}

struct SearchJob {
    question: Question,
    role: TaskRole,
    control: Control,
}

/// A real engine on a thread of its own, which waits between the steps that the caller requests.
pub(crate) struct Machine {
    jobs: Option<Sender<SearchJob>>,
    go: Sender<()>,
    going: Arc<Mutex<Receiver<()>>>,
    say: Sender<Word>,
    words: Receiver<Word>,
    thread: Option<JoinHandle<()>>,
}

impl Machine {
    pub(crate) fn new(options: EngineOptions) -> Result<Self> {
        let mut engine = Engine::new(options)?;
        let (jobs, todo) = channel::<SearchJob>();
        let (go, going) = channel();
        let (say, words) = channel();
        let done = say.clone();
        let work = move || {
            while let Ok(SearchJob {
                question,
                role,
                control,
            }) = todo.recv()
            {
                let answer = match role {
                    TaskRole::Whole => engine.answer(&question, &control, &mut |_| {}),
                    TaskRole::Member { number, of } => {
                        engine.share(&question, (number.into(), of.into()), &control, &mut |_| {})
                    }
                };
                if done.send(Word::Done(answer)).is_err() {
                    return;
                }
            }
        };
        let thread = Some(Builder::new().name("simulated".into()).spawn(work)?);
        Ok(Self {
            jobs: Some(jobs),
            go,
            going: Arc::new(Mutex::new(going)),
            say,
            words,
            thread,
        })
    }

    /// Begins a search and returns its first message.
    pub(crate) fn begin(&self, question: Question, role: TaskRole) -> Result<(Control, Word)> {
        let (say, going) = (self.say.clone(), Arc::clone(&self.going));
        let control = Control::paced(move |nodes| {
            // Without a receiver the search does not wait.
            if say.send(Word::Visited(nodes)).is_ok() {
                let _ = going.lock().unwrap_or_else(PoisonError::into_inner).recv();
            }
        });
        if let TaskRole::Member { number, of } = role {
            // The search must share from its first message on.
            control.share(number.into(), of.into());
        }
        let job = SearchJob {
            question,
            role,
            control: control.clone(),
        };
        self.jobs
            .as_ref()
            .context("the engine has ended")?
            .send(job)
            .context("the engine has ended")?;
        Ok((control, self.hear()?))
    }

    /// Lets the search take a step.
    pub(crate) fn step(&self) -> Result<Word> {
        self.go.send(()).context("the engine has ended")?;
        self.hear()
    }

    fn hear(&self) -> Result<Word> {
        self.words.recv().context("the engine has ended")
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.jobs = None;
        // A search that waits for its next step gets steps until it ends.
        while self
            .thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
        {
            let _ = self.go.send(());
            std::thread::yield_now();
        }
        if let Some(thread) = self.thread.take() {
            // The caller has already reported a panic of the thread as an ended engine.
            let _ = thread.join();
        }
    }
}
