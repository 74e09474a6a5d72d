// The statistics of the book: positions by stones and by depth, proofs, engines, and the holes
// nearest to the start.

import { get } from "../base/api.js";
import { h, s } from "../base/element.js";
import { number, short, t } from "../base/words.js";
import { game } from "../board/games.js";
import { nameLine } from "../board/notation.js";
import { signed } from "../board/values.js";

/** Milliseconds of a day. */
const DAY = 86_400_000;
/** Days that get a dot of their own. */
const MAX_DOTS = 60;
/** Rows of a chart; more numbers are joined to ranges. */
const MAX_BINS = 12;
/** Last moves of the line of a hole that are shown. */
const MAX_TAIL = 4;

/** Counts by number, as counts by at most twelve ranges of the same width: [name, count]. */
function binned(counts) {
  const entries = Object.entries(counts).map(([name, count]) => [Number(name), count]);
  if (entries.length <= MAX_BINS) return entries.map(([at, count]) => [String(at), count]);
  const [first, last] = [entries[0][0], entries.at(-1)[0]];
  const width = Math.ceil((last - first + 1) / MAX_BINS);
  const bins = Array.from({ length: Math.ceil((last - first + 1) / width) }, (_, at) => {
    const [from, to] = [first + at * width, Math.min(last, first + (at + 1) * width - 1)];
    const within = entries.filter(([number]) => number >= from && number <= to);
    return [from === to ? String(from) : `${from}–${to}`, within.reduce((sum, [, count]) => sum + count, 0)];
  });
  return bins;
}

/** The holes nearest to the start that are shown. */
const MAX_HOLES = 10;

/** The sums of two objects of counts. */
function sums(some, more) {
  const all = { ...some };
  for (const [name, count] of Object.entries(more ?? {})) all[name] = (all[name] ?? 0) + count;
  return all;
}

/** The statistics of two parts of a book. */
function joined(some, more) {
  if (!some) return more;
  const all = { ...more };
  for (const name of ["positions", "wins", "losses", "draws", "nodes"]) all[name] = some[name] + more[name];
  for (const name of ["by_stones", "by_depth", "engines", "by_day"]) all[name] = sums(some[name], more[name]);
  const far = ({ moves }) => moves?.length ?? Infinity;
  all.holes = [...some.holes, ...more.holes].sort((a, b) => (far(a) - far(b) || 0) || a.loss - b.loss).slice(0, MAX_HOLES);
  all.grades = [...some.grades, ...more.grades];
  return all;
}

export class Statistics {
  constructor(app) {
    this.app = app;
    this.known = null;
    /** The share of the book that was counted, from 0 to 1. */
    this.share = 0;
  }

  build() {
    this.body = h("div", { class: "statistics" });
    this.element = h("section", { "aria-labelledby": "statistics-title" }, h("h2", { id: "statistics-title" }, t("statistics")), this.body);
    this.render();
  }

  /** Reads the statistics in parts, and shows those that were read, while the view is in front. */
  async load() {
    if (this.isLoading) return;
    this.isLoading = true;
    this.refusal = null;
    this.render();
    const held = this.app.overview?.variants.reduce((sum, { positions }) => sum + positions, 0) || 1;
    try {
      let [part, known] = ["first", null];
      while (part && this.element.isConnected) {
        const more = await get("/statistics", { part });
        known = joined(known, more);
        part = more.next;
        this.share = Math.min(1, known.positions / held);
        // A view that is opened again keeps what it showed until all is counted anew.
        if (!part || !this.isWhole) this.known = known;
        this.isWhole ||= !part;
        this.app.redraw(() => this.render(Boolean(part)));
      }
    } catch (error) {
      // A certificate has none.
      if (error.code !== "conflict") throw error;
      this.refusal = t("noStatistics");
      this.render();
    } finally {
      this.isLoading = false;
    }
  }

  /** How far the counting is. */
  progress() {
    const held = this.app.overview?.variants.reduce((sum, { positions }) => sum + positions, 0) ?? 0;
    const percent = Math.round(100 * this.share);
    const fill = h("span", { class: this.share > 0 ? "fill" : "fill endless" });
    if (this.share > 0) fill.style.width = `${percent}%`;
    return [h("p", { class: "quiet", role: "status" }, t("counting", { n: number(held) })),
      h("div", { class: "bar", role: "progressbar", "aria-label": t("statistics"), "aria-valuenow": String(percent) }, fill)];
  }

