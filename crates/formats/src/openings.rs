//! Files of openings: root positions for `build --roots`.

use std::path::Path;

use anyhow::{Context, Result, bail};
use kagetsu_files::read_text;
use kagetsu_game::{Position, Variant};
use serde::Deserialize;

/// Reads the openings of a file, one a line. Blank lines and text after `#` are skipped.
///
/// A line holds moves (`h8 i9 h9`), a FEN (with the operations or comments of EPD), or pairs of
/// offsets from the centre as in the opening lists of Gomocup and Piskvork (`0,0, 1,-1, 3,2`:
/// columns to the right, then rows DOWN; the centre of an even board is the point right of and
/// below the middle). A `.json` file holds
/// `{"size": 15, "coordinateSystem": "center-relative-x-y", "openings": [{"id": "..",
/// "coordinates": [[0, 0], ..]}, ..]}`; with `board-row-column` the coordinates are rows from the
/// top and columns, both from 0.
///
/// # Errors
/// The first invalid line or opening, by its number or id.
pub fn read(path: &Path, variant: Variant) -> Result<Vec<Position>> {
    let text = read_text(path)
        .with_context(|| format!("cannot read the roots file {}", path.display()))?;
    named(path, openings_of(path, &text, variant))
}

fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("json"))
}

/// Reads the openings of a text; see [`read`].
fn openings_of(path: &Path, text: &str, variant: Variant) -> Result<Vec<Position>> {
    let openings = if is_json(path) {
        of_json(text, variant)?
    } else {
        of_lines(text, variant)?
    };
    if openings.is_empty() {
        bail!("it holds no position");
    }
    Ok(openings)
}

fn named<T>(path: &Path, result: Result<T>) -> Result<T> {
    result.with_context(|| format!("roots file {}", path.display()))
}

/// Reads openings, one a line; see [`read`].
///
/// # Errors
/// The first invalid line, by its number.
pub fn of_lines(text: &str, variant: Variant) -> Result<Vec<Position>> {
    let mut roots = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = bare(line);
        if line.is_empty() {
            continue;
        }
        let is_offsets = line.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let root = match variant.gomoku() {
            Some((_, size)) if is_offsets => of_offsets(&pairs(line), variant, size),
            // A FEN has a slash, a move has none.
            None if line.contains('/') => {
                Position::from_fen(variant, split_fen(line).0).map_err(Into::into)
            }
            _ => Position::from_line(variant, line).map_err(Into::into),
        };
        roots.push(root.with_context(|| format!("line {}", index + 1))?);
    }
    Ok(roots)
}

/// Removes a comment, and the quotation marks and comma of a list in source code.
pub fn bare(line: &str) -> &str {
    let line = line.split('#').next().unwrap_or_default().trim();
    let inside = |mark: char| {
        line.strip_prefix(mark)?
            .trim_end_matches(',')
            .strip_suffix(mark)
    };
    inside('\'').or_else(|| inside('"')).unwrap_or(line).trim()
}

/// Splits a line of EPD into its FEN and the operations or comments behind it, which a semicolon
/// may begin.
pub(crate) fn split_fen(line: &str) -> (&str, &str) {
    let mut end = 0;
    for (number, word) in line.split_whitespace().enumerate() {
        let bare = word.trim_end_matches(';');
        let is_count = bare == "-" || bare.bytes().all(|byte| byte.is_ascii_digit());
        if bare.is_empty() || number > 1 && !is_count {
            break;
        }
        let begin = word.as_ptr() as usize - line.as_ptr() as usize;
        end = begin + bare.len();
        if bare.len() < word.len() {
            break;
        }
    }
    let (fen, rest) = line.split_at(end);
    (fen, rest.trim_start_matches([';', ' ', '\t']))
}

fn pairs(line: &str) -> Vec<Vec<i32>> {
    let number = |text: &str| text.trim().parse().unwrap_or(i32::MAX);
    let numbers: Vec<i32> = line
        .split(',')
        .filter(|text| !text.trim().is_empty())
        .map(number)
        .collect();
    numbers.chunks(2).map(<[i32]>::to_vec).collect()
}

