//! The engine `ucci-kagetsu`, which interfaces of xiangqi start without arguments.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    kagetsu_brain::EngineProgram::Ucci.run()
}
