// What the boards of the games look like: points, names, pieces. The rules are the server's.

import { t } from "../base/words.js";

/** A game by its variant: columns, rows, and how points are named. Column 0 is a; row 0 is the lowest rank. */
export function game(variant) {
  const size = Number(/-(\d+)$/.exec(variant)?.[1] ?? 15);
  if (variant.startsWith("xiangqi")) return { kind: "xiangqi", columns: 9, rows: 10, firstRank: 0, moves: "pieces" };
  if (variant.startsWith("surakarta")) return { kind: "surakarta", columns: 6, rows: 6, firstRank: 1, moves: "pieces" };
  if (/^(freestyle|standard|renju|caro)-/.test(variant)) {
    return { kind: "gomoku", columns: size, rows: size, firstRank: 1, moves: "stones" };
  }
  throw new Error(`The page cannot draw the board of ${variant}`);
}

export const VARIANTS = [
  "freestyle-15", "standard-15", "renju-15", "caro-15", "caro-overline-15", "freestyle-20", "standard-19",
  "xiangqi", "surakarta",
];

export function pointName(shape, [column, row]) {
  return String.fromCharCode(97 + column) + (row + shape.firstRank);
}

export function pointOf(shape, name) {
  return [name.charCodeAt(0) - 97, Number(name.slice(1)) - shape.firstRank];
}

/** The points that a move names: one of a stone, from and to of a piece. */
export function pointsOf(shape, move) {
  const names = move.match(/[a-z]\d+/g) ?? [];
  return names.map((name) => pointOf(shape, name));
}

/** What is on the board, by the name of the point: {piece, side, number}. */
export function pieces(shape, position) {
  const board = new Map();
  if (shape.kind === "gomoku") {
    position.moves.forEach((move, at) => {
      const side = at % 2 === 0 ? "first" : "second";
      board.set(move, { piece: side === "first" ? "X" : "O", side, number: at + 1 });
    });
    return board;
  }
  const rows = position.fen.split(" ")[0].split("/");
  rows.forEach((text, fromTop) => {
    let column = 0;
    for (const letter of text) {
      if (/\d/.test(letter)) {
        column += Number(letter);
        continue;
      }
      const row = shape.rows - 1 - fromTop;
      let side = letter === letter.toUpperCase() ? "first" : "second";
      if (shape.kind === "surakarta") side = letter === "b" ? "first" : "second";
      board.set(pointName(shape, [column, row]), { piece: shape.kind === "surakarta" ? side : letter, side });
      column += 1;
    }
  });
  return board;
}

/** The name of a game in the language of the page. */
export function gameName(variant) {
  const [rule, size] = variant.split(/-(?=\d+$|inf$)/);
  const name = t(`game_${rule}`, { size: size === "inf" ? "∞" : size ?? "" });
  return name.startsWith("game_") ? variant : name;
}

/** The name of a side in the words of the game. */
export function sideWord(shape, side) {
  const suffix = { xiangqi: "Xiangqi", surakarta: "Surakarta" }[shape.kind] ?? "";
  return side + suffix;
}
