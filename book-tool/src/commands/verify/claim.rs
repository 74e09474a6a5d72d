//! Verification of a tree of games that claims a win.

use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use kagetsu_formats::{Importer, write_omissions};
use kagetsu_game::{Position, Side};
use kagetsu_program::{Exit, shown};
use kagetsu_proofs::{ClaimFindings, check_claimed_win};
use serde::Serialize;

use super::arguments::Args;
use crate::arguments::path::open;
use crate::output::progress::{POSITIONS_DONE, bar};

#[derive(Serialize)]
struct ClaimJson {
    holds: bool,
    /// The side that wins by the claim.
    winner: String,
    position: String,
    /// The numbers of gaps, of which `--list` are named.
    missing: usize,
    open: usize,
    #[serde(flatten)]
    findings: ClaimFindings,
    time_ms: u64,
}

pub(super) fn verify_claim(
    args: &Args,
    file: &Path,
    winner: Side,
    out: &mut dyn Write,
) -> Result<Exit> {
    let name = shown(file);
    let mut bytes = Vec::new();
    open(file)?.read_to_end(&mut bytes)?;
    let mut importer = Importer::new(None, args.variant);
    importer.set_source(&file.to_string_lossy());
    importer.add(&bytes).with_context(|| name.clone())?;
    let contents = importer.finish();
    write_omissions(&contents.omissions, &mut std::io::stderr())?;
    let tree = contents.answers;
    let positions = tree.iter().map(|(position, _)| position);
    let first = positions.min_by_key(|position| position.canonical().stones);
    let first = first.with_context(|| format!("{name}: it has no move"))?;
    let root = match &args.moves {
        Some(line) => Position::from_line(first.variant(), line).context("--moves")?,
        None => first.clone(),
    };
    let begun = Instant::now();
    let bar = bar(Some(tree.len() as u64), POSITIONS_DONE);
    let progress = |done| bar.set_position(done);
    let found = check_claimed_win(&tree, &root, winner, args.nodes, &progress);
    bar.finish_and_clear();
    let mut findings = found.with_context(|| name.clone())?;
    let (missing, open) = (findings.missing_replies.len(), findings.open_ends.len());
    findings.missing_replies.truncate(args.list);
    findings.open_ends.truncate(args.list);
    let json = ClaimJson {
        holds: missing + open == 0,
        winner: winner.to_string(),
        position: root.to_string(),
        missing,
        open,
        findings,
        time_ms: begun.elapsed().as_millis() as u64,
    };
    json.write(&name, &mut args.output.report(out, &json)?)?;
    Ok(Exit::passed(json.holds))
}

impl ClaimJson {
    fn write(&self, name: &str, out: &mut dyn Write) -> Result<()> {
        let found = &self.findings;
        let holds = if self.holds { "holds" } else { "does not hold" };
        writeln!(
            out,
            "{name} {holds}: {} wins {}",
            self.winner, self.position
        )?;
        let missing = ("missing", self.missing, &found.missing_replies);
        for (what, count, lines) in [missing, ("no win by threats", self.open, &found.open_ends)] {
            for line in lines {
                writeln!(out, "{what}: {line}")?;
            }
            if count > 0 {
                writeln!(out, "{what}: {count} in all")?;
            }
        }
        writeln!(
            out,
            "{} positions, {} replies: threats win after {} at the ends of the file, and after {} \
             that it lacks; {} ms",
            found.positions, found.replies, found.ends, found.answered, self.time_ms
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kagetsu_game::Variant;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Parser)]
    struct ClaimProgram {
        #[command(flatten)]
        args: Args,
    }

    /// Returns a library of lines that begin alike, as RenLib 3.4 writes it: the moves before the
    /// last ones stand once.
    fn library(line: &str, last: &[String]) -> Vec<u8> {
        let point = |name: &str| {
            let row: u8 = name[1..].parse().expect("a row");
            (15 - row) << 4 | (name.as_bytes()[0] - b'a' + 1)
        };
        let mut bytes = [&b"\xffRenLib\xff\x03\x04"[..], &[0xff; 10], &[0, 0]].concat();
        let names: Vec<&str> = line.split(' ').collect();
        for (at, name) in names.iter().enumerate() {
            let is_end = at + 1 == names.len() && last.is_empty();
            bytes.extend([point(name), if is_end { 0x40 } else { 0 }]);
        }
        for (at, name) in last.iter().enumerate() {
            let is_last = at + 1 == last.len();
            bytes.extend([point(name), if is_last { 0x40 } else { 0xc0 }]);
        }
        bytes
    }

