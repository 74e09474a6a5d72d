//! Lines of UCI, UCCI and Gomocup, as engines and as managers write them.

use kagetsu_engines::uci::Dialect;
use kagetsu_engines::{EngineAddress, OptionValue, gomocup, uci};

/// Asserts that lines of engines and of managers are read the same when they are written again.
pub fn engine_lines(text: &str) {
    for dialect in [Dialect::Uci, Dialect::Ucci] {
        let sent = uci::ToEngine::read(dialect, text);
        assert_eq!(uci::ToEngine::read(dialect, &sent.write(dialect)), sent);
        let _ = uci::FromEngine::read(dialect, text).write(dialect);
    }
    let sent = gomocup::ToEngine::read(text);
    assert_eq!(gomocup::ToEngine::read(&sent.write()), sent);
    let _ = gomocup::FromEngine::read(text).write();
    let _ = (
        gomocup::Eval::read(text),
        text.parse::<EngineAddress>(),
        text.parse::<OptionValue>(),
    );
}
