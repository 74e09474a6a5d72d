//! The terminal below what is drawn in place.

use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, tcgetpgrp};

/// While it lives, Ctrl-C at the keyboard writes no `^C` on the terminal of stderr. That would move the cursor away from what
/// is drawn there, so that the last drawing could not be wiped off.
pub(crate) struct Unechoed {
    /// Whether it is for us to write them again.
    is_ours: bool,
}

impl Unechoed {
    /// Does nothing where there is no terminal, or another process has it.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self {
            is_ours: echo_control(false) == Some(true),
        }
    }
}

impl Drop for Unechoed {
    fn drop(&mut self) {
        if self.is_ours {
            echo_control(true);
        }
    }
}

/// Whether control characters were written when they are typed, as from now on they are if `wanted`. `None` if that was not
/// ours to say: the system stops a process of the background that sets its terminal.
fn echo_control(wanted: bool) -> Option<bool> {
    let terminal = std::io::stderr();
    if tcgetpgrp(&terminal).ok()? != getpgrp() {
        return None;
    }
    let mut settings = tcgetattr(&terminal).ok()?;
    let before = settings.local_flags.contains(LocalFlags::ECHOCTL);
    settings.local_flags.set(LocalFlags::ECHOCTL, wanted);
    tcsetattr(&terminal, SetArg::TCSANOW, &settings).ok()?;
    Some(before)
}
