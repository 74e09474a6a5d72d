//! The notation of moves, as an argument.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use kagetsu_game::Notation;

/// The notation in which a command writes moves. All notations are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotationArg(pub Notation);

impl ValueEnum for NotationArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [NotationArg; 3] = [
            NotationArg(Notation::ALL[0]),
            NotationArg(Notation::ALL[1]),
            NotationArg(Notation::ALL[2]),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            Notation::Engine => "As engines write them: h2e2",
            Notation::Wxf => "WXF: C2=5",
            Notation::Chinese => "Chinese: 炮二平五",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}
