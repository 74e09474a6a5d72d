// The opening rules of tournaments: what may happen after each of the first stones.

import { pointOf } from "./games.js";
import { openingName, TURNS } from "./openings.js";

/** Stones on the board when fifth moves are offered. */
export const OFFERING_STONES = 4;

/**
 * Each rule: its name, the games that it is for, the most fifth moves that Black offers, the farthest
 * that a stone may be from the centre (as its number), and whether one of the 26 openings is a must.
 * The words `rule_NAME` of the page say what comes after 0, 1, 2 ... stones.
 */
const RULES = [
  { name: "swap2", games: /^(freestyle|standard|caro)-/, offers: 0 },
  { name: "taraguchi10", games: /^renju-/, offers: 10, isNear: true },
  { name: "soosyrv8", games: /^renju-/, offers: 8, isNamed: true },
];

/** The rules that a game may begin by. */
export function rulesOf(variant) {
  return RULES.filter(({ games }) => games.test(variant));
}

const fromCentre = (shape, move) => pointOf(shape, move).map((at) => at - (shape.columns - 1) / 2);

/** The number of the first stone that breaks a rule; null for none. */
export function firstWrong(rule, shape, moves) {
  if (rule.isNamed && moves.length > 2 && !openingName(shape, "", moves)) return 3;
  const isFar = (move, index) => Math.max(...fromCentre(shape, move).map(Math.abs)) > index;
  const at = rule.isNear ? moves.slice(0, OFFERING_STONES).findIndex(isFar) : -1;
  return at < 0 ? null : at + 1;
}

/** Whether a fifth move is the mirror image, or the turned image, of one that is offered already. */
export function isImage(shape, moves, offered, move) {
  const points = (turn, side) => moves.filter((_, at) => at % 2 === side).map((one) => String(turn(fromCentre(shape, one)))).sort().join(";");
  const keeps = (turn) => [0, 1].every((side) => points(turn, side) === points(TURNS[0], side));
  const images = TURNS.filter(keeps).map((turn) => String(turn(fromCentre(shape, move))));
  return offered.some((one) => one !== move && images.includes(String(fromCentre(shape, one))));
}
