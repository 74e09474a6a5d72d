#![no_main]

use kagetsu_parsers::gomoku_packed;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &[u8])| gomoku_packed(input));
