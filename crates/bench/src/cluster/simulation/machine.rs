use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result};
use kagetsu_game::{Answer, Question};
use kagetsu_schedule::TaskRole;
use kagetsu_search::{Control, Engine, EngineError, EngineOptions};

/// What a search says when it stops for a moment.
pub(crate) enum Word {
    /// It has visited so many positions more, and waits to be told to go on.
    Visited(u64),
    /// It is done.
    Done(Result<Answer, EngineError>),
}

struct Job {
    question: Question,
    role: TaskRole,
    control: Control,
}

/// A real engine on a thread of its own, which takes a step when it is told to and waits otherwise.
pub(crate) struct Machine {
    jobs: Option<Sender<Job>>,
    go: Sender<()>,
    going: Arc<Mutex<Receiver<()>>>,
    say: Sender<Word>,
    words: Receiver<Word>,
    thread: Option<JoinHandle<()>>,
}

impl Machine {
    pub(crate) fn new(options: EngineOptions) -> Result<Self> {
        let mut engine = Engine::new(options)?;
        let (jobs, todo) = channel::<Job>();
        let (go, going) = channel();
        let (say, words) = channel();
        let done = say.clone();
        let work = move || {
            while let Ok(Job {
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

    /// Begins a search; its first word.
    pub(crate) fn begin(&self, question: Question, role: TaskRole) -> Result<(Control, Word)> {
        let (say, going) = (self.say.clone(), Arc::clone(&self.going));
        let control = Control::paced(move |nodes| {
            // Who has gone does not keep a search waiting.
            if say.send(Word::Visited(nodes)).is_ok() {
                let _ = going.lock().unwrap_or_else(PoisonError::into_inner).recv();
            }
        });
        if let TaskRole::Member { number, of } = role {
            // Before its first words.
            control.share(number.into(), of.into());
        }
        let job = Job {
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
        // A search that waits for its next step is told to go on until it ends.
        while self
            .thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
        {
            let _ = self.go.send(());
            std::thread::yield_now();
        }
        if let Some(thread) = self.thread.take() {
            // A panic in it has been seen as an engine that ended.
            let _ = thread.join();
        }
    }
}
