use std::io::Write;
use std::sync::Arc;

use parking_lot::Mutex;

/// The output of an engine: whole lines, each flushed at once, from any thread.
pub(crate) type EngineOutput = Arc<Mutex<dyn Write + Send>>;

/// Writes a line. Errors are ignored, because the end of stdin ends the engine.
pub(crate) fn say(output: &EngineOutput, line: &str) {
    let mut out = output.lock();
    // The reader of stdin also ends when the manager has gone.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
