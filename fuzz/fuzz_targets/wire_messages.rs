#![no_main]

use kagetsu_parsers::wire_messages;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wire_messages(bytes));
