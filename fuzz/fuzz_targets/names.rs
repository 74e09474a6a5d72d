#![no_main]

use kagetsu_parsers::names;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u32, &str)| names(input));
