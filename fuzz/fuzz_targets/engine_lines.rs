#![no_main]

use kagetsu_parsers::engine_lines;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| engine_lines(text));
