#![no_main]

use kagetsu_parsers::fen;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| fen(input));
