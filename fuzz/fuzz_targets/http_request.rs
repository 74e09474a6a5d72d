#![no_main]

use kagetsu_parsers::http_request;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &str, &[u8])| http_request(input));
