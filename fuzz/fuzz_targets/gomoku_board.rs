#![no_main]

use kagetsu_parsers::gomoku_board;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, Option<bool>, &str)| gomoku_board(input));
