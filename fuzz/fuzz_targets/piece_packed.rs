#![no_main]

use kagetsu_parsers::piece_packed;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| piece_packed(input));
