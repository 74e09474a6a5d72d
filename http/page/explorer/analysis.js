// An analysis of the position by the cluster, which deepens as one watches.

import { here, isSite, listen, post } from "../base/api.js";
import { h } from "../base/element.js";
import { short, t } from "../base/words.js";
import { sayValue } from "../board/values.js";

/** Seconds that an analysis may take. */
const TIMES = [5, 15, 60, 300, 1800];
/** Steps of the log that are shown. */
const MAX_LOG = 12;
/** Positions that a build from here adds. */
const GROWTH = 100;

export class Analysis {
  constructor(explorer) {
    this.explorer = explorer;
    this.running = null;
    this.seconds = 15;
  }

  /** The analysis under way or the last one; null without one. */
  get current() {
    return this.running;
  }

  get isThinking() {
    return this.running?.state === "thinking";
  }

  /** Whether a search can begin: by the server, or in this browser. */
  get isOffered() {
    return this.explorer.app.status?.may_analyse || here.isOffered;
  }

  /** Whether this browser searches. */
  get isHere() {
    return here.isOffered && (isSite || !this.explorer.app.status?.may_analyse);
  }

  parts() {
    const { app, position } = this.explorer;
    const { status } = app;
    const analysis = this.running;
    const time = (seconds) => (seconds < 60 ? t("seconds", { n: seconds }) : t("minutes", { n: seconds / 60 }));
    const controls = this.isOffered && h("div", { class: "ask" },
      h("label", { for: "effort" }, t("effort")),
      h("select", { id: "effort", disabled: this.isThinking, onchange: (event) => { this.seconds = Number(event.target.value); } },
        TIMES.map((seconds) => h("option", { value: seconds, selected: seconds === this.seconds }, time(seconds)))),
      this.isThinking
        ? h("button", { type: "button", id: "stop", class: "danger", onclick: () => this.stop(true) }, t("stop"))
        : h("button", { type: "button", id: "analyze", class: "primary", disabled: Boolean(position.outcome), onclick: () => this.start() }, t("analyze")),
      this.growButton());
    if (!this.isOffered) {
      return [h("p", { class: "quiet" }, t(!status ? "offline" : status.is_cluster ? "analysisForbidden" : "analysisReadonly"))];
    }
    if (!analysis) return [controls, h("p", { class: "quiet" }, t(this.isHere ? "analysisHere" : "analysisIdle"))];
    const { answer, workers, log, state } = analysis;
    const crew = this.isHere ? [t("here"), answer?.slept_ms && t("slept", { n: Math.round(answer.slept_ms / 1000) })].filter(Boolean).join(" · ") : workers === 0 ? t("waiting") : workers === 1 ? t("worker") : t("workers", { n: workers });
    const word = { thinking: t("thinking"), done: t("done"), stopped: t("stopped") }[state];
    const line = h("p", { class: "progress", "aria-live": "off" },
      h("span", { class: this.isThinking ? "pulse" : "dot" }), `${word} · ${crew} · ${short(answer?.nodes ?? 0)} ${t("nodes").toLowerCase()} · ${((answer?.time_ms ?? 0) / 1000).toFixed(1)} s`);
    const deepened = log.length > 0 && h("details", { class: "deepened", open: !this.isFolded, ontoggle: (event) => { this.isFolded = !event.target.open; } }, h("summary", {}, t("deepened")),
      h("ol", {}, log.toReversed().slice(0, MAX_LOG).map((entry) => h("li", {},
        h("span", { class: "quiet" }, `${t("depth")} ${entry.depth}`), h("strong", {}, this.explorer.name(entry.best)),
        h("span", {}, sayValue(entry.value)), h("span", { class: "quiet" }, `${(entry.time_ms / 1000).toFixed(1)} s`)))));
    return [controls, line, answer && this.explorer.verdicts.table(answer), deepened];
  }

  /** The button that grows the book from here, where the server may. */
  growButton() {
    const { app, position } = this.explorer;
    const may = app.status?.may_change && app.status.has_book && !position.outcome;
    return may && h("button", { type: "button", "data-action": "grow", title: t("growHint", { n: GROWTH }), onclick: (event) => this.grow(event.currentTarget) }, t("grow"));
  }

  /** Starts a build that grows the book from the position. */
  async grow(button) {
    const { explorer } = this;
    const { fen, ...rest } = explorer.parameters(explorer.line);
    const moves = rest.moves.split(" ").filter(Boolean);
    const name = `grow-${moves.length}-${moves.slice(-6).join("-") || rest.variant}`;
    const body = { name, variant: rest.variant, roots: [rest.moves], policy: "drop-out", positions: GROWTH };
    if (fen) body.fen = fen;
    button.disabled = true;
    try {
      await post("/jobs", body);
      explorer.app.announce(t("growing", { name }), true);
    } catch (error) {
      explorer.app.complain(error);
    }
    button.disabled = false;
  }

  async start() {
    const { explorer } = this;
    this.stop();
    explorer.tab = "analysis";
    const controller = new AbortController();
    const analysis = { key: explorer.key(explorer.line), controller, state: "thinking", answer: null, workers: 0, log: [] };
    this.running = analysis;
    explorer.render();
    const body = { ...explorer.parameters(explorer.line), time_ms: this.seconds * 1000, top: 5 };
    if (!body.fen) delete body.fen;
    const receive = (name, data) => {
      if (name === "error") throw Object.assign(new Error(data.error.message), { code: data.error.code });
      if (this.running !== analysis) return;
      analysis.answer = explorer.asPlayed(data);
      analysis.workers = data.workers;
      const last = analysis.log.at(-1);
      if (data.best && (last?.best !== analysis.answer.best || data.is_final)) {
        const { best, depth } = analysis.answer;
        explorer.app.announce([t("best", { move: explorer.name(best) }), sayValue(data), `${t("depth")} ${depth}`].join(", "));
      }
      if (data.best && (last?.depth !== data.depth || last?.best !== analysis.answer.best)) {
        analysis.log.push({ depth: data.depth, best: analysis.answer.best, value: data, time_ms: data.time_ms });
      }
      if (data.is_final) analysis.state = "done";
      if (explorer.isShown && explorer.tab === "analysis") explorer.app.redraw(() => explorer.render());
    };
    try {
      const search = this.isHere ? (...request) => here.listen(...request) : listen;
      await search("/analyses", body, receive, controller.signal);
    } catch (error) {
      if (error.name !== "AbortError") explorer.app.complain(error);
    }
    if (analysis.state === "thinking") analysis.state = "stopped";
    if (explorer.isShown && this.running === analysis) explorer.app.redraw(() => explorer.render());
  }

  /** Ends the analysis; its answer stays if the user ended it. */
  stop(isKept = false) {
    this.running?.controller.abort();
    if (!isKept) this.running = null;
  }

  toggle() {
    if (this.isThinking) this.stop(true);
    else if (this.isOffered) this.start();
  }
}
