#![no_main]

use kagetsu_parsers::gomoku_line;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &str)| gomoku_line(input));