fn of_offsets(offsets: &[Vec<i32>], variant: Variant, size: u8) -> Result<Position> {
    let size = i32::from(size);
    let mut position = Position::start(variant);
    for (index, pair) in offsets.iter().enumerate() {
        let number = index + 1;
        let &[dx, dy] = pair.as_slice() else {
            bail!("move {number}: an offset is a pair of whole numbers")
        };
        if dx == i32::MAX || dy == i32::MAX {
            bail!("move {number}: an offset is a pair of whole numbers");
        }
        let (column, row) = (size / 2 + dx, size - 1 - (size / 2 + dy));
        if !(0..size).contains(&column) || !(0..size).contains(&row) {
            bail!("move {number}: the offset {dx},{dy} is off the board of {variant}");
        }
        let m = kagetsu_game::Move::new((row * size + column) as u16);
        position = position.play(m).with_context(|| format!("move {number}"))?;
    }
    Ok(position)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpeningFile {
    size: u8,
    coordinate_system: String,
    openings: Vec<Opening>,
}

#[derive(Deserialize)]
struct Opening {
    id: String,
    coordinates: Vec<Vec<i32>>,
}

/// Reads the openings of a JSON file; see [`read`].
///
/// # Errors
/// The first invalid opening, by its id.
pub fn of_json(text: &str, variant: Variant) -> Result<Vec<Position>> {
    let file: OpeningFile = serde_json::from_str(text).context("not a list of openings")?;
    let size = match variant.gomoku() {
        Some((_, size)) if size == file.size => size,
        _ => bail!(
            "its openings are for a gomoku board of size {}, not for {variant}",
            file.size
        ),
    };
    let half = i32::from(size / 2);
    let offset: fn(&Vec<i32>, i32) -> Vec<i32> = match file.coordinate_system.as_str() {
        "center-relative-x-y" => |pair, _| pair.clone(),
        // The subtraction saturates, so that an invalid number stays invalid.
        "board-row-column" => |pair, half| {
            pair.iter()
                .rev()
                .map(|at| at.saturating_sub(half))
                .collect()
        },
        system => bail!(
            "unknown coordinate system '{system}'; center-relative-x-y and board-row-column are known"
        ),
    };
    let root = |opening: &Opening| {
        let offsets: Vec<_> = opening
            .coordinates
            .iter()
            .map(|pair| offset(pair, half))
            .collect();
        of_offsets(&offsets, variant, size).with_context(|| format!("opening {}", opening.id))
    };
    file.openings.iter().map(root).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Vec<String>, String> {
        let roots = of_lines(text, Variant::FREESTYLE_15).map_err(|error| format!("{error:#}"))?;
        Ok(roots.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_line_is_moves_or_offsets() {
        let text = "# roots\n'h8 i9',\n\n0,0, 1,-1, 3,2 # rows go down\n \"-7,7\"\n";
        let expected = [
            "freestyle-15 h8 i9",
            "freestyle-15 h8 i9 k6",
            "freestyle-15 a1",
        ];
        assert_eq!(lines(text), Ok(expected.map(String::from).to_vec()));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, expected) in [
            ("h8\nh8 h8", "line 2: move 2: h8 is taken"),
            (
                "0,0, 8,0",
                "line 1: move 2: the offset 8,0 is off the board of freestyle-15",
            ),
            (
                "0,0, 1",
                "line 1: move 2: an offset is a pair of whole numbers",
            ),
            (
                "1,x",
                "line 1: move 1: an offset is a pair of whole numbers",
            ),
            (
                "z9",
                "line 1: move 1: 'z9' is off the board of freestyle-15",
            ),
        ] {
            assert_eq!(lines(text), Err(expected.to_string()));
        }
    }

    #[test]
    fn a_line_is_a_fen_where_there_are_pieces() {
        let text = "h2e2 h9g7\n4k4/9/9/9/9/9/9/R8/1R7/4K4 w\n";
        for behind in [
            "; 01. a name",
            " - - 0 1 ; 01. a name",
            " - - bm b2b3; id \"x\";",
            ";",
        ] {
            let line = format!("4k4/9/9/9/9/9/9/R8/1R7/4K4 w{behind}");
            let root = of_lines(&line, Variant::XIANGQI).map(|roots| roots.len());
            assert!(matches!(root, Ok(1)), "{line}: {root:?}");
        }
        let roots = of_lines(text, Variant::XIANGQI).expect("two positions");
        let fens: Vec<_> = roots
            .iter()
            .map(|root| root.fen().expect("pieces"))
            .collect();
        assert!(
            fens[0].contains(" w ") && fens[1].starts_with("4k4/9/9/9/9/9/9/R8/1R7/4K4 w"),
            "{fens:?}"
        );
        let wrong = of_lines("4k4/9/9 w", Variant::XIANGQI).map_err(|error| format!("{error:#}"));
        assert!(
            wrong
                .as_ref()
                .is_err_and(|error| error.starts_with("line 1: ")),
            "{wrong:?}"
        );
        assert!(
            of_lines("4k4/9/9 w", Variant::FREESTYLE_15).is_err(),
            "gomoku has no FEN"
        );
    }

    #[test]
    fn openings_come_as_json_too() {
        let text = r#"{"size": 15, "coordinateSystem": "center-relative-x-y", "openings": [{"id": "a", "coordinates": [[0,0],[1,-1]]}]}"#;
        let roots = of_json(text, Variant::FREESTYLE_15).expect("well formed");
        assert_eq!(roots[0].to_string(), "freestyle-15 h8 i9");
        let rows = text
            .replace("center-relative-x-y", "board-row-column")
            .replace("[0,0],[1,-1]", "[7,7],[6,8]");
        assert_eq!(
            of_json(&rows, Variant::FREESTYLE_15).expect("well formed")[0].to_string(),
            "freestyle-15 h8 i9"
        );
        let off = rows.replace("[6,8]", "[6,15]");
        assert!(
            format!(
                "{:#}",
                of_json(&off, Variant::FREESTYLE_15).expect_err("off")
            )
            .contains("off the board")
        );
        let other = "freestyle-20".parse().expect("a variant");
        assert!(
            format!("{:#}", of_json(text, other).expect_err("size")).contains("board of size 15")
        );
    }
}
