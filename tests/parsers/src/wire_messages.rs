//! Messages of the wire, as a faulty peer may send them.

use kagetsu_game::{Answer, Position, Question};
use kagetsu_proto::v1;
use prost::Message;

/// Asserts that messages of the wire are the same after they were read and written.
pub fn wire_messages(bytes: &[u8]) {
    if let Ok(message) = v1::Position::decode(bytes)
        && let Ok(position) = Position::try_from(&message)
    {
        let again = v1::Position::from(&position);
        assert_eq!(
            Position::try_from(&again).expect("it was one").key(),
            position.key()
        );
    }
    if let Ok(message) = v1::Question::decode(bytes)
        && let Ok(question) = Question::try_from(&message)
    {
        assert_eq!(
            Question::try_from(&v1::Question::from(&question)).expect("it was one"),
            question
        );
    }
    if let Ok(message) = v1::Answer::decode(bytes)
        && let Ok(answer) = Answer::try_from(&message)
    {
        assert_eq!(
            Answer::try_from(&v1::Answer::from(&answer)).expect("it was one"),
            answer
        );
    }
    let _ = (
        v1::FromWorker::decode(bytes),
        v1::ToWorker::decode(bytes),
        v1::StartRequest::decode(bytes),
    );
}
