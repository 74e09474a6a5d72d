// Names of openings. Renju's 26 are named by the first three stones, whatever the orientation; the
// openings of xiangqi by their first moves, left or right. Of two first moves that mirror each
// other the page shows the one that people play.

import { language } from "../base/words.js";
import { pieces, pointName, pointOf, pointsOf } from "./games.js";
import { isPlayed } from "./values.js";

/** Number, Japanese name, Chinese name, and the second and third stone from the centre (columns, rows). */
const RENJU = [
  ["D1", "Kansei", "寒星", [0, 1], [0, 2]], ["D2", "Keigetsu", "溪月", [0, 1], [1, 2]],
  ["D3", "Sosei", "疏星", [0, 1], [2, 2]], ["D4", "Kagetsu", "花月", [0, 1], [1, 1]],
  ["D5", "Zangetsu", "残月", [0, 1], [2, 1]], ["D6", "Ugetsu", "雨月", [0, 1], [1, 0]],
  ["D7", "Kinsei", "金星", [0, 1], [2, 0]], ["D8", "Shogetsu", "松月", [0, 1], [0, -1]],
  ["D9", "Kyugetsu", "丘月", [0, 1], [1, -1]], ["D10", "Shingetsu", "新月", [0, 1], [2, -1]],
  ["D11", "Zuisei", "瑞星", [0, 1], [0, -2]], ["D12", "Sangetsu", "山月", [0, 1], [1, -2]],
  ["D13", "Yusei", "游星", [0, 1], [2, -2]],
  ["I1", "Chosei", "长星", [1, 1], [2, 2]], ["I2", "Kyogetsu", "峡月", [1, 1], [2, 1]],
  ["I3", "Kosei", "恒星", [1, 1], [2, 0]], ["I4", "Suigetsu", "水月", [1, 1], [2, -1]],
  ["I5", "Ryusei", "流星", [1, 1], [2, -2]], ["I6", "Ungetsu", "云月", [1, 1], [1, 0]],
  ["I7", "Hogetsu", "浦月", [1, 1], [1, -1]], ["I8", "Rangetsu", "岚月", [1, 1], [1, -2]],
  ["I9", "Gingetsu", "银月", [1, 1], [0, -1]], ["I10", "Myojo", "明星", [1, 1], [0, -2]],
  ["I11", "Shagetsu", "斜月", [1, 1], [-1, -1]], ["I12", "Meigetsu", "名月", [1, 1], [-1, -2]],
  ["I13", "Suisei", "彗星", [1, 1], [-2, -2]],
];

/** The longest beginning counts. */
const XIANGQI = [
  ["h2e2", "Central Cannon", "中炮局"], ["h2e2 h7e7", "Same-direction Cannons", "顺炮"],
  ["h2e2 b7e7", "Opposite-direction Cannons", "列炮"], ["h2e2 h9g7", "Central Cannon against a Horse", "中炮对起马"],
  ["h2e2 h9g7 h0g2 b9c7", "Central Cannon against Screen Horses", "中炮对屏风马"],
  ["h2e2 b9c7 h0g2 h9g7", "Central Cannon against Screen Horses", "中炮对屏风马"],
  ["g0e2", "Elephant Opening", "飞相局"], ["c3c4", "Pawn Opening", "仙人指路"], ["h0g2", "Horse Opening", "起马局"],
  ["h2d2", "Cross-palace Cannon", "过宫炮"], ["h2f2", "Palace-corner Cannon", "士角炮"],
];

export const TURNS = [
  ([x, y]) => [x, y], ([x, y]) => [-x, y], ([x, y]) => [x, -y], ([x, y]) => [-x, -y],
  ([x, y]) => [y, x], ([x, y]) => [-y, x], ([x, y]) => [y, -x], ([x, y]) => [-y, -x],
];

const shapeOf = (second, third) => TURNS.map((turn) => [turn(second), turn(third)].join(";")).sort()[0];
const BY_SHAPE = new Map(RENJU.map((opening) => [shapeOf(opening[3], opening[4]), opening]));

function written([number, latin, chinese]) {
  return language() === "zh" ? `${number} ${chinese}` : `${number} ${latin} ${chinese}`;
}

const mirrored = (line) => line.replace(/[a-i](?=\d)/g, (file) => String.fromCharCode(202 - file.charCodeAt(0)));

/** The name of the opening that a line from the start begins with; null for none. */
export function openingName(shape, fen, moves) {
  if (fen) return null;
  if (shape.kind === "gomoku") {
    if (moves.length < 3 || shape.columns % 2 === 0) return null;
    const middle = (shape.columns - 1) / 2;
    const [first, second, third] = moves.slice(0, 3)
      .map((move) => pointOf(shape, move)).map(([column, row]) => [column - middle, row - middle]);
    if (first[0] !== 0 || first[1] !== 0) return null;
    const found = BY_SHAPE.get(shapeOf(second, third));
    return found ? written(found) : null;
  }
  if (shape.kind !== "xiangqi") return null;
  const begins = (line, name) => line === name || line.startsWith(`${name} `);
  const line = moves.slice(0, 6).join(" ");
  const known = XIANGQI.filter(([name]) => begins(line, name) || begins(line, mirrored(name)));
  const best = known.sort(([a], [b]) => b.length - a.length)[0];
  return best ? best[language() === "zh" ? 2 : 1] : null;
}

/** The 26 openings on a board: {name, moves}; empty where they do not fit. */
export function allOpenings(shape) {
  if (shape.kind !== "gomoku" || shape.columns % 2 === 0 || shape.columns < 7) return [];
  const middle = (shape.columns - 1) / 2;
  const point = ([column, row]) => String.fromCharCode(97 + middle + column) + (middle + row + 1);
  return RENJU.map((opening) => ({ name: written(opening), moves: [point([0, 0]), point(opening[3]), point(opening[4])] }));
}

/** Whether a move is on the side where people begin: on the mover's left with a soldier or a horse, else on the right. */
function isUsual(shape, board, move) {
  const [from, to] = pointsOf(shape, move);
  const { piece, side } = board.get(pointName(shape, from));
  const middle = (shape.columns - 1) / 2;
  const column = from[0] === middle ? to[0] : from[0];
  return column === middle || (side === "first" ? column < middle : column > middle) === "NP".includes(piece.toUpperCase());
}

const turned = (known) => ({ ...known, move: mirrored(known.move), line: known.line?.map(mirrored), branches: known.branches?.map(turned) });

/**
 * What is known of the moves of a position, with one of two moves that mirror each other: the one
 * that the page lists already; else the first of the two, or the usual one if there is only one.
 */
export function asPlayed(shape, position, moves, listed = []) {
  if (shape.kind !== "xiangqi") return moves;
  const board = pieces(shape, position);
  if (![...board].every(([name, { piece }]) => board.get(mirrored(name))?.piece === piece)) return moves;
  const shown = new Map();
  for (const known of moves) {
    const image = mirrored(known.move);
    const other = shown.get(image);
    if (other && image !== known.move) {
      for (const count of ["nodes", "played"]) if (isPlayed(other) && known[count]) other[count] += known[count];
      continue;
    }
    const has = (list, move) => list.some((one) => one.move === move);
    const isKept = has(listed, known.move) || (!has(listed, image) && (has(moves, image) || isUsual(shape, board, known.move)));
    shown.set(known.move, isKept ? { ...known } : turned(known));
  }
  return [...shown.values()];
}

/** The one of a move and its mirror image that is among the moves shown. */
export function shownMove(moves, move) {
  return (moves.find((known) => known.move === move) ?? moves.find((known) => known.move === mirrored(move)))?.move ?? move;
}
