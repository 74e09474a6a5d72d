// The statistics of the book: positions by stones and by depth, proofs, engines, and the holes
// nearest to the start.

import { get } from "../base/api.js";
import { h } from "../base/element.js";
import { number, short, t } from "../base/words.js";
import { game } from "../board/games.js";
import { nameLine } from "../board/notation.js";
import { signed } from "../board/values.js";

export class Statistics {
  constructor(app) {
    this.app = app;
    this.known = null;
  }

  build() {
    this.body = h("div", { class: "statistics" });
    this.element = h("section", { "aria-labelledby": "statistics-title" }, h("h2", { id: "statistics-title" }, t("statistics")), this.body);
    this.render();
  }

  async load() {
    this.known = await get("/statistics");
    this.render();
  }

  render() {
    if (!this.known) {
      this.body.replaceChildren(h("p", { class: "quiet" }, t("loading")));
      return;
    }
    const { positions, wins, losses, draws, nodes, by_stones: byStones, by_depth: byDepth, engines, holes, grades } = this.known;
    const tile = (label, value) => h("div", { class: "tile" }, h("span", { class: "quiet" }, label), h("strong", {}, value));
    const open = grades?.reduce((sum, grade) => sum + grade.open, 0);
    this.body.replaceChildren(...[
      h("div", { class: "tiles" },
        tile(t("bookSize"), number(positions)), tile(t("provenWon"), number(wins)), tile(t("provenLost"), number(losses)),
        tile(t("provenDrawn"), number(draws)), open !== undefined && tile(t("openPositions"), number(open)), tile(t("nodes"), short(nodes))),
      h("div", { class: "charts" },
        this.chart(t("byStones"), Object.entries(byStones), positions), this.chart(t("byDepth"), Object.entries(byDepth), positions)),
      engines && Object.keys(engines).length > 0 && this.chart(t("byEngine"), Object.entries(engines), Math.max(...Object.values(engines))),
      holes && holes.length > 0 && this.holes(holes),
    ].filter(Boolean));
  }

  chart(title, entries, whole) {
    const most = Math.max(1, ...entries.map(([, count]) => count));
    const row = ([name, count]) => {
      const bar = h("span", { class: "fill", "aria-hidden": "true" });
      bar.style.width = `${Math.max(0.5, (100 * count) / most)}%`;
      return h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "bar-cell" }, bar), h("td", { class: "num" }, number(count)));
    };
    return h("table", { class: "chart", "data-whole": String(whole) }, h("caption", {}, title), h("tbody", {}, entries.map(row)));
  }

  holes(holes) {
    const item = ({ variant, moves, fen, move, loss }) => {
      const shape = game(variant);
      const line = moves ?? [];
      const start = moves ? "" : fen;
      const names = nameLine(shape, start, [...line, move]).join(" ");
      const link = `#/${[variant, line.join(","), encodeURIComponent(start ?? "")].join("/").replace(/\/+$/, "")}`;
      return h("li", {}, h("a", { href: link }, names), h("span", { class: "quiet small" }, ` ${t("holeLoss", { loss: signed(-loss) })}`));
    };
    return h("div", { class: "holes" }, h("h3", {}, t("holes")), h("p", { class: "quiet small" }, t("holesHint")), h("ol", {}, holes.map(item)));
  }
}
