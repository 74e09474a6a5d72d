// The cluster page: builds with their progress, and the workers.

import { get, post } from "../base/api.js";
import { h, s } from "../base/element.js";
import { gameName } from "../board/games.js";
import { startForm } from "./start.js";
import { serverText } from "../base/messages.js";
import { duration, language, number, short, t } from "../base/words.js";

/** Milliseconds between two looks at the server. */
const REFRESH_INTERVAL = 2000;
/** Widths of windows, and of the plots in them, in pixels. */
const PLOT_WIDTHS = [[1100, 990], [600, 720], [0, 360]];
const STATES = { running: "running", paused: "paused", done: "doneState", cancelled: "cancelled", failed: "failed" };

/** Nodes a second; the measured speed of an idle worker only fades. */
function currentSpeed(worker) {
  return worker.tasks > 0 ? worker.speed : 0;
}

export class Cluster {
  constructor(app) {
    this.app = app;
    this.jobs = [];
    this.workers = [];
    this.history = new Map();
    this.build();
  }

  build() {
    this.tiles = h("div", { class: "tiles" });
    this.list = h("div", { class: "jobs" });
    this.table = h("div", { class: "workers" });
    this.crew = h("section", { "aria-labelledby": "workers-title" }, h("h2", { id: "workers-title" }, t("workersTitle")), this.table);
    this.form = startForm(this.app, () => this.follow());
    this.element = h("main", { class: "cluster", id: "main" },
      this.tiles,
      h("section", { "aria-labelledby": "jobs-title" }, h("h2", { id: "jobs-title" }, t("jobs")), this.list, this.form),
      this.crew);
    this.render();
  }

  get isShown() {
    return this.element.isConnected;
  }

  /** Refreshes the page while it is in front. */
  async follow() {
    clearTimeout(this.timer);
    if (!this.isShown) return;
    try {
      [this.jobs, this.workers] = await Promise.all([get("/jobs"), get("/workers")]);
      await Promise.all(this.jobs.slice(0, 20).map(async ({ name }) => {
        this.history.set(name, await get(`/jobs/${encodeURIComponent(name)}/history`));
      }));
      await this.app.look();
      this.app.redraw(() => this.render());
    } catch (error) {
      this.app.complain(error);
    }
    if (this.isShown) this.timer = setTimeout(() => this.follow(), REFRESH_INTERVAL);
  }

  render() {
    const { status } = this.app;
    const tile = (label, value) => h("div", { class: "tile" }, h("span", { class: "quiet" }, label), h("strong", {}, value));
    const speed = this.workers.reduce((sum, worker) => sum + currentSpeed(worker), 0);
    const hasCluster = !status || status.is_cluster;
    this.crew.hidden = !hasCluster;
    this.tiles.replaceChildren(
      tile(t("bookSize"), number(status?.positions ?? 0)),
      ...(hasCluster ? [tile(t("runningJobs"), String(this.jobs.filter(({ state }) => state === "running").length)),
      tile(t("workersTitle"), String(this.workers.length)),
      tile(t("totalSpeed"), short(speed))] : []));
    this.list.replaceChildren(...(this.jobs.length > 0
      ? this.jobs.map((job) => this.job(job))
      : [h("p", { class: "quiet" }, t(status && !status.is_cluster ? "notCluster" : "noJobs"))]));
    this.table.replaceChildren(this.workersTable());
    this.form.hidden = !status?.may_change || !status.has_book;
  }

  job(job) {
    const { name, variant, state, positions, target, rate, frontier, set_aside: aside, reason, asides } = job;
    const share = target ? Math.min(1, positions / target) : null;
    const left = target && rate > 0 && state === "running" ? t("left", { t: duration((target - positions) / rate) }) : null;
    const facts = [
      target ? t("ofTarget", { n: number(positions), m: number(target) }) : t("noEnd", { n: number(positions) }),
      state === "running" && t("rate", { n: rate.toFixed(1) }), left,
      frontier > 0 && t("frontier", { n: number(frontier) }), aside > 0 && t("setAside", { n: number(aside) }),
      job.total_nodes && t("ofNodes", { n: short(job.nodes ?? 0), m: short(job.total_nodes) }),
      job.until_stable && t("endsStable", { n: number(job.until_stable) }),
      job.priority !== 0 && t("hasPriority", { n: job.priority }),
    ].filter(Boolean);
    const action = (word, kind, does) => h("button", { type: "button", class: kind, "data-action": word, onclick: does }, t(word));
    const change = async (what) => {
      try {
        await post(`/jobs/${encodeURIComponent(name)}/${what}`);
        await this.follow();
      } catch (error) {
        this.app.complain(error);
      }
    };
    const isOpen = state === "running" || state === "paused";
    const buttons = this.app.status?.may_change && isOpen && h("div", { class: "actions" },
      state === "running" ? action("pause", "", () => change("pause")) : action("resume", "primary", () => change("resume")),
      action("cancel", "danger", async () => {
        const isSure = await this.app.confirm(t("reallyCancel", { name }), t("cancelBuild"), t("keep"));
        if (isSure) await change("cancel");
      }));
    return h("article", { class: `job ${state}`, "data-job": name, "aria-label": name },
      h("header", {}, h("h3", {}, name), h("span", { class: "quiet" }, gameName(variant)), h("span", { class: `state ${state}` }, t(STATES[state] ?? "unknown"))),
      h("div", { class: "bar", role: "progressbar", "aria-label": name, "aria-valuemin": "0", "aria-valuemax": target ? String(target) : null, "aria-valuenow": String(positions) },
        this.fill(share, state)),
      h("p", { class: "facts" }, facts.join(" · ")),
      reason && h("p", { class: state === "failed" ? "complaint" : "quiet small" }, serverText(reason, t("anyJobFailed"))),
      job.waits_for && h("p", { class: "quiet small" }, t("waitsFor", { what: serverText(job.waits_for, t("anyWait")) })),
      asides?.map((aside) => h("p", { class: "quiet small" }, `${aside.position}: ${serverText(aside.reason, t("anyAside"))}`)),
      this.plot(name, isOpen), buttons);
  }

