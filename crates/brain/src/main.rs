//! The engine `pbrain-kagetsu`, which managers of gomoku games start without arguments.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    kagetsu_brain::EngineProgram::Gomocup.run()
}
