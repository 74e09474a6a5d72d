// The explorer: a board, what the book knows about its position, and an analysis that deepens.

import { get, listen } from "./api.js";
import { Board } from "./board.js";
import { h, icon } from "./element.js";
import { game, pieces, sideWord, VARIANTS } from "./games.js";
import { errorText, proofText } from "./messages.js";
import { isValued, label, rank, sayValue, tone } from "./values.js";
import { number, short, t } from "./words.js";

/** Moves of the list before "show all". */
const SHORT_LIST = 12;
/** Marks on the board. */
const MAX_MARKS = 60;
/** The wheel's way in pixels for one move. */
const WHEEL_STEP = 40;
const TIMES = [5, 15, 60, 300, 1800];

export class Explorer {
  constructor(app) {
    this.app = app;
    this.line = { variant: "freestyle-15", fen: "", moves: [], at: 0 };
    this.tab = "book";
    this.position = null;
    this.shown = this.line;
    this.known = null;
    this.ways = null;
    this.analysis = null;
    this.showsAll = false;
    this.showsBounds = false;
    this.cache = new Map();
    this.seconds = 15;
    this.build();
  }

  // The elements that stay; made anew for each language.
  build() {
    this.holder = h("div", { class: "board-holder", tabindex: "0", id: "board", role: "application", "aria-label": t("boardLabel") });
    const flipped = this.board?.flipped ?? false;
    const numbers = this.board?.numbers ?? false;
    this.board = new Board(this.holder, { play: (move) => this.play(move), announce: (text) => this.app.announce(text) });
    this.holder.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.board.flipped = flipped;
    this.board.numbers = numbers;
    const step = (name, go) =>
      h("button", { type: "button", class: "icon", id: name, title: t(name), "aria-label": t(name), onclick: go }, icon(name));
    this.buttons = {
      start: step("start", () => this.go(0)), back: step("back", () => this.go(this.line.at - 1)),
      forward: step("forward", () => this.go(this.line.at + 1)), end: step("end", () => this.go(this.line.moves.length)),
    };
    this.input = h("input", { type: "text", id: "moves", autocomplete: "off", spellcheck: "false", "aria-label": t("type") });
    this.variant = h("select", { id: "variant", "aria-label": t("variant"), onchange: () => this.open({ variant: this.variant.value }) });
    this.balance = h("div", { class: "balance", role: "img" }, h("span", { class: "share" }));
    this.notice = h("div", { class: "notice", role: "alert", hidden: true });
    this.headline = h("div", { class: "headline", "aria-live": "polite" });
    this.moves = h("ol", { class: "moves", "aria-label": t("line") });
    this.tabs = h("div", { class: "tabs", role: "tablist" });
    this.panel = h("div", { class: "panel", role: "tabpanel", id: "panel" });
    this.element = h("main", { class: "explorer", id: "main" },
      h("section", { class: "stage", "aria-label": t("explorer") },
        h("div", { class: "choose" },
          this.variant,
          h("div", { class: "tools" },
            h("button", { type: "button", class: "icon", id: "flip", title: t("flip"), "aria-label": t("flip"), onclick: () => this.board.turn() }, icon("flip")),
            h("button", { type: "button", class: "icon", id: "numbers", title: t("numbers"), "aria-label": t("numbers"), "aria-pressed": String(numbers), onclick: () => this.toggleNumbers() }, icon("numbers")),
            h("button", { type: "button", class: "icon", id: "copy", title: t("copy"), "aria-label": t("copy"), onclick: () => this.copy() }, icon("copy")))),
        this.balance, this.holder,
        h("div", { class: "steps", role: "group" }, Object.values(this.buttons)),
        h("form", { class: "type", onsubmit: (event) => this.typed(event) },
          this.input, h("button", { type: "submit" }, t("play")))),
      h("section", { class: "knowledge" }, this.notice, this.headline, this.moves, this.tabs, this.panel));
    if (this.position) this.render();
  }

  /** Whether this is the view in front. */
  get isShown() {
    return this.element.isConnected;
  }

  /** Opens the part of a link after `#/`: variant/moves@at/fen. */
  read(path) {
    const [variant = "", moves = "", fen = ""] = path.split("/").map(decodeURIComponent);
    const [text, at] = moves.split("@");
    const all = text.split(",").filter(Boolean);
    const ply = at === undefined ? all.length : Math.min(all.length, Number(at) || 0);
    this.load({ variant: variant || "freestyle-15", fen, moves: all, at: ply });
  }

