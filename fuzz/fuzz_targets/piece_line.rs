#![no_main]

use kagetsu_parsers::piece_line;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| piece_line(input));
