use std::io::Write;

use anyhow::{Result, bail};
use kagetsu_game::{Effort, Position, Question, Variant};
use kagetsu_search::{Control, Engine, EngineOptions, Feature, seeds};

use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;
use serde::Serialize;

/// Openings and middle games of xiangqi, out of games of masters.
const XIANGQI: [&str; 6] = [
    "",
    "h2e2 h9g7 h0g2 i9h9 b0c2 b9c7 i0h0 h7i7",
    "c3c4 b7c7 h2e2 c9e7 h0g2 i9i8 i0h0 i8b8 b0c2",
    "g0e2 b9c7 g3g4 c6c5 h0g2 c7d5 b0a2 h7e7 f0e1 h9g7 g2h4 e7e3 b2d2 b7b4 h4g6 i9h9",
    "h2e2 h9g7 h0g2 i9h9 c3c4 g6g5 b0c2 b9c7 b2b4 c9e7 g3g4 g5g4 b4g4 g7h5 a0b0 a9b9 b0b6 h9h8 e3e4 h8f8",
    "h2e2 b9c7 h0g2 h7f7 g3g4 h9g7 b2c2 i9h9 b0a2 a9b9 a0b0 b7b3 c3c4 h9h5 i0h0 h5d5 c2c6 c9e7 e2f2 d5d6",
];

/// Positions visited to a depth with each part of the search left out in turn
///
/// Example: kagetsu bench mechanisms --variant xiangqi --depth 8
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// xiangqi or freestyle-15
    #[arg(long, default_value_t = Variant::XIANGQI)]
    variant: Variant,
    /// Depth of each search
    #[arg(long, default_value_t = 8)]
    depth: u8,
    /// Settings of the engine; see `bench match --help`
    #[arg(long = "settings", default_value = "default", value_name = "SETTINGS")]
    engine: EngineOptions,
    /// Prints one JSON array
    #[arg(long)]
    json: bool,
}

/// The searches without one part.
#[derive(Serialize)]
struct MechanismJson {
    without: &'static str,
    positions: u64,
    ratio: f64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let positions = positions(args.variant)?;
    let (count, depth, variant) = (positions.len(), args.depth, args.variant);
    let measured = measure(args, &positions)?;
    if args.json {
        return write_json(out, &measured);
    }
    writeln!(
        out,
        "{count} positions of {variant} to depth {depth}, engine {}; each row leaves out one part",
        args.engine
    )?;
    writeln!(
        out,
        "of the search. Fewer positions are no gain where a part makes the search see more.\n"
    )?;
    let mut rows = table::plain(&["without", "positions", "ratio"]);
    for MechanismJson {
        without,
        positions,
        ratio,
    } in measured
    {
        rows.add_row([
            without.to_string(),
            positions.to_string(),
            format!("{ratio:.2}"),
        ]);
    }
    table::align_right(&mut rows, &[1, 2]);
    table::write(out, &rows)?;
    Ok(())
}

fn measure(args: &Args, positions: &[Position]) -> Result<Vec<MechanismJson>> {
    let engines = std::iter::once(("nothing", args.engine))
        .chain([(
            "table",
            EngineOptions {
                table_bytes: 0,
                ..args.engine
            },
        )])
        .chain(Feature::ALL.map(|m| {
            (
                m.name(),
                EngineOptions {
                    without: args.engine.without.with(m),
                    ..args.engine
                },
            )
        }));
    let (mut measured, mut whole) = (Vec::new(), None);
    for (without, options) in engines {
        let visited = visited(options, positions, args.depth)?;
        measured.push(MechanismJson {
            without,
            positions: visited,
            ratio: visited as f64 / *whole.get_or_insert(visited) as f64,
        });
    }
    Ok(measured)
}

fn positions(variant: Variant) -> Result<Vec<Position>> {
    match variant {
        Variant::FREESTYLE_15 => Ok(seeds::positions()?),
        Variant::Xiangqi { .. } => Ok(XIANGQI
            .map(|line| Position::from_line(variant, line))
            .into_iter()
            .collect::<Result<_, _>>()?),
        _ => bail!("there are positions of xiangqi and freestyle-15 only, not of {variant}"),
    }
}

/// Positions visited in all searches, by a fresh engine each time.
fn visited(options: EngineOptions, positions: &[Position], depth: u8) -> Result<u64> {
    let mut engine = Engine::new(options)?;
    let mut visited = 0;
    for position in positions {
        let control = Control::new();
        engine.answer(
            &Question::new(position.clone(), Effort::depth(depth)),
            &control,
            &mut |_| {},
        )?;
        visited += control.nodes();
    }
    Ok(visited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_row() {
        for variant in [Variant::XIANGQI, Variant::FREESTYLE_15] {
            let mut out = Vec::new();
            let args = Args {
                variant,
                depth: 2,
                engine: EngineOptions::default(),
                json: false,
            };
            run(&args, &mut out).expect("positions that can be searched");
            let text = String::from_utf8(out).expect("text");
            for mechanism in Feature::ALL {
                assert!(
                    text.lines()
                        .any(|line| line.trim_start().starts_with(mechanism.name())),
                    "{text}"
                );
            }
        }
    }
}