  link() {
    const { variant, fen, moves, at } = this.line;
    const place = moves.join(",") + (at < moves.length ? `@${at}` : "");
    return `#/${[variant, place, encodeURIComponent(fen)].join("/").replace(/\/+$/, "")}`;
  }

  /** Opens another line and adds it to the browser's history. */
  open(change) {
    const next = { ...this.line, fen: "", moves: [], at: 0, ...change };
    this.line = next;
    const link = this.link();
    if (location.hash === link) this.load(next);
    else location.hash = link;
  }

  go(at) {
    const within = Math.max(0, Math.min(this.line.moves.length, at));
    if (within !== this.line.at) this.open({ ...this.line, at: within });
  }

  play(move) {
    const { moves, at } = this.line;
    const isNext = moves[at] === move;
    const line = isNext ? moves : [...moves.slice(0, at), move];
    this.open({ ...this.line, moves: line, at: at + 1 });
  }

  parameters() {
    const { variant, fen, moves, at } = this.line;
    return { variant, fen, moves: moves.slice(0, at).join(" ") };
  }

  async ask(path, parameters, signal) {
    const key = `${path}?${JSON.stringify(parameters)}`;
    if (this.cache.has(key)) return this.cache.get(key);
    const answer = await get(path, parameters, signal).catch((refused) => {
      if (["not_in_book", "conflict"].includes(refused.code) && path !== "/position") return null;
      throw refused;
    });
    this.cache.set(key, answer);
    if (this.cache.size > 400) this.cache.delete(this.cache.keys().next().value);
    return answer;
  }

  /** What was read of the book may be so no more. */
  forget() {
    for (const key of [...this.cache.keys()]) if (!key.startsWith("/position?")) this.cache.delete(key);
    if (this.isShown && this.position) this.load(this.line, true);
  }

  async load(line, isQuiet = false) {
    const isElsewhere = JSON.stringify(line) !== JSON.stringify(this.line) || !this.position;
    this.line = line;
    this.loading?.abort();
    this.loading = new AbortController();
    const { signal } = this.loading;
    const parameters = this.parameters();
    try {
      const [position, known, ways] = await Promise.all([
        this.ask("/position", parameters, signal),
        this.ask("/book", parameters, signal),
        this.ask("/transpositions", parameters, signal),
      ]);
      if (signal.aborted) return;
      Object.assign(this, { position, known, ways, shown: line });
      if (isElsewhere) this.notify(null);
      if (isElsewhere) this.showsAll = this.showsBounds = false;
      if (this.analysis && this.analysis.key !== this.key()) this.stop();
      this.pointed = null;
      this.app.redraw(() => this.render());
      if (!isQuiet) this.app.announce(this.headline.textContent);
    } catch (error) {
      if (error.name === "AbortError") return;
      // A link that only needs a token is followed once there is one.
      const isStart = line.moves.length === 0 && !line.fen && line.variant === "freestyle-15";
      if (error.status === 401 || error.code === "offline" || isStart) {
        this.app.complain(error);
        return;
      }
      await this.refuseLink(error);
    }
  }

  /** Says why a link cannot be opened, and shows the start of its game, or of the usual one. */
  async refuseLink(error) {
    const { variant } = this.line;
    const isKnown = await get("/position", { variant }).then(() => true, () => false);
    const start = { variant: isKnown ? variant : "freestyle-15", fen: "", moves: [], at: 0 };
    const text = t("badLink", { reason: errorText(error) });
    this.line = start;
    history.replaceState(null, "", this.link());
    await this.load(start);
    this.notify(text);
  }

  /** Shows a notice until the user dismisses it or goes elsewhere; without a text it disappears. */
  notify(text) {
    this.notice.hidden = !text;
    const close = h("button", { type: "button", class: "icon", "aria-label": t("dismiss"), onclick: () => this.notify(null) }, "×");
    this.notice.replaceChildren(...(text ? [h("span", {}, text), close] : []));
  }

