// Moves of xiangqi as score sheets write them: WXF (C2=5) and Chinese (炮二平五). Files count from
// the mover's right. Two pieces on one file are told apart by their order.

import { notation } from "../base/settings.js";
import { game, pieces, pointName, pointsOf } from "./games.js";

export const XIANGQI_START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";

const LETTERS = { K: "K", A: "A", B: "E", N: "H", R: "R", C: "C", P: "P" };
const RED = { K: "帅", A: "仕", B: "相", N: "马", R: "车", C: "炮", P: "兵" };
const BLACK = { K: "将", A: "士", B: "象", N: "马", R: "车", C: "炮", P: "卒" };
const NUMERALS = "〇一二三四五六七八九";
const SHAPE = game("xiangqi");

/** Traditional characters and other names of pieces, as the page writes them. */
const VARIANTS = {
  帥: "帅", 將: "将", 馬: "马", 傌: "马", 車: "车", 俥: "车", 砲: "炮", 相: "相", 後: "后", 進: "进", "．": "=", ".": "=",
};

const isRed = (piece) => piece === piece.toUpperCase();
const fileOf = (piece, [column]) => (isRed(piece) ? 9 - column : 1 + column);
const heightOf = (piece, [, row]) => (isRed(piece) ? row : 9 - row);

/** The pieces like this one that share a file with another: files from the right, each from the front. */
function tandems(board, piece) {
  const all = [...board].filter(([, other]) => other.piece === piece).map(([name]) => pointsOf(SHAPE, name)[0]);
  const shared = all.filter(([column]) => all.filter(([other]) => other === column).length > 1);
  const order = (point) => 10 * fileOf(piece, point) + 9 - heightOf(piece, point);
  return shared.sort((a, b) => order(a) - order(b)).map((point) => pointName(SHAPE, point));
}

/** What a move does: {piece, mark, sign, number}; mark is {file} or {order, of}. */
function entry(board, move) {
  const [from, to] = pointsOf(SHAPE, move);
  const name = pointName(SHAPE, from);
  const piece = board.get(name)?.piece;
  if (!piece || !to) return null;
  const kind = piece.toUpperCase();
  const [before, after] = [heightOf(piece, from), heightOf(piece, to)];
  const sign = after === before ? 0 : Math.sign(after - before);
  const isAslant = "ABN".includes(kind);
  const number = sign === 0 || isAslant ? fileOf(piece, to) : Math.abs(after - before);
  const group = "KAB".includes(kind) ? [] : tandems(board, piece);
  const order = group.indexOf(name);
  const mark = order < 0 ? { file: fileOf(piece, from) } : { order, of: group.length };
  return { piece, kind, mark, sign, number };
}

function wxf({ kind, mark, sign, number }) {
  const letter = LETTERS[kind];
  let head = `${letter}${mark.file}`;
  if (mark.of === 2) head = `${"+-"[mark.order]}${letter}`;
  else if (mark.of) head = `${"abcde"[mark.order]}${letter}`;
  return `${head}${{ 0: "=", 1: "+", "-1": "-" }[sign]}${number}`;
}

function chinese({ piece, kind, mark, sign, number }) {
  const name = (isRed(piece) ? RED : BLACK)[kind];
  const digit = (value) => (isRed(piece) ? NUMERALS[value] : String(value));
  let head = `${name}${digit(mark.file)}`;
  if (mark.of === 2) head = `${"前后"[mark.order]}${name}`;
  else if (mark.of === 3) head = `${"前中后"[mark.order]}${name}`;
  else if (mark.of) head = `${NUMERALS[mark.order + 1]}${name}`;
  return `${head}${{ 0: "平", 1: "进", "-1": "退" }[sign]}${digit(number)}`;
}

const WRITERS = { wxf, chinese };

/** A board that moves are played on, to write a line. */
class Sheet {
  constructor(fen) {
    this.board = pieces(SHAPE, { fen: fen || XIANGQI_START });
  }

  write(move, style) {
    const found = entry(this.board, move);
    return found ? WRITERS[style](found) : move;
  }

  play(move) {
    const [from, to] = pointsOf(SHAPE, move).map((point) => pointName(SHAPE, point));
    const piece = this.board.get(from);
    if (!piece) return;
    this.board.delete(from);
    this.board.set(to, piece);
  }
}

/** The name of a file of xiangqi on a side's edge of the board. */
export function fileName(side, column, style) {
  const isFirst = side === "first";
  const file = isFirst ? 9 - column : 1 + column;
  return isFirst && style === "chinese" ? NUMERALS[file] : String(file);
}

/**
 * The names of a line's moves from a position, as the user wants them. `fen` is the position before
 * the first move; empty for the start.
 */
export function nameLine(shape, fen, moves, style = notation()) {
  if (shape.kind !== "xiangqi" || !(style in WRITERS)) return moves;
  const sheet = new Sheet(fen);
  return moves.map((move) => {
    const name = sheet.write(move, style);
    sheet.play(move);
    return name;
  });
}

/** The name of one move from a position. */
export function nameMove(shape, fen, move, style = notation()) {
  return nameLine(shape, fen, [move], style)[0];
}

/** Whether a text has moves of score sheets. */
export function isScoreSheet(text) {
  return /[进进退平進]/.test(text) || /(^|\s)[+\-a-e]?[KAEHRCPBNkaehrcpbn][1-9]?[+\-=.][1-9]/.test(text);
}

/** The moves of a text in score-sheet notation, each as the four characters that the page writes. */
export function splitScoreSheet(text) {
  const plain = [...text].map((letter) => VARIANTS[letter] ?? letter).join("")
    .replace(/[０-９]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) - 0xfee0));
  return plain.match(/[前中后一二三四五六七八九帅仕相马车炮兵将士象卒][一二三四五六七八九帅仕相马车炮兵将士象卒1-9][进退平][一二三四五六七八九1-9]|[+\-a-eKAEHRCPBNkaehrcpbn][1-9KAEHRCPBNkaehrcpbn][+\-=][1-9]/g) ?? [];
}

/** The legal move that a name of a score sheet stands for; null for none or several. */
export function moveOf(fen, legal, name) {
  const style = /[进退平]/.test(name) ? "chinese" : "wxf";
  const digits = (text) => text.replace(/[一二三四五六七八九]/g, (numeral) => String(NUMERALS.indexOf(numeral)));
  const fold = (text) => (style === "chinese"
    ? digits(text).replace("仕", "士").replace("相", "象").replace("帅", "将").replace("兵", "卒")
    : text.toUpperCase().replace("B", "E").replace("N", "H"));
  const found = legal.filter((move) => fold(nameMove(SHAPE, fen, move, style)) === fold(name));
  return found.length === 1 ? found[0] : null;
}