    /// Checks a file of freestyle-15 with these arguments.
    fn verify(name: &str, content: &[u8], arguments: &[&str]) -> Result<(Exit, Value)> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join(name);
        std::fs::write(&file, content)?;
        let path = file.to_str().context("a plain name")?;
        let begin = ["verify", path, "--variant", "freestyle-15", "--json"];
        let args = ClaimProgram::try_parse_from(begin.iter().chain(arguments))?.args;
        let (mut out, winner) = (Vec::new(), args.claim.context("a claim")?);
        let exit = verify_claim(&args, &file, winner, &mut out)?;
        Ok((exit, serde_json::from_slice(&out)?))
    }

    #[test]
    fn each_removed_reply_is_named() {
        let line = "h8 b3 e2";
        let root = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
        let replies = root.legal_moves().into_iter().map(|m| root.write_move(m));
        let (removed, kept): (Vec<(usize, String)>, Vec<_>) = replies
            .enumerate()
            .partition(|(at, _)| at % 2 == 0 && *at < 200);
        let kept: Vec<String> = kept.into_iter().map(|(_, name)| name).collect();
        let claim = [
            "--claim",
            "black-wins",
            "--moves",
            line,
            "--nodes",
            "1",
            "--list",
            "500",
        ];
        let (exit, json) = verify("half.lib", &library(line, &kept), &claim).expect("a library");
        let removed = removed.iter().map(|(_, name)| format!("{line} {name}"));
        assert_eq!(json["missing_replies"], json!(removed.collect::<Vec<_>>()));
        assert_eq!(
            (exit, &json["missing"], &json["open"]),
            (Exit::No, &json!(100), &json!(122))
        );
        // The first position of the file is the start, where White answers one move of 35.
        let (_, json) = verify("half.lib", &library(line, &kept), &claim[..2]).expect("a library");
        assert_eq!(json["position"], json!("freestyle-15"));
        assert_eq!(json["missing"], json!(34 + 100));
    }

    /// Black's j8 makes two open threes.
    #[test]
    fn threats_answer_what_a_file_lacks() {
        let before = "h8 a1 i8 a15 j9 o1 j10 o15";
        let file = |line: &str, last: &[&str]| {
            let last: Vec<String> = last.iter().map(ToString::to_string).collect();
            library(line, &last)
        };
        let two = file(&format!("{before} j8"), &["k8", "j7"]);
        let one_of_two = "(;SZ[15];B[hh];W[ao];B[ih];W[aa];B[jg];W[oo];B[jf];W[oa]\
            (;B[ac];W[jh])(;B[jh];W[kh]))";
        for (name, content, claim, moves, gaps) in [
            (
                "end.lib",
                file(&format!("{before} j8"), &[]),
                "first-wins",
                before,
                [0, 0],
            ),
            ("two.lib", two.clone(), "first-wins", before, [0, 0]),
            ("one.sgf", one_of_two.into(), "black-wins", before, [0, 0]),
            (
                "none.lib",
                file("h8 a1 i9", &[]),
                "first-wins",
                "h8 a1",
                [0, 1],
            ),
            ("white.lib", two, "white-wins", before, [216, 1]),
        ] {
            let arguments = ["--claim", claim, "--moves", moves, "--nodes", "2000"];
            let (exit, json) = verify(name, &content, &arguments).expect(name);
            let found = (exit, &json["missing"], &json["open"]);
            let expected = (
                Exit::passed(gaps == [0, 0]),
                &json!(gaps[0]),
                &json!(gaps[1]),
            );
            assert_eq!(found, expected, "{name}: {json}");
            assert!(
                name != "two.lib" || json["answered"] == json!(214),
                "{json}"
            );
        }
        let elsewhere = ["--claim", "first-wins", "--moves", "a1"];
        let error = verify("a.lib", &file(before, &[]), &elsewhere).expect_err("not in it");
        assert!(
            format!("{error:#}").contains("no move from freestyle-15 a1"),
            "{error:#}"
        );
    }
}
