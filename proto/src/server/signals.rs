use std::io;

/// Returns a future that ends when the system or a person asks the program to stop: at Ctrl-C, and
/// at SIGTERM or, on Windows, when the console is closed or the machine shuts down.
///
/// # Errors
/// If the handler of a signal cannot be installed.
#[cfg(unix)]
pub fn stop_requested() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}

/// Returns a future that ends at Ctrl-C, Ctrl-Break, the end of the console or of the session.
#[cfg(windows)]
pub fn stop_requested() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::windows;
    let (mut int, mut end) = (windows::ctrl_c()?, windows::ctrl_break()?);
    let (mut close, mut shutdown) = (windows::ctrl_close()?, windows::ctrl_shutdown()?);
    Ok(async move {
        tokio::select! {
            _ = int.recv() => {}
            _ = end.recv() => {}
            _ = close.recv() => {}
            _ = shutdown.recv() => {}
        }
    })
}

/// Calls a function on every SIGHUP from now on, which asks a server to read its files again.
/// Windows has no such signal.
///
/// # Errors
/// If the handler of the signal cannot be installed.
#[cfg(unix)]
pub fn on_hangup(call: impl Fn() + Send + 'static) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangups = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            call();
        }
    });
    Ok(())
}

/// Does nothing: Windows has no signal that asks a server to read its files again.
#[cfg(windows)]
pub fn on_hangup(_: impl Fn() + Send + 'static) -> io::Result<()> {
    Ok(())
}
