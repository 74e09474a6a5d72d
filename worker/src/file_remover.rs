//! Removes files on a thread of its own, so that a disk that hangs delays nothing else.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

use parking_lot::Mutex;

use crate::GOODBYE_TIMEOUT;

/// The thread. Dropping it waits until the files are removed, at most [`GOODBYE_TIMEOUT`].
#[derive(Debug)]
pub(crate) struct FileRemover {
    /// `None` only while it is dropped.
    files: Option<Sender<PathBuf>>,
    /// Disconnected when the thread has ended.
    ended: Mutex<Receiver<()>>,
}

impl FileRemover {
    /// Starts a thread that calls `remove` for each file.
    ///
    /// # Errors
    /// If the system starts no more threads.
    pub(crate) fn start(mut remove: impl FnMut(&Path) + Send + 'static) -> io::Result<Self> {
        let (sender, files) = channel::<PathBuf>();
        let (running, ended) = channel();
        Builder::new().name("file-remover".into()).spawn(move || {
            let _running: Sender<()> = running;
            files.iter().for_each(|file| remove(&file));
        })?;
        Ok(Self {
            files: Some(sender),
            ended: Mutex::new(ended),
        })
    }

    /// Removes a file later; returns at once.
    pub(crate) fn remove(&self, file: PathBuf) {
        if let Some(files) = &self.files {
            // The thread ends only after this sender.
            let _ = files.send(file);
        }
    }
}

impl Drop for FileRemover {
    fn drop(&mut self) {
        self.files = None;
        let _ = self.ended.get_mut().recv_timeout(GOODBYE_TIMEOUT);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn removing_does_not_wait_for_the_disk() {
        let (release, held) = channel::<()>();
        let (log, removed) = channel();
        let remover = FileRemover::start(move |file| {
            // Hangs until the sender is dropped.
            let _ = held.recv();
            log.send(file.to_path_buf()).expect("the test listens");
        });
        let remover = remover.expect("a thread");
        let files = ["a", "b", "c"].map(PathBuf::from);
        files.iter().for_each(|file| remover.remove(file.clone()));
        assert!(removed.try_recv().is_err(), "the disk hangs");
        drop(release);
        drop(remover);
        assert_eq!(removed.iter().collect::<Vec<_>>(), files);
    }
}
