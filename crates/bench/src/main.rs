//! The program behind `kagetsu bench`.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use kagetsu_bench::BenchCli;
use mimalloc::MiMalloc;

/// The allocator of the programs that are measured.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    kagetsu_program::run("kagetsu bench", || {
        let cli: BenchCli = kagetsu_program::parse()?;
        let mut out = std::io::BufWriter::new(std::io::stdout());
        let exit = cli.run(&mut out)?;
        out.flush()?;
        Ok(exit)
    })
}
