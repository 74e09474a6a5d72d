use xshell::Cmd;

/// Returns the words of a command line, as in `words!("query --book {book} --moves 'h8 i9'")`. A
/// variable in braces is one word, `{more...}` stands for several.
#[macro_export]
macro_rules! words {
    ($line:tt) => {{
        let shell = $crate::xshell::Shell::new().expect("a folder to run in");
        $crate::words_of($crate::xshell::cmd!(shell, $line))
    }};
}

/// Runs the command line with the words of a line, as in `kagetsu!("check --book {book}")`; see
/// [`words!`].
#[macro_export]
macro_rules! kagetsu {
    ($line:tt) => {
        $crate::Program::Kagetsu.run(&$crate::words!($line))
    };
}

/// Returns the words of a command for [`words!`].
#[must_use]
pub fn words_of(command: Cmd<'_>) -> Vec<String> {
    let command = std::process::Command::from(command);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_str().expect("text").to_string())
        .collect()
}
