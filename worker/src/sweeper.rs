//! Files are removed on a thread of their own: a disk that stands still holds up nobody else.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

use crate::LAST_WORDS;

/// The thread; dropped, it does what it was told before, and is waited for, but not for long.
#[derive(Debug)]
pub(crate) struct Sweeper {
    /// `None` only while it is dropped.
    told: Option<Sender<PathBuf>>,
    /// Hung up when all is done.
    done: Mutex<Receiver<()>>,
}

impl Sweeper {
    /// With how a file is removed.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub(crate) fn start(mut remove: impl FnMut(&Path) + Send + 'static) -> io::Result<Self> {
        let (told, files) = channel::<PathBuf>();
        let (working, done) = channel();
        Builder::new().name("sweeper".into()).spawn(move || {
            let _working: Sender<()> = working;
            files.iter().for_each(|file| remove(&file));
        })?;
        Ok(Self {
            told: Some(told),
            done: Mutex::new(done),
        })
    }

    /// Removes a file, by and by; returns at once.
    pub(crate) fn remove(&self, file: PathBuf) {
        if let Some(told) = &self.told {
            // The thread ends only with this.
            let _ = told.send(file);
        }
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.told = None;
        if let Ok(done) = self.done.get_mut() {
            let _ = done.recv_timeout(LAST_WORDS);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn nobody_waits_for_a_disk_that_stands_still_and_then_all_is_removed() {
        let (let_go, held) = channel::<()>();
        let (gone, removed) = channel();
        let sweeper = Sweeper::start(move |file| {
            // Until it is let go, and from then on at once.
            let _ = held.recv();
            gone.send(file.to_path_buf()).expect("somebody looks");
        });
        let sweeper = sweeper.expect("a thread");
        let files = ["a", "b", "c"].map(PathBuf::from);
        files.iter().for_each(|file| sweeper.remove(file.clone()));
        // Were it done here, this would never be reached.
        assert!(removed.try_recv().is_err());
        drop(let_go);
        drop(sweeper);
        assert_eq!(removed.iter().collect::<Vec<_>>(), files);
    }
}