  /** The wheel over the board walks the line; at its ends it scrolls the page. */
  wheel(event) {
    if (event.ctrlKey) return;
    const step = Math.sign(event.deltaY);
    const next = this.line.at + step;
    if (step === 0 || next < 0 || next > this.line.moves.length) {
      this.wheeled = 0;
      return;
    }
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : step * WHEEL_STEP;
    this.wheeled = Math.sign(this.wheeled ?? 0) === -step ? pixels : (this.wheeled ?? 0) + pixels;
    if (Math.abs(this.wheeled) < WHEEL_STEP) return;
    this.wheeled = 0;
    this.go(next);
  }

  key() {
    return JSON.stringify(this.parameters());
  }

  shape() {
    return game(this.position?.variant ?? this.line.variant);
  }

  side(side) {
    return t(sideWord(this.shape(), side));
  }

  /** The moves of an answer: first those with a value, best first, then those with only an upper bound. */
  sorted(answer) {
    const all = answer?.answers ?? [];
    return { valued: all.filter(isValued), bounded: all.filter((verdict) => !isValued(verdict)) };
  }

  /** The answer that the board and the list show. */
  answer() {
    return (this.tab === "analysis" && this.analysis?.answer) || this.known;
  }

  marks() {
    const { valued } = this.sorted(this.answer());
    return valued.slice(0, MAX_MARKS).map((verdict, at) => ({
      move: verdict.move, tone: tone(verdict, valued[0]), label: label(verdict), rank: at,
      words: sayValue(verdict, verdict.bound),
    }));
  }

  // Shows the line that was loaded last; the one asked for may still be loading.
  render() {
    const { variant, moves, at } = this.shown;
    const shape = this.shape();
    const names = VARIANTS.includes(variant) ? VARIANTS : [...VARIANTS, variant];
    this.variant.replaceChildren(...names.map((name) => h("option", { value: name, selected: name === variant }, name)));
    this.variant.value = variant;
    this.input.placeholder = t({ xiangqi: "typeHintXiangqi", surakarta: "typeHintSurakarta" }[shape.kind] ?? "typeHint");
    this.buttons.start.disabled = this.buttons.back.disabled = at === 0;
    this.buttons.forward.disabled = this.buttons.end.disabled = at === moves.length;
    this.drawBoard();
    this.renderHeadline();
    this.renderMoves();
    this.renderTabs();
    this.renderPanel();
  }

  drawBoard() {
    const shape = this.shape();
    const { position } = this;
    this.board.show({
      shape, board: pieces(shape, position), side: position.side, legal: position.legal, forbidden: position.forbidden,
      last: position.moves.at(-1), marks: position.outcome ? [] : this.marks(), line: null,
    });
  }

  renderHeadline() {
    const { position } = this;
    const answer = this.answer();
    const lines = [];
    if (position.outcome) {
      const text = position.outcome === "draw" ? t("drawn") : t("wins", { side: this.side(position.outcome) });
      lines.push(h("strong", {}, text));
    } else {
      lines.push(h("span", { class: `turn ${this.shape().kind} ${position.side}`, "aria-hidden": "true" }));
      lines.push(h("strong", {}, t("toMove", { side: this.side(position.side) })));
      if (answer?.best) {
        lines.push(h("span", { class: `value ${tone({ win_in: null, loss_in: null, ...answer }, answer)}` }, sayValue(answer)));
        lines.push(h("span", { class: "quiet" }, `${t("best", { move: answer.best })} · ${t("depth")} ${answer.depth}`));
        if (answer.proof !== "none") lines.push(h("span", { class: "seal" }, t("proven", { kind: proofText(answer.proof_kind) })));
      }
    }
    this.headline.replaceChildren(...lines);
    this.renderBalance(answer);
  }

  renderBalance(answer) {
    const { position } = this;
    const sign = position.side === "first" ? 1 : -1;
    let share = 0.5;
    if (position.outcome) share = { first: 1, second: 0, draw: 0.5 }[position.outcome];
    else if (answer?.best) share = 1 / (1 + Math.exp((-sign * rank(answer)) / 280));
    const percent = Math.round(100 * Math.min(0.985, Math.max(0.015, share)));
    this.balance.querySelector(".share").style.width = `${percent}%`;
    this.balance.className = `balance ${this.shape().kind}`;
    this.balance.setAttribute("aria-label", `${this.side("first")} ${percent}%`);
  }

