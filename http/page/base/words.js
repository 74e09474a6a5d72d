// The texts of the page in the chosen language.

import { CHINESE_TEXTS } from "./chinese.js";
import { recall, remember } from "./element.js";
import { ENGLISH } from "./english.js";

const ALL = { en: ENGLISH, zh: CHINESE_TEXTS };
let chosen = recall("language") ?? document.documentElement.dataset.language ?? ((navigator.language ?? "").startsWith("zh") ? "zh" : "en");

export function language() {
  return chosen in ALL ? chosen : "en";
}

export function choose(name) {
  chosen = name;
  remember("language", name);
}

/** The text of a name, with `{n}` and the like filled in. */
export function t(name, values = {}) {
  const words = ALL[language()][name] ?? ENGLISH[name] ?? name;
  if (typeof words !== "string") return words;
  return words.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
}

/** A whole number with commas between thousands, as both languages write it. */
export function number(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number in few characters: 51,234 as 51.2k. */
export function short(value) {
  if (value < 1000) return String(Math.round(value));
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (value >= size) return `${(value / size).toFixed(value >= 100 * size ? 0 : 1)}${unit}`;
  }
  return String(value);
}

/** Seconds as 1 h 20 min. */
export function duration(seconds) {
  const units = language() === "zh" ? ["天", "小时", "分", "秒"] : ["d", "h", "min", "s"];
  const sizes = [86400, 3600, 60, 1];
  const at = Math.max(0, sizes.findIndex((size) => seconds >= size));
  const whole = Math.floor(seconds / sizes[at]);
  const rest = at < 3 ? Math.floor((seconds % sizes[at]) / sizes[at + 1]) : 0;
  return rest > 0 ? `${whole} ${units[at]} ${rest} ${units[at + 1]}` : `${whole} ${units[at]}`;
}
