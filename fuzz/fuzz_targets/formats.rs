#![no_main]

use kagetsu_parsers::formats;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| formats(bytes));