  render(isCounting = false) {
    if (!this.known) {
      this.body.replaceChildren(...(this.refusal ? [h("p", { class: "quiet", role: "status" }, this.refusal)] : this.progress()));
      return;
    }
    const { positions, wins, losses, draws, nodes, by_stones: byStones, by_depth: byDepth, engines, holes, grades, by_day: byDay } = this.known;
    const tile = (label, value) => h("div", { class: "tile" }, h("span", { class: "quiet" }, label), h("strong", {}, value));
    const open = grades?.reduce((sum, grade) => sum + grade.open, 0);
    this.body.replaceChildren(...(isCounting ? this.progress() : []), ...[
      h("div", { class: "tiles" },
        tile(t("bookSize"), number(positions)), tile(t("provenWon"), number(wins)), tile(t("provenLost"), number(losses)),
        tile(t("provenDrawn"), number(draws)), open !== undefined && tile(t("openPositions"), number(open)), tile(t("nodes"), short(nodes))),
      h("div", { class: "charts" },
        // A certificate counts neither.
        [["byStones", byStones], ["byDepth", byDepth]].filter(([, counts]) => Object.keys(counts).length > 0)
          .map(([title, counts]) => this.chart(t(title), binned(counts), positions))),
      engines && Object.keys(engines).length > 0 && this.chart(t("byEngine"), Object.entries(engines), Math.max(...Object.values(engines))),
      byDay && Object.keys(byDay).length > 0 && this.growth(Object.entries(byDay)),
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

  /** The positions of the book over time, by the day of their first search. */
  growth(days) {
    const [width, height, left, foot] = [innerWidth < 600 ? 360 : 1040, 150, 52, 22];
    const time = (day) => Date.parse(day);
    const first = time(days[0][0]) - DAY;
    const span = Math.max(DAY, time(days.at(-1)[0]) - first);
    let all = 0;
    const points = [{ at: first, all: 0 }];
    for (const [day, count] of days) {
      // A day without searches adds nothing: the line is level until the next one.
      if (time(day) - points.at(-1).at > DAY) points.push({ at: time(day) - DAY, all });
      all += count;
      points.push({ at: time(day), all });
    }
    const ground = height - foot;
    const x = ({ at }) => left + ((at - first) / span) * (width - left - 10);
    const y = (point) => 10 + (1 - point.all / all) * (ground - 10);
    const line = points.map((point) => `${x(point).toFixed(1)} ${y(point).toFixed(1)}`).join("L");
    const [from, to] = [days[0][0], days.at(-1)[0]];
    const dots = days.length <= MAX_DOTS ? days.map(([day, count]) => {
      const point = points.find(({ at }) => at === time(day));
      return s("circle", { class: "point", cx: x(point), cy: y(point), r: 3 }, s("title", {}, `${day}: ${number(count)}`));
    }) : [];
    return h("figure", { class: "graph growth" },
      h("figcaption", {}, t("growth")),
      s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": t("growthLabel", { from, to, n: number(all) }) },
        s("line", { class: "axis", x1: left, x2: width - 10, y1: ground, y2: ground }),
        s("path", { class: "area", d: `M${left} ${ground}L${line}L${width - 10} ${ground}Z` }),
        s("path", { class: "curve", d: `M${line}` }), dots,
        s("text", { x: left - 6, y: 15, "text-anchor": "end" }, short(all)),
        s("text", { x: left - 6, y: ground, "text-anchor": "end" }, "0"),
        s("text", { x: left, y: height - 5 }, from),
        s("text", { x: width - 10, y: height - 5, "text-anchor": "end" }, to)));
  }

  holes(holes) {
    const item = ({ variant, moves, fen, move, loss }) => {
      const shape = game(variant);
      const line = moves ?? [];
      const start = moves ? "" : fen;
      const names = nameLine(shape, start, [...line, move]);
      const isLong = line.length > MAX_TAIL;
      const tail = (isLong ? names.slice(-1 - MAX_TAIL, -1) : names.slice(0, -1)).join(" ");
      const link = `#/${[variant, line.join(","), encodeURIComponent(start ?? "")].join("/").replace(/\/+$/, "")}`;
      return h("li", {}, h("a", { href: link, title: names.join(" ") }, isLong && t("afterMoves", { n: number(line.length) }), tail && ` ${tail} `, h("strong", {}, names.at(-1))),
        h("span", { class: "quiet small" }, ` ${t("holeLoss", { loss: signed(-loss) })}`));
    };
    return h("div", { class: "holes" }, h("h3", {}, t("holes")), h("p", { class: "quiet small" }, t("holesHint")), h("ol", {}, holes.map(item)));
  }
}
