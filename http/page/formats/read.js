// Reads positions as people paste them: links, FEN, moves, SGF, PGN, drawn boards. What it returns
// is checked by the server.

import { pointName } from "../board/games.js";
import { isScoreSheet, moveOf, splitScoreSheet } from "../board/notation.js";

/** A text that no format explains; `code` names the text of the page that says why. */
export class UnreadableText extends Error {
  constructor(code, values = {}) {
    super(code);
    this.code = code;
    this.values = values;
  }
}

const letter = (text) => text.charCodeAt(0) - 97;

/** Interleaves the stones of both sides into a line. */
export function lineOfStones(first, second) {
  if (first.length !== second.length && first.length !== second.length + 1) {
    throw new UnreadableText("badCounts", { first: first.length, second: second.length });
  }
  return first.flatMap((stone, at) => (at < second.length ? [stone, second[at]] : [stone]));
}

/** The main line of an SGF of stones. */
function readSgf(text, shape) {
  const size = Number(/SZ\[(\d+)/.exec(text)?.[1] ?? shape.columns);
  if (size !== shape.columns) throw new UnreadableText("badSize", { found: size, size: shape.columns });
  const point = (name) => pointName(shape, [letter(name[0]), shape.rows - 1 - letter(name[1])]);
  const setup = (kind) => [...text.matchAll(new RegExp(`${kind}((?:\\s*\\[[a-z]{2}\\])+)`, "g"))].flatMap(([, list]) => list.match(/[a-z]{2}/g).map(point));
  const set = lineOfStones(setup("AB"), setup("AW"));
  const main = [];
  let depth = 0;
  let isSide = false;
  for (const token of text.replace(/C\[(?:\\.|[^\]\\])*\]/g, "").match(/\(|\)|;\s*[BW]\[[a-z]{2}\]/g) ?? []) {
    if (token === "(") depth += 1;
    else if (token === ")") isSide = depth > 1 || isSide;
    else if (!isSide) main.push(point(/\[([a-z]{2})\]/.exec(token)[1]));
  }
  if (set.length + main.length === 0) throw new UnreadableText("badSgf");
  return { fen: "", moves: [...set, ...main].join(" ") };
}

/** A drawn board of stones: X, O and dots; rows from the top. */
function readBoard(text, shape) {
  const rows = text.split("\n").map((row) => row.replace(/^\s*\d+/, "").replace(/[\s|]/g, "")).filter((row) => /^[.\-_+xo*●○]+\d*$/i.test(row));
  if (rows.length !== shape.rows) throw new UnreadableText("badRows", { found: rows.length, rows: shape.rows });
  const [first, second] = [[], []];
  rows.forEach((row, fromTop) => [...row.replace(/\d+$/, "")].forEach((mark, column) => {
    const name = pointName(shape, [column, shape.rows - 1 - fromTop]);
    if (/[x●*]/i.test(mark)) first.push(name);
    if (/[o○]/i.test(mark)) second.push(name);
  }));
  return { fen: "", moves: lineOfStones(first, second).join(" ") };
}

/** Moves of score sheets, one after the other; `look` returns the position of a line. */
async function readScoreSheet(text, fen, before, look) {
  const moves = [...before];
  for (const name of splitScoreSheet(text)) {
    const position = await look(fen, moves);
    const move = moveOf(position.fen, position.legal, name);
    if (!move) throw new UnreadableText("badMove", { move: name });
    moves.push(move);
  }
  if (moves.length === before.length) throw new UnreadableText("badSheet");
  return { fen, moves: moves.join(" ") };
}

function readPgn(text, look) {
  const fen = /\[FEN\s+"([^"]+)"\]/i.exec(text)?.[1] ?? "";
  const body = text.replace(/\[[^\]]*\]/g, "").replace(/\{[^}]*\}/g, "").replace(/(^|\s)\d+\s*\.(\s*\.\.)?/g, " ");
  if (isScoreSheet(body)) return readScoreSheet(body, fen, [], look);
  const iccs = body.match(/[a-i]\d-?[a-i]\d/gi) ?? [];
  return { fen, moves: iccs.map((move) => move.replace("-", "").toLowerCase()).join(" ") };
}

/**
 * Reads a text about a game of this shape: {fen, moves} or {link}. `before` are the moves on the
 * board, which moves of a score sheet follow; `look(fen, moves)` asks the server for a position.
 */
export async function readText(text, shape, { fen, before, look }) {
  const plain = text.trim();
  const link = /#\/(\S*)/.exec(plain);
  if (link) return { link: link[1] };
  if (shape.kind === "gomoku") {
    if (/^\(\s*;/.test(plain)) return readSgf(plain, shape);
    if (/\n/.test(plain) && /[.\-_+]\s*[.\-_+xo]/i.test(plain)) return readBoard(plain, shape);
    return { fen: "", moves: plain.replace(/\d+\.\s*/g, "").replace(/\s+/g, " ") };
  }
  if (/^\[/.test(plain)) return readPgn(plain, look);
  if (plain.split("\n")[0].split("/").length >= shape.rows) return { fen: plain.replace(/^(position\s+)?fen\s+/, "").trim(), moves: "" };
  if (shape.kind === "xiangqi" && isScoreSheet(plain)) return readScoreSheet(plain, fen, before, look);
  return { fen: "", moves: plain.replace(/([a-i]\d)-([a-i]\d)/gi, "$1$2").toLowerCase() };
}

