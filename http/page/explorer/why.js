// Why a position is in the book, or waits for it: what its line costs, and how urgent the next
// moves are.

import { h } from "../base/element.js";
import { t } from "../base/words.js";
import { signed } from "../board/values.js";

/** Next moves that are listed. */
const MAX_MOVES = 30;

export class Why {
  constructor(explorer) {
    this.explorer = explorer;
    this.key = null;
    this.known = null;
  }

  clear() {
    this.key = null;
  }

  async load() {
    const { explorer } = this;
    const key = explorer.key();
    if (this.key === key) return;
    this.key = key;
    this.known = null;
    const known = await explorer.ask("/priorities", explorer.parameters()).catch(() => ({ line: [], moves: [] }));
    if (this.key !== key) return;
    this.known = known;
    if (explorer.tab === "why") explorer.renderPanel();
  }

  parts() {
    this.load();
    if (!this.known) return [h("p", { class: "quiet" }, t("loading"))];
    const { line, moves } = this.known;
    const isEmpty = [...line, ...moves].every(({ jobs }) => jobs.length === 0);
    if (isEmpty) return [h("div", { class: "empty" }, h("p", {}, t("whyNone")))];
    const first = this.explorer.shown.at + 1 - line.length;
    const path = line.map((step, at) => this.row(step, at === 0 && first === 0 ? t("start") : `${first + at}. ${this.explorer.names[first + at - 1] ?? ""}`));
    const next = moves.slice(0, MAX_MOVES).map((step) => this.row(step, this.explorer.name(step.move), step.move));
    return [
      h("p", { class: "quiet small" }, t("whyHint")),
      this.table(t("whyLine"), path),
      next.length > 0 && this.table(t("whyNext"), next),
    ];
  }

  table(caption, rows) {
    const head = ["move", "loss", "priority", "job"];
    return h("table", { class: "verdicts why" }, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", class: ["loss", "priority"].includes(name) ? "num" : null }, t(name === "priority" ? "priorityPlies" : name))))),
      h("tbody", {}, rows));
  }

  row({ loss, jobs, is_held: isHeld }, name, move) {
    const first = jobs.toSorted((a, b) => a.priority - b.priority)[0];
    const state = (job) => h("span", { class: `state ${job.state}` }, t(`standing_${job.state}`));
    const label = move
      ? h("button", { type: "button", onclick: () => this.explorer.play(move) }, name)
      : h("span", {}, name);
    return h("tr", { class: isHeld ? null : "bounded" },
      h("td", { class: "move" }, label),
      h("td", { class: "num", "data-label": t("loss") }, loss === null ? "–" : signed(-loss)),
      h("td", { class: "num", "data-label": t("priorityPlies") }, first ? first.priority.toFixed(2) : "–"),
      h("td", { class: "jobs-of" }, jobs.length > 0
        ? jobs.map((job) => h("span", { class: "of-job" }, job.job, " ", state(job)))
        : h("span", { class: "quiet" }, t(isHeld ? "heldNoJob" : "notHeld"))));
  }
}
