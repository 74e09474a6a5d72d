// The values along the line as a graph: the chance of the first side to win, move by move.

import { h, s } from "../base/element.js";
import { t } from "../base/words.js";
import { isKnown, rank, sayValue, share } from "../board/values.js";

const WIDTH = 640;
const HEIGHT = 96;
const EDGE = 8;

/** The share of the first side at a step; `isFirst` says whether that side moves there. */
function shareOf(step, isFirst) {
  return share(isFirst ? rank(step) : -rank(step));
}

export class Graph {
  constructor(explorer) {
    this.explorer = explorer;
    this.element = h("figure", { class: "graph", hidden: true });
    this.read = [];
    this.steps = [];
  }

  /** Reads the values of the whole line. */
  async load(signal) {
    const { explorer } = this;
    const { variant, fen, moves } = explorer.shown;
    const all = await explorer.ask("/priorities", { variant, fen, moves: moves.join(" ") }, signal);
    this.read = all?.line ?? [];
    this.show();
  }

  /** Draws what the book knows, and what was searched here. */
  show() {
    this.steps = this.explorer.annotate.filled(this.read);
    this.draw();
  }

  draw() {
    const { explorer, steps } = this;
    const { moves, at } = explorer.shown;
    const known = steps.map((step, ply) => ({ step, ply })).filter(({ step }) => isKnown(step));
    this.element.hidden = moves.length < 2 || known.length < 2;
    if (this.element.hidden) return;
    const isFirstAt = (ply) => (explorer.position.side === "first") === ((ply - at) % 2 === 0);
    const x = (ply) => EDGE + (ply / moves.length) * (WIDTH - 2 * EDGE);
    const y = ({ step, ply }) => EDGE + (1 - shareOf(step, isFirstAt(ply))) * (HEIGHT - 2 * EDGE);
    const place = (point) => `${x(point.ply).toFixed(1)} ${y(point).toFixed(1)}`;
    const line = known.map(place).join("L");
    const name = (ply) => (ply === 0 ? t("start") : `${ply}. ${explorer.names[ply - 1]}`);
    const dot = (point) => s("circle", { class: point.ply === at ? "point here" : "point", cx: x(point.ply), cy: y(point), r: point.ply === at ? 5 : 3 },
      s("title", {}, `${name(point.ply)}: ${sayValue(point.step)}`));
    const strip = (ply) => s("rect", { class: "strip", x: x(ply) - (WIDTH - 2 * EDGE) / moves.length / 2, y: 0, width: (WIDTH - 2 * EDGE) / moves.length, height: HEIGHT, onclick: () => explorer.go(ply) },
      s("title", {}, name(ply)));
    const middle = HEIGHT / 2;
    const label = t("graphLabel", { side: explorer.side("first"), n: known.length });
    this.element.replaceChildren(
      h("figcaption", { class: "quiet small" }, t("graphTitle", { side: explorer.side("first") })),
      s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
        s("path", { class: "area", d: `M${x(known[0].ply).toFixed(1)} ${middle}L${line}L${x(known.at(-1).ply).toFixed(1)} ${middle}Z` }),
        s("line", { class: "axis", x1: EDGE, x2: WIDTH - EDGE, y1: middle, y2: middle }),
        s("line", { class: "now", x1: x(at), x2: x(at), y1: 2, y2: HEIGHT - 2 }),
        s("path", { class: "curve", d: `M${line}` }),
        known.map(dot), [...Array(moves.length + 1).keys()].map(strip)));
  }
}
