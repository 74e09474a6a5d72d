// Values: in words, in a mark on the board, in one number, in a colour.

import { short, t } from "./words.js";

/** Values in words. `value` has score, win_in, loss_in, proof. */
export function sayValue(value, bound = "exact") {
  if (value.win_in !== null && value.win_in !== undefined) return t("winIn", { n: value.win_in });
  if (value.loss_in !== null && value.loss_in !== undefined) return t("lossIn", { n: value.loss_in });
  if (value.proof === "draw") return t("drawProven");
  if (value.score === null || value.score === undefined) return "–";
  const sign = { upper: "≤ ", lower: "≥ " }[bound] ?? "";
  return `${sign}${signed(value.score)}`;
}

function signed(score, digits = String(Math.abs(score))) {
  return `${score > 0 ? "+" : score < 0 ? "−" : ""}${digits}`;
}

export function label(verdict) {
  if (verdict.win_in !== null) return t("mark_win", { n: verdict.win_in });
  if (verdict.loss_in !== null) return t("mark_loss", { n: verdict.loss_in });
  if (verdict.proof === "draw") return t("mark_draw");
  const score = verdict.score ?? 0;
  return Math.abs(score) < 1000 ? signed(score) : signed(score, short(Math.abs(score)));
}

/** One number for all values, to compare them. */
export function rank(value) {
  if (value.win_in !== null && value.win_in !== undefined) return 32000 - value.win_in;
  if (value.loss_in !== null && value.loss_in !== undefined) return value.loss_in - 32000;
  return value.score ?? 0;
}

export function tone(verdict, best) {
  if (verdict.win_in !== null) return "win";
  if (verdict.loss_in !== null) return "loss";
  const lost = Math.max(0, rank(best) - rank(verdict));
  if (rank(best) > 30000) return "t4";
  return ["t0", "t1", "t2", "t3", "t4"][[8, 25, 60, 120].filter((most) => lost > most).length];
}
