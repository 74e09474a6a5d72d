// The values of a whole game, each position searched in this browser where the book has none, and
// the moves that cost most.

import { here } from "../base/api.js";
import { h } from "../base/element.js";
import { cores } from "../base/settings.js";
import { number, t } from "../base/words.js";
import { isKnown, rank, signed } from "../board/values.js";

/** Positions of each search. */
const NODES = 30_000;
/** Centi-units that a named move loses at least. */
const COSTLY = 50;
/** Centi-units that count as lost at most: a proven win thrown away. */
const MAX_LOSS = 1000;

export class Annotate {
  constructor(explorer) {
    this.explorer = explorer;
    this.found = new Map();
    this.running = null;
  }

  /** The place of a position of the line on the board, or of another one. */
  key(ply, { variant, fen, moves } = this.explorer.shown) {
    return JSON.stringify([variant, fen, moves.slice(0, ply)]);
  }

  /** The steps of the line, with what was searched here for those that the book does not know. */
  filled(steps) {
    const all = [...Array(this.explorer.shown.moves.length + 1).keys()];
    return all.map((ply) => (isKnown(steps[ply]) ? steps[ply] : { ...steps[ply], ...this.found.get(this.key(ply)) }));
  }

  parts() {
    const { explorer, running } = this;
    if (!here.isOffered || explorer.shown.moves.length < 2) return [];
    if (running) {
      const words = t("annotating", { n: number(running.done), m: number(running.all) });
      return [h("div", { class: "proving" }, h("p", { class: "quiet small" }, words),
        h("progress", { max: String(running.all), value: String(running.done), "aria-label": words }),
        h("button", { type: "button", class: "danger", id: "annotate-stop", onclick: () => running.stop.abort() }, t("stop")))];
    }
    const costly = this.costly();
    return [
      h("div", { class: "offers" }, h("button", { type: "button", id: "annotate", title: t("annotateHint"), onclick: () => this.start() }, t("annotate"))),
      costly && h("div", { role: "status" }, h("ol", { class: "annotated" }, costly.map(({ ply, loss, best }) => h("li", {},
        h("button", { type: "button", onclick: () => explorer.go(ply) }, `${ply + 1}. ${explorer.names[ply]}`), " ",
        h("span", { class: "doubt" }, t("practiceWorse", { loss: signed(-loss), best: explorer.nameAt(ply, best) })))),
        costly.length === 0 && h("li", { class: "praise" }, t("annotateGood", { loss: signed(-COSTLY) })))),
    ];
  }

  /** The moves of the line that lose much; null where not all of it is known. */
  costly() {
    const { moves } = this.explorer.shown;
    const steps = this.filled(this.explorer.graph.read);
    // After the last move the game may be over, which needs no value.
    if (!moves.every((_, ply) => isKnown(steps[ply]))) return null;
    return moves.map((move, ply) => {
      const after = steps[ply + 1];
      const loss = isKnown(after) && steps[ply].best !== move ? Math.min(MAX_LOSS, rank(steps[ply]) + rank(after)) : 0;
      return { ply, loss, best: steps[ply].best };
    }).filter(({ loss, best }) => best && loss >= COSTLY);
  }

  /** Searches every position of the line that has no value yet. */
  async start() {
    const { explorer } = this;
    const line = explorer.shown;
    const { variant, fen, moves } = line;
    const steps = this.filled(explorer.graph.read);
    const stop = new AbortController();
    const running = { stop, done: 0, all: steps.length };
    this.running = running;
    const redraw = () => explorer.isShown && explorer.tab === "analysis" && explorer.app.redraw(() => explorer.renderPanel());
    redraw();
    try {
      const { outcome } = explorer.position;
      const plies = steps.keys();
      // Each core takes the next position.
      await Promise.all(Array.from({ length: cores() }, async () => {
        for (const ply of plies) {
          const key = this.key(ply, line);
          running.done = Math.max(running.done, ply);
          if (isKnown(steps[ply]) || (ply === moves.length && outcome)) continue;
          const body = { variant, moves: moves.slice(0, ply).join(" "), nodes: NODES, top: 1, ...(fen ? { fen } : {}) };
          const receive = (_, answer) => this.found.set(key, answer);
          await here.listen("/analyses", body, receive, stop.signal);
          redraw();
        }
      }));
    } catch (error) {
      stop.abort();
      if (error.name !== "AbortError") explorer.app.complain(error);
    }
    this.running = null;
    explorer.graph.show();
    redraw();
  }
}
