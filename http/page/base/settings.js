// The settings of the page that a user chooses: how moves and values are written. Kept by the
// browser.

import { recall, remember } from "./element.js";
import { language } from "./words.js";

/** How moves of xiangqi are written. */
export const NOTATIONS = ["engine", "wxf", "chinese"];
/** How values are written: as scores, or as the chance to win in percent. */
export const UNITS = ["score", "percent"];

export function notation() {
  const chosen = recall("notation");
  if (NOTATIONS.includes(chosen)) return chosen;
  return language() === "zh" ? "chinese" : "engine";
}

export function unit() {
  return recall("unit") === "percent" ? "percent" : "score";
}

/** Most cores that may annotate a game in this browser. */
export const MAX_CORES = Math.min(8, navigator.hardwareConcurrency || 1);

/** The cores that annotate a game in this browser, a position each: all but one, and four at most,
 * unless the user chooses. */
export function cores() {
  const chosen = Number(recall("cores")) || Math.min(4, MAX_CORES - 1);
  return Math.max(1, Math.min(MAX_CORES, chosen));
}

export function setCores(number) {
  remember("cores", number);
}

export function setNotation(name) {
  remember("notation", name);
}

export function setUnit(name) {
  remember("unit", name);
}