  fill(share, state) {
    const fill = h("span", { class: share === null && state === "running" ? "fill endless" : "fill" });
    fill.style.width = `${Math.round(1000 * (share ?? (state === "running" ? 0.3 : 1))) / 10}%`;
    return fill;
  }

  plot(name, isOpen) {
    const points = this.history.get(name) ?? [];
    const isFlat = points.every(({ positions }) => positions === points[0].positions);
    if (!isOpen && isFlat) return null;
    if (points.length < 2) return h("p", { class: "quiet small" }, t("plotEmpty"));
    const width = PLOT_WIDTHS.find(([window]) => innerWidth >= window)[1];
    const [height, left, foot] = [112, 46, 20];
    const first = points[0].at_ms;
    const span = Math.max(1, points.at(-1).at_ms - first);
    const most = Math.max(...points.map(({ positions }) => positions), 1);
    const least = Math.min(...points.map(({ positions }) => positions));
    const room = Math.max(1, most - least);
    const x = (point) => left + ((point.at_ms - first) / span) * (width - left - 8);
    const y = (point) => 8 + (1 - (point.positions - least) / room) * (height - foot - 16);
    const line = points.map((point) => `${x(point).toFixed(1)} ${y(point).toFixed(1)}`).join("L");
    const clock = (at) => new Intl.DateTimeFormat(language() === "zh" ? "zh-CN" : "en-GB", { timeStyle: "medium" }).format(at);
    const [from, to] = [clock(first), clock(points.at(-1).at_ms)];
    const ground = height - foot - 8;
    return h("figure", { class: "plot" },
      s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": t("plot", { from, to }) },
        s("line", { class: "axis", x1: left, y1: ground, x2: width - 8, y2: ground }),
        s("line", { class: "axis", x1: left, y1: 8, x2: width - 8, y2: 8 }),
        s("path", { class: "area", d: `M${left} ${ground}L${line}L${x(points.at(-1)).toFixed(1)} ${ground}Z` }),
        s("path", { class: "curve", d: `M${line}` }),
        s("circle", { class: "now", cx: x(points.at(-1)), cy: y(points.at(-1)), r: 3.5 }),
        s("text", { x: left - 6, y: 12, class: "end" }, short(most)),
        s("text", { x: left - 6, y: ground + 4, class: "end" }, short(least)),
        s("text", { x: left, y: height - 4 }, from),
        s("text", { x: width - 8, y: height - 4, class: "end" }, to)));
  }

  workersTable() {
    if (this.workers.length === 0) {
      return h("div", { class: "empty" }, h("p", {}, t("noWorkersTitle")), h("code", {}, t("noWorkersHint")));
    }
    const counts = ["workerTasks", "doneTasks", "verified", "refuted", "failedTasks", "speed"];
    const head = ["name", "engine", ...counts, "trust", "state"];
    const count = (word, text) => h("td", { class: "num", "data-label": t(word) }, text);
    const row = (worker) => {
      const { name, engine, slots, tasks, done, confirmed, refuted, failed = 0, trust, speed } = worker;
      return h("tr", {},
        h("td", {}, name), h("td", { class: "engine" }, engine), count("workerTasks", `${tasks}/${slots}`), count("doneTasks", number(done)),
        count("verified", number(confirmed)), count("refuted", number(refuted)), count("failedTasks", number(failed)),
        count("speed", tasks > 0 ? t("perSecond", { n: short(speed) }) : "–"),
        h("td", {}, trust ? h("span", { class: `state trust-${trust}` }, t(`trust_${trust}`)) : "–"),
        h("td", {}, this.workerState(worker)));
    };
    const kind = (name) => (counts.includes(name) ? "num" : name === "engine" ? "engine" : null);
    return h("table", { class: "verdicts" },
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", class: kind(name) }, t(name))))),
      h("tbody", {}, this.workers.map(row)));
  }

  workerState({ idle, quarantine }) {
    if (quarantine) return h("span", { class: "complaint", title: serverText(quarantine, t("trust_quarantined")) }, t("trust_quarantined"));
    if (idle) return h("span", { class: "quiet" }, serverText(idle, t("anyIdle")));
    return h("span", { class: "state running" }, t("busy"));
  }
}
