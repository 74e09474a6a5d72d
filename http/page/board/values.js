// Values: as text, as a mark on the board, as one number, as a colour.

import { unit } from "../base/settings.js";
import { short, t } from "../base/words.js";

/** Centi-units that make a win e times as likely as a loss. */
const SCALE = 200;
/** Centi-units between the colours: bad, poor, level, fine, good. */
const TONES = [-100, -25, 25, 100];
/** Widths on the screen of a place for a value, in pixels, from which on it has one decimal, and two. */
const WIDE_MARKS = [18, 30];

/** Whether a move has an exact value or a proof; a bound only limits its value. */
export function isValued(verdict) {
  return verdict.bound === "exact" || verdict.proof !== "none";
}

/** Whether a move was made in games, and nothing is known of its value. */
export function isPlayed(verdict) {
  return verdict.bound === "lower" && verdict.depth === 0 && verdict.proof === "none" && verdict.score === null;
}

/** A value as text. `value` has score, win_in, loss_in and proof. */
export function sayValue(value, bound = "exact") {
  const mate = forced(value, "winIn", "lossIn", "drawProven");
  if (mate) return mate;
  if (value.score === null || value.score === undefined) return "–";
  const sign = { upper: "≤ ", lower: "≥ " }[bound] ?? "";
  return sign + (unit() === "percent" ? `${percent(value.score)}%` : signed(value.score, 2));
}

/** A value in few letters, for a mark on the board that is some pixels wide. */
export function label(verdict, width) {
  // A Chinese character is twice as wide as a letter.
  const names = ["win", "loss", "draw"].map((name) => (width < WIDE_MARKS[1] ? `narrow_${name}` : `mark_${name}`));
  const mate = forced(verdict, ...names);
  if (mate) return mate;
  if (isPlayed(verdict)) return short(verdict.nodes);
  const score = verdict.score ?? 0;
  if (unit() === "percent") return `${percent(score)}%`;
  const decimals = WIDE_MARKS.filter((least) => width >= least).length;
  return signed(score, Math.abs(score) < 1000 ? decimals : Math.max(0, decimals - 1));
}

function forced(value, win, loss, draw) {
  if (value.win_in !== null && value.win_in !== undefined) return t(win, { n: value.win_in });
  if (value.loss_in !== null && value.loss_in !== undefined) return t(loss, { n: value.loss_in });
  return value.proof === "draw" ? t(draw) : null;
}

/** Centi-units as a signed decimal, as the command line prints them. */
export function signed(score, digits = 2) {
  const text = (Math.abs(score) / 100).toFixed(digits);
  const sign = score > 0 ? "+" : "−";
  return Number(text) === 0 ? text : `${sign}${text}`;
}

function percent(score) {
  return Math.round(100 * share(score));
}

/** The chance to win, from 0 to 1, of a value as one number. */
export function share(score) {
  return 1 / (1 + Math.exp(-score / SCALE));
}

/** One number for every value, to compare them. */
export function rank(value) {
  if (value.win_in !== null && value.win_in !== undefined) return 32000 - value.win_in;
  if (value.loss_in !== null && value.loss_in !== undefined) return value.loss_in - 32000;
  return value.score ?? 0;
}

/** Whether anything is known of a value. */
export function isKnown(value) {
  return [value?.score, value?.win_in, value?.loss_in].some((part) => part !== null && part !== undefined) || value?.proof === "draw";
}

/** The class of a value's colour: how good it is for the side that makes the move. */
export function tone(value) {
  if (value.win_in !== null && value.win_in !== undefined) return "win";
  if (value.loss_in !== null && value.loss_in !== undefined) return "loss";
  if (!isKnown(value)) return "bound";
  return ["t4", "t3", "t2", "t1", "t0"][TONES.filter((limit) => rank(value) > limit).length];
}
