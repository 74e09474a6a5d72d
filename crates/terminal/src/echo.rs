//! Settings of the terminal below a live display.

/// Suppresses the `^C` that the terminal writes at Ctrl-C, while it lives. The `^C` would move the
/// cursor, so that the live display could not be removed.
pub struct EchoOff {
    /// Whether this value turned the echo off and has to turn it on again.
    is_ours: bool,
}

impl EchoOff {
    /// Turns the echo off; does nothing without a terminal, or in the background.
    #[must_use]
    pub fn start() -> Self {
        Self {
            is_ours: echo_control(false) == Some(true),
        }
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        if self.is_ours {
            echo_control(true);
        }
    }
}

/// Sets whether typed control characters are echoed, and returns the former setting. Returns `None`
/// in the background, where the system would stop a process that changes its terminal.
#[cfg(unix)]
fn echo_control(wanted: bool) -> Option<bool> {
    use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
    use nix::unistd::{getpgrp, tcgetpgrp};

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

/// A console of Windows writes nothing at Ctrl-C.
#[cfg(windows)]
fn echo_control(_: bool) -> Option<bool> {
    None
}
