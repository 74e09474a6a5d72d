// The content of the book: its variants, where it begins, its openings by name, and its statistics.

import { get } from "../base/api.js";
import { h } from "../base/element.js";
import { number, t } from "../base/words.js";
import { game, gameName, sideWord } from "../board/games.js";
import { nameLine } from "../board/notation.js";
import { allOpenings, openingName } from "../board/openings.js";
import { isKnown, sayValue, tone } from "../board/values.js";
import { Statistics } from "./statistics.js";

export class Contents {
  constructor(app) {
    this.app = app;
    this.statistics = new Statistics(app);
    this.build();
  }

  build() {
    this.variants = h("div", { class: "variants" });
    this.statistics.build();
    this.element = h("main", { class: "contents", id: "main" },
      h("section", { "aria-labelledby": "contents-title" }, h("h2", { id: "contents-title" }, t("contents")), this.variants),
      this.statistics.element);
    if (this.overview) this.render();
  }

  get isShown() {
    return this.element.isConnected;
  }

  /** Reads the content when the view comes to the front. */
  async follow() {
    try {
      await this.app.readOverview();
      this.overview = this.app.overview;
      this.render();
      await this.statistics.load();
    } catch (error) {
      this.app.complain(error);
    }
  }

  render() {
    const { variants } = this.overview ?? { variants: [] };
    this.variants.replaceChildren(...(variants.length > 0
      ? variants.map((held) => this.variant(held))
      : [h("div", { class: "empty" }, h("p", {}, t("bookEmpty")))]));
  }

  variant(held) {
    const shape = this.shapeOf(held.variant);
    const more = held.all_roots - held.roots.length;
    return h("article", { class: "card", "aria-label": held.variant },
      h("header", {}, h("h2", { title: held.variant }, gameName(held.variant)), h("span", { class: "quiet" }, t("positions", { n: number(held.positions) }))),
      held.roots.length > 0 && h("h3", {}, t("rootsTitle")),
      h("table", { class: "verdicts roots" },
        h("thead", {}, h("tr", {}, ["rootMoves", "value", "best", "behind"].map((name) => h("th", { scope: "col", class: name === "behind" ? "num" : null }, t(name === "best" ? "bestMove" : name))))),
        h("tbody", {}, held.roots.map((root) => this.root(held.variant, shape, root)))),
      more > 0 && h("p", { class: "quiet small" }, t("moreRoots", { n: number(more) })),
      shape && this.openings(held.variant, shape));
  }

  shapeOf(variant) {
    try {
      return game(variant);
    } catch {
      return null;
    }
  }

  link(variant, { moves, fen }) {
    return `#/${[variant, moves.join(","), encodeURIComponent(fen ?? "")].join("/").replace(/\/+$/, "")}`;
  }

  root(variant, shape, root) {
    const names = shape ? nameLine(shape, root.fen, root.moves).join(" ") : root.moves.join(" ");
    const opening = shape && openingName(shape, root.fen, root.moves);
    const best = root.best && shape ? nameLine(shape, root.fen, [...root.moves, root.best]).at(-1) : root.best;
    const count = root.is_more ? t("atLeast", { n: number(root.positions) }) : number(root.positions);
    const side = shape ? t("toMove", { side: t(sideWord(shape, root.side)) }) : "";
    return h("tr", {},
      h("td", { class: "move" }, h("a", { href: this.link(variant, root) }, names || (root.fen ? root.fen : t("start"))),
        opening && h("span", { class: "opening" }, opening)),
      h("td", { class: "val" }, h("span", { class: `value ${isKnown(root) ? tone(root) : "bound"}`, title: side }, isKnown(root) ? sayValue(root) : "–")),
      h("td", { "data-label": t("bestMove") }, best ?? "–"),
      h("td", { class: "num", "data-label": t("behind") }, count));
  }

  /** The 26 openings of renju, those that the book holds with their values. */
  openings(variant, shape) {
    const all = allOpenings(shape);
    if (all.length === 0 || !variant.startsWith("renju")) return null;
    const list = h("ul", { class: "openings" });
    const show = async () => {
      const held = new Map();
      for (const second of [all[0].moves[1], all[13].moves[1]]) {
        const known = await get("/priorities", { variant, moves: `${all[0].moves[0]} ${second}` }).catch(() => ({ moves: [] }));
        for (const step of known.moves) held.set(`${second} ${step.move}`, step);
      }
      list.replaceChildren(...all.map(({ name, moves }) => {
        const step = held.get(moves.slice(1).join(" "));
        return h("li", { class: step?.is_held ? null : "absent" }, h("a", { href: this.link(variant, { moves, fen: "" }) }, name),
          step?.is_held && isKnown(step) ? h("span", { class: `value ${tone(step)}` }, sayValue(step)) : h("span", { class: "quiet small" }, t(step?.is_held ? "held" : "notHeld")));
      }));
    };
    return h("details", { class: "ways", ontoggle: (event) => event.target.open && list.children.length === 0 && show() },
      h("summary", {}, t("openings26")), list);
  }
}