  renderMoves() {
    const { moves, at } = this.shown;
    const item = (move, index) => {
      const isHere = index + 1 === at;
      return h("li", { class: index + 1 > at ? "after" : null },
        h("button", { type: "button", "aria-current": isHere ? "true" : null, onclick: () => this.go(index + 1) },
          h("span", { class: "ply", "aria-hidden": "true" }, `${index + 1}`), move));
    };
    const items = moves.length > 0 ? moves.map(item) : [h("li", { class: "quiet" }, t("lineEmpty"))];
    this.moves.replaceChildren(...items);
    const here = this.moves.querySelector("[aria-current]");
    if (here) this.moves.scrollTop = here.offsetTop - this.moves.offsetTop - 40;
  }

  renderTabs() {
    const tab = (name, extra) => h("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(this.tab === name), "aria-controls": "panel",
      onclick: () => { this.tab = name; this.render(); },
    }, t(name), extra);
    const isThinking = this.analysis?.state === "thinking";
    this.tabs.replaceChildren(
      tab("book", this.known && h("span", { class: "count" }, number(this.known.answers.length))),
      tab("analysis", isThinking && h("span", { class: "pulse", "aria-label": t("thinking") })));
  }

  renderPanel() {
    const parts = this.tab === "book" ? this.bookParts() : this.analysisParts();
    this.panel.setAttribute("aria-labelledby", `tab-${this.tab}`);
    this.panel.replaceChildren(...parts.flat().filter(Boolean));
  }

  bookParts() {
    if (!this.known) {
      return [h("div", { class: "empty" }, h("p", {}, t("notInBook")), h("p", { class: "quiet" }, t("notInBookHint"))), this.waysPart()];
    }
    const best = this.known.answers.find(({ move }) => move === this.known.best);
    const rivals = this.known.answers.filter((verdict) =>
      verdict.bound === "upper" && verdict.proof === "none" && best && best.win_in === null && rank(verdict) > rank(best));
    const shown = rivals.slice(0, 5).map(({ move }) => move).join(" ");
    return [
      rivals.length > 0 && h("p", { class: "doubt" }, t("inDoubt", { moves: shown + (rivals.length > 5 ? " …" : "") })),
      this.table(this.known), this.waysPart(),
    ];
  }

  table(answer) {
    const all = answer.answers;
    const { valued, bounded } = this.sorted(answer);
    const best = valued[0] ?? all[0];
    const rows = this.showsAll ? valued : valued.slice(0, SHORT_LIST);
    const hasPlay = all.some(({ line }) => line.length > 1);
    const head = ["move", "value", "bound", "depth", "nodes", "next", "engine", "date"].filter((name) => name !== "next" || hasPlay);
    const groups = new Map((this.ways?.behind ?? []).flatMap(({ moves }) => moves.map((move) => [move, moves])));
    const row = (verdict, at) => {
      const group = groups.get(verdict.move);
      const same = (group ?? []).filter((move) => move !== verdict.move);
      return h("tr", {
        class: isValued(verdict) ? (verdict.move === answer.best ? "best" : null) : "bounded", "data-move": verdict.move,
        onmouseenter: () => this.point(verdict, group), onmouseleave: () => this.point(null),
      },
        h("td", { class: "move" },
          h("button", { type: "button", onclick: () => this.play(verdict.move), onfocus: () => this.point(verdict, group), onblur: () => this.point(null) },
            h("span", { class: "index", "aria-hidden": "true" }, at < 9 && isValued(verdict) ? String(at + 1) : ""), verdict.move),
          group && h("span", { class: "onward", title: t("inBook"), "aria-label": t("inBook"), role: "img" }, "›"),
          same.length > 0 && h("span", { class: "same", title: t("sameAs", { moves: same.join(" ") }), "aria-label": t("sameAs", { moves: same.join(" ") }), role: "img" }, "≡")),
        h("td", { class: "val" }, h("span", { class: `value ${isValued(verdict) ? tone(verdict, best) : "bound"}` }, sayValue(verdict, verdict.bound)),
          verdict.proof !== "none" && h("span", { class: "seal", title: t("proven", { kind: proofText(verdict.proof_kind) }) }, proofText(verdict.proof_kind))),
        h("td", { class: "bnd", "data-label": t("bound") }, t(verdict.bound)),
        h("td", { class: "num", "data-label": t("depth") }, String(verdict.depth)),
        h("td", { class: "num", "data-label": t("nodes"), title: number(verdict.nodes) }, short(verdict.nodes)),
        hasPlay && h("td", { class: "pv" }, verdict.line.slice(1, 6).join(" ")),
        h("td", { class: "engine" }, verdict.engine),
        h("td", { class: "date" }, verdict.date));
    };
    return [
      h("table", { class: "verdicts" },
        h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", class: { next: "pv", engine: "engine", date: "date", bound: "bnd", depth: "num", nodes: "num" }[name] ?? null }, t(name))))),
        h("tbody", {}, rows.map(row)),
        bounded.length > 0 && h("tbody", { class: "bounds" },
          h("tr", {}, h("td", { colspan: String(head.length) },
            h("button", { type: "button", class: "fold", "aria-expanded": String(this.showsBounds), onclick: () => { this.showsBounds = !this.showsBounds; this.renderPanel(); } },
              t(bounded.length === 1 ? "bounded1" : "bounded", { n: number(bounded.length) })))),
          this.showsBounds && bounded.map(row))),
      valued.length > SHORT_LIST && h("button", { type: "button", class: "more", onclick: () => { this.showsAll = !this.showsAll; this.renderPanel(); } },
        this.showsAll ? t("showFew") : t("showAll", { n: number(valued.length) })),
    ];
  }

  /** Shows the expected play of a move under the pointer: as it was searched, or as the book continues. */
  async point(verdict, isHeld) {
    this.pointed = verdict;
    this.show(verdict?.line ?? null);
    if (!verdict || !isHeld || verdict.line.length > 1 || this.tab !== "book") return;
    const { moves } = this.parameters();
    const parameters = { ...this.parameters(), moves: `${moves} ${verdict.move}`.trim(), plies: "8", top: "1" };
    const tree = await this.ask("/tree", parameters).catch(() => null);
    const line = [verdict.move];
    for (let branch = tree?.branches[0]; branch; branch = branch.branches[0]) line.push(branch.move);
    if (this.pointed === verdict) this.show(line);
  }

  show(line) {
    this.board.state.line = line;
    this.board.draw();
  }

  waysPart() {
    const before = this.ways?.before ?? [];
    if (before.length === 0) return null;
    const way = ({ moves, move }) => h("li", {},
      h("button", { type: "button", onclick: () => this.open({ ...this.line, moves: [...moves, move], at: moves.length }) },
        t("via", { line: moves.join(" ") || t("start") })),
      h("span", { class: "quiet" }, ` + ${move}`));
    return h("details", { class: "ways" }, h("summary", {}, `${t("ways")} (${before.length})`), h("ul", {}, before.map(way)));
  }

  analysisParts() {
    const { status } = this.app;
    const analysis = this.analysis;
    const isThinking = analysis?.state === "thinking";
    const time = (seconds) => (seconds < 60 ? t("seconds", { n: seconds }) : t("minutes", { n: seconds / 60 }));
    const controls = h("div", { class: "ask" },
      h("label", { for: "effort" }, t("effort")),
      h("select", { id: "effort", disabled: isThinking, onchange: (event) => { this.seconds = Number(event.target.value); } },
        TIMES.map((seconds) => h("option", { value: seconds, selected: seconds === this.seconds }, time(seconds)))),
      isThinking
        ? h("button", { type: "button", id: "stop", class: "danger", onclick: () => this.stop(true) }, t("stop"))
        : h("button", { type: "button", id: "analyze", class: "primary", disabled: !status?.may_analyse || Boolean(this.position.outcome), onclick: () => this.analyze() }, t("analyze")));
    if (!status?.may_analyse) {
      return [controls, h("p", { class: "quiet" }, t(status?.is_cluster ? "analysisForbidden" : "analysisReadonly"))];
    }
    if (!analysis) return [controls, h("p", { class: "quiet" }, t("analysisIdle"))];
    const { answer, workers, log, state } = analysis;
    const crew = workers === 0 ? t("waiting") : workers === 1 ? t("worker") : t("workers", { n: workers });
    const word = { thinking: t("thinking"), done: t("done"), stopped: t("stopped") }[state];
    const line = h("p", { class: "progress", "aria-live": "off" },
      h("span", { class: isThinking ? "pulse" : "dot" }), `${word} · ${crew} · ${short(answer?.nodes ?? 0)} ${t("nodes").toLowerCase()} · ${((answer?.time_ms ?? 0) / 1000).toFixed(1)} s`);
    const deepened = log.length > 0 && h("details", { class: "deepened", open: !this.isFolded, ontoggle: (event) => { this.isFolded = !event.target.open; } }, h("summary", {}, t("deepened")),
      h("ol", {}, log.toReversed().slice(0, 12).map((entry) => h("li", {},
        h("span", { class: "quiet" }, `${t("depth")} ${entry.depth}`), h("strong", {}, entry.best),
        h("span", {}, entry.value), h("span", { class: "quiet" }, `${(entry.time_ms / 1000).toFixed(1)} s`)))));
    return [controls, line, answer && this.table(answer), deepened];
  }

  async analyze() {
    this.stop();
    this.tab = "analysis";
    const controller = new AbortController();
    const analysis = { key: this.key(), controller, state: "thinking", answer: null, workers: 0, log: [] };
    this.analysis = analysis;
    this.render();
    const body = { ...this.parameters(), time_ms: this.seconds * 1000, top: 5 };
    if (!body.fen) delete body.fen;
    const receive = (name, data) => {
      if (name === "error") throw Object.assign(new Error(data.error.message), { code: data.error.code });
      if (this.analysis !== analysis) return;
      analysis.answer = data;
      analysis.workers = data.workers;
      const last = analysis.log.at(-1);
      if (data.best && (last?.depth !== data.depth || last?.best !== data.best)) {
        analysis.log.push({ depth: data.depth, best: data.best, value: sayValue(data), time_ms: data.time_ms });
      }
      if (data.is_final) analysis.state = "done";
      if (this.isShown && this.tab === "analysis") this.app.redraw(() => this.render());
    };
    try {
      await listen("/analyses", body, receive, controller.signal);
    } catch (error) {
      if (error.name !== "AbortError") this.app.complain(error);
    }
    if (analysis.state === "thinking") analysis.state = "stopped";
    if (this.isShown && this.analysis === analysis) this.app.redraw(() => this.render());
  }

  /** Ends the analysis; its answer stays if the user ended it. */
  stop(isKept = false) {
    this.analysis?.controller.abort();
    if (!isKept) this.analysis = null;
  }

  toggleNumbers() {
    this.board.setNumbers(!this.board.numbers);
    this.element.querySelector("#numbers").setAttribute("aria-pressed", String(this.board.numbers));
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.app.announce(t("copied"), true);
    } catch {
      this.input.value = location.href;
      this.input.select();
    }
  }

  /** Opens what was typed: a FEN, a whole line, or moves after those on the board. */
  async typed(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return;
    const { variant, fen, moves, at } = this.line;
    const isFen = text.includes("/");
    const continued = { variant, fen, moves: [...moves.slice(0, at), text].join(" ") };
    let asked = continued;
    if (isFen) asked = { variant, fen: text };
    else if (this.isWholeLine(text)) asked = { variant, fen, moves: text };
    try {
      const position = await get("/position", asked);
      this.input.value = "";
      this.open({ variant, fen: isFen ? text : fen, moves: position.moves, at: position.moves.length });
    } catch (error) {
      this.app.complain(error);
    }
  }

  /** Whether a typed line begins with the moves on the board, and so stands for the whole line. */
  isWholeLine(text) {
    const move = this.shape().moves === "stones" ? /[a-z]\d{1,2}/g : /[a-z]\d{1,2}[a-z]\d{1,2}/g;
    const typed = text.toLowerCase().match(move) ?? [];
    const before = this.line.moves.slice(0, this.line.at);
    return before.length > 0 && typed.length >= before.length && before.every((name, at) => typed[at] === name);
  }

  /** Handles a key that no field took. */
  pressed(event) {
    const at = this.line.at;
    const row = this.sorted(this.answer()).valued[Number(event.key) - 1];
    const does = {
      ArrowLeft: () => this.go(at - 1), ArrowRight: () => this.go(at + 1), Home: () => this.go(0),
      End: () => this.go(this.line.moves.length), n: () => this.toggleNumbers(), f: () => this.board.turn(),
      b: () => this.answer()?.best && this.play(this.answer().best), "/": () => this.input.focus(),
      a: () => (this.analysis?.state === "thinking" ? this.stop(true) : this.app.status?.may_analyse && this.analyze()),
    }[event.key] ?? (row && (() => this.play(row.move)));
    if (!does) return;
    event.preventDefault();
    does();
  }
}


