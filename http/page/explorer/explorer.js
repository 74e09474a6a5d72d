// The explorer: a board, what the book knows about its position, and the panels beside it.

import { get, here, isSite } from "../base/api.js";
import { h, icon } from "../base/element.js";
import { errorText, proofText } from "../base/messages.js";
import { number, t } from "../base/words.js";
import { Board } from "../board/board.js";
import { game, gameName, pieces, sideWord, VARIANTS } from "../board/games.js";
import { nameLine, nameMove } from "../board/notation.js";
import { asPlayed, openingName, shownMove } from "../board/openings.js";
import { isKnown, isPlayed, label, rank, sayValue, share, tone } from "../board/values.js";
import { Analysis } from "./analysis.js";
import { Annotate } from "./annotate.js";
import { openCopy } from "./copy.js";
import { Departure } from "./departure.js";
import { openEditor } from "./editor.js";
import { Games } from "./games.js";
import { Graph } from "./graph.js";
import { noteOn, Notes, receiveNotes, textsOn } from "./notes.js";
import { OpeningRule } from "./opening_rule.js";
import { Practice } from "./practice.js";
import { Proof } from "./proof.js";
import { Suspects } from "./suspects.js";
import { Tree } from "./tree.js";
import { Typing } from "./typing.js";
import { isCounted, sortedVerdicts, Verdicts } from "./verdicts.js";
import { Why } from "./why.js";

/** Windows with room beside the moves. */
const WIDE = matchMedia("(min-width: 901px)");
/** Rows of the list whose moves have marks on the board. */
const MAX_MARKS = 60;
/** Letters of a text on the board. */
const MAX_TEXT = 4;
/** The wheel's way in pixels for one move. */
const WHEEL_STEP = 40;
/** Pixels of the edges that fade where more tabs are behind them. */
const TAB_FADE = 42;
/** Answers that the page keeps. */
const MAX_CACHED = 400;
/** The panels, in the order of their tabs. */
const TABS = isSite ? ["book", "tree", "analysis", "practice", "proof", "notes"]
  : ["book", "tree", "why", "suspects", "games", "analysis", "practice", "proof", "notes"];

/** A part of a link; one that is wrongly escaped stays as it is. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export class Explorer {
  constructor(app) {
    this.app = app;
    this.line = { variant: "freestyle-15", fen: "", moves: [], at: 0 };
    this.tab = "book";
    this.position = null;
    this.shown = this.line;
    this.isLoading = false;
    this.known = null;
    this.ways = null;
    this.heldMoves = null;
    this.trouble = null;
    this.names = [];
    this.cache = new Map();
    this.verdicts = new Verdicts(this);
    this.analysis = new Analysis(this);
    this.annotate = new Annotate(this);
    this.tree = new Tree(this);
    this.why = new Why(this);
    this.suspects = new Suspects(this);
    this.games = new Games(this);
    this.notes = new Notes(this);
    this.practice = new Practice(this);
    this.proof = new Proof(this);
    this.build();
  }

  // The elements that stay; made anew for each language.
  build() {
    this.holder = h("div", { class: "board-holder", tabindex: "0", id: "board", role: "application", "aria-label": t("boardLabel") });
    const flipped = this.board?.flipped ?? false;
    const numbers = this.board?.numbers ?? false;
    this.board = new Board(this.holder, { play: (move) => this.openingRule.click(move) || this.play(move, true), announce: (text) => this.app.announce(text) });
    this.holder.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.board.flipped = flipped;
    this.board.numbers = numbers;
    const step = (name, go) =>
      h("button", { type: "button", class: "icon", id: name, title: t(name), "aria-label": t(name), onclick: go }, icon(name));
    this.buttons = {
      start: step("start", () => this.go(0)), back: step("back", () => this.go(this.line.at - 1)),
      forward: step("forward", () => this.go(this.line.at + 1)), end: step("end", () => this.go(this.line.moves.length)),
    };
    this.typing = new Typing(this);
    this.graph = new Graph(this);
    this.departure = new Departure(this);
    this.openingRule = new OpeningRule(this);
    this.variant = h("select", { id: "variant", "aria-label": t("variant"), onchange: () => this.open(this.beginning(this.variant.value)) });
    this.balance = h("div", { class: "balance", role: "img" }, h("span", { class: "share" }));
    this.notice = h("div", { class: "notice", role: "alert", hidden: true });
    this.notify(this.noticed);
    this.headline = h("div", { class: "headline", "aria-live": "polite" });
    this.moves = h("ol", { class: "moves", "aria-label": t("line") });
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": t("panels"), onkeydown: (event) => this.tabKey(event), onscroll: () => this.showMoreTabs() });
    new ResizeObserver(() => this.showMoreTabs()).observe(this.tabs);
    this.panel = h("div", { class: "panel", role: "tabpanel", id: "panel" });
    this.aside = h("div", { class: "aside" });
    this.element = h("main", { class: "explorer", id: "main", ondragover: (event) => event.preventDefault(), ondrop: (event) => this.typing.drop(event) },
      h("section", { class: "stage", "aria-label": t("explorer") },
        h("div", { class: "choose" },
          this.variant,
          h("div", { class: "tools" },
            h("button", { type: "button", class: "icon", id: "flip", title: t("flip"), "aria-label": t("flip"), onclick: () => this.board.turn() }, icon("flip")),
            h("button", { type: "button", class: "icon", id: "numbers", title: t("numbers"), "aria-label": t("numbers"), "aria-pressed": String(numbers), onclick: () => this.toggleNumbers() }, icon("numbers")),
            h("button", { type: "button", class: "icon", id: "copy", title: t("copy"), "aria-label": t("copy"), onclick: () => openCopy(this) }, icon("copy")),
            h("button", { type: "button", class: "icon", id: "edit", title: t("edit"), "aria-label": t("edit"), onclick: () => openEditor(this) }, icon("edit")))),
        this.balance, this.holder,
        h("div", { class: "steps", role: "group" }, Object.values(this.buttons)),
        this.typing.element),
      h("section", { class: "knowledge" }, this.notice, this.headline, this.openingRule.element, this.moves, this.departure.element, this.graph.element, this.tabs, this.panel, this.aside));
    if (this.position) this.render();
  }

  /** Whether the board shows another line than the one asked for, as after a server's silence. */
  get isLate() {
    return Boolean(this.position) && this.line !== this.shown;
  }

  get isShown() {
    return this.element.isConnected;
  }

  /** Opens the part of a link after `#/`: variant/moves@at/fen/notes. */
  read(path) {
    const [variant = "", moves = "", fen = "", notes = ""] = path.split("/").map(decoded);
    const [text, at] = moves.split("@");
    const all = text.split(",").filter(Boolean);
    const ply = at === undefined ? all.length : Math.min(all.length, Number(at) || 0);
    const line = { variant: variant || "freestyle-15", fen, moves: all, at: ply };
    const loaded = this.load(line);
    if (!notes) return;
    loaded.then(() => receiveNotes(notes, line)).catch(() => {}).then(() => {
      history.replaceState(null, "", this.link());
      if (this.position) this.render();
    });
  }

  link() {
    const { variant, fen, moves, at } = this.line;
    const place = moves.join(",") + (at < moves.length ? `@${at}` : "");
    return `#/${[variant, place, encodeURIComponent(fen)].join("/").replace(/\/+$/, "")}`;
  }

  /** The place where the book begins: of a variant, or of the one that it holds most of. */
  beginning(variant) {
    const held = this.app.overview?.variants ?? [];
    const most = held.toSorted((a, b) => b.positions - a.positions)[0];
    const chosen = variant ? held.find((one) => one.variant === variant) : most;
    const { moves, fen } = chosen?.roots[0] ?? { moves: [], fen: "" };
    return { variant: chosen?.variant ?? variant ?? "freestyle-15", fen: fen ?? "", moves, at: moves.length };
  }

  openRoot(variant, { moves, fen }) {
    this.open({ variant, fen: fen ?? "", moves, at: moves.length });
  }

  rootName(variant, { moves, fen }) {
    return nameLine(game(variant), fen, moves).join(" ") || t("start");
  }

  /** The name of a move from the position. */
  name(move) {
    return nameMove(this.shape(), this.position?.fen, move);
  }

  /** The name of a move at a place of the line. */
  nameAt(ply, move) {
    const { fen, moves } = this.shown;
    return nameLine(this.shape(), fen, [...moves.slice(0, ply), move]).at(-1);
  }

  /** Opens another line and adds it to the browser's history. */
  open(change) {
    const next = { ...this.line, fen: "", moves: [], at: 0, ...change };
    this.line = next;
    this.isLoading = true;
    const link = this.link();
    if (location.hash === link) this.load(next);
    else location.hash = link;
  }

  go(at) {
    const within = Math.max(0, Math.min(this.line.moves.length, at));
    if (within !== this.line.at) this.open({ ...this.line, at: within });
  }

  play(move, isPoint = false) {
    // A move of a list belongs to the position on the board; a stone has its place in the next one too.
    const isFree = isPoint && this.shape().moves === "stones" && !this.line.moves.includes(move);
    if (this.isLoading && !isFree) return;
    this.practice.judge(move);
    this.playBook(move);
  }

  /** Plays a move that the user need not be judged for. */
  playBook(move) {
    const { moves, at } = this.line;
    const isNext = moves[at] === move;
    const line = isNext ? moves : [...moves.slice(0, at), move];
    this.open({ ...this.line, moves: line, at: at + 1 });
  }

  /** What the API is asked about: the position on the board, or the one that a line leads to. */
  parameters(line = this.shown) {
    const { variant, fen, moves, at } = line;
    return { variant, fen, moves: moves.slice(0, at).join(" ") };
  }

  async ask(path, parameters, signal) {
    const key = `${path}?${JSON.stringify(parameters)}`;
    if (this.cache.has(key)) return this.cache.get(key);
    const answer = await get(path, parameters, signal).catch((refused) => {
      if (path === "/book" && refused.code === "not_in_book") return { isMissing: true, held: refused.heldMoves ?? null };
      if (["not_in_book", "conflict"].includes(refused.code) && path !== "/position") return null;
      throw refused;
    });
    this.cache.set(key, answer);
    if (this.cache.size > MAX_CACHED) this.cache.delete(this.cache.keys().next().value);
    return answer;
  }

  /** What was read of the book may be so no more. */
  forget() {
    for (const key of [...this.cache.keys()]) if (!key.startsWith("/position?")) this.cache.delete(key);
    this.why.clear();
    this.suspects.clear();
    this.games.clear();
    if (this.isShown && this.position) this.load(this.line, true);
  }

  async load(line, isQuiet = false) {
    const isElsewhere = JSON.stringify(line) !== JSON.stringify(this.shown) || !this.position;
    this.line = line;
    this.loading?.abort();
    this.loading = new AbortController();
    const { signal } = this.loading;
    this.isLoading ||= isElsewhere;
    const parameters = this.parameters(line);
    try {
      const book = Promise.all(["/book", "/transpositions"].map((path) => this.ask(path, parameters, signal)));
      book.catch(() => {});
      const position = await this.ask("/position", parameters, signal);
      if (signal.aborted) return;
      // The board does not wait for a book that is still loading.
      if (isElsewhere && here.isOpening) {
        this.take(line, position);
        this.notify(null);
        this.isLoading = false;
      }
      this.trouble = null;
      const [known, ways] = await book.catch((error) => {
        if (!isSite || error.name === "AbortError") throw error;
        this.trouble = error;
        return [null, null];
      });
      if (signal.aborted) return;
      if (isElsewhere) this.notify(null);
      if (isElsewhere) this.verdicts.fold();
      this.take(line, position, known, ways);
      if (this.trouble) this.notify(() => errorText(this.trouble));
      this.graph.load(signal).then(() => this.departure.load(this.graph.read, signal)).catch(() => {});
      this.practice.reply();
      if (!isQuiet) this.app.announce(this.headline.textContent);
    } catch (error) {
      if (error.name === "AbortError") return;
      // A link that only needs a token is followed once there is one.
      const isStart = line.moves.length === 0 && !line.fen && line.variant === "freestyle-15";
      const isOurs = isSite && error.code !== "bad_request";
      if (error.status === 401 || error.code === "offline" || isStart || isOurs) {
        // A site without its files has no other place that says so for long.
        if (isSite) this.notify(() => errorText(error));
        else this.app.complain(error);
        return;
      }
      await this.refuseLink(error);
    } finally {
      if (!signal.aborted) this.isLoading = false;
    }
  }

  /** Shows a position and what the book knows of it. */
  take(line, position, known = null, ways = null) {
    const isMissing = known?.isMissing;
    Object.assign(this, { position, ways, shown: line, heldMoves: isMissing ? known.held : null });
    this.known = isMissing ? null : this.asPlayed(known);
    this.names = nameLine(this.shape(), line.fen, line.moves);
    if (this.analysis.current && this.analysis.current.key !== this.key()) this.analysis.stop();
    this.app.redraw(() => this.render());
  }

  /** Says why a link cannot be opened, and shows the line before it, or the start of its game, or of the book. */
  async refuseLink(error) {
    const { variant } = this.line;
    const isKnown = await get("/position", { variant }).then(() => true, () => false);
    const isHere = this.position && this.shown.variant === variant;
    const start = isHere ? this.shown : isKnown ? { variant, fen: "", moves: [], at: 0 } : this.beginning();
    this.line = start;
    history.replaceState(null, "", this.link());
    await this.load(start);
    this.notify(() => t("badLink", { reason: errorText(error) }));
  }

  /** Shows a notice until the user dismisses it or goes elsewhere, also in another language; without
   * words it disappears. */
  notify(words) {
    this.noticed = words;
    const text = words?.();
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

  /** Writes all moves and values anew, after a change of a setting. */
  rename() {
    this.names = nameLine(this.shape(), this.shown.fen, this.shown.moves);
    if (this.isShown) this.render();
  }

  key(line = this.shown) {
    return JSON.stringify(this.parameters(line));
  }

  shape() {
    return game(this.position?.variant ?? this.line.variant);
  }

  side(side) {
    return t(sideWord(this.shape(), side));
  }

  /** The answer that the board and the list show. */
  answer() {
    return (this.tab === "analysis" && this.analysis.current?.answer) || this.known;
  }

  /** An answer to the position on the board, or to another, with the moves that people play of two that mirror each other. */
  asPlayed(answer, position = this.position) {
    if (!answer?.answers) return answer;
    const answers = asPlayed(this.shape(), position, answer.answers);
    return { ...answer, answers, best: answer.best && shownMove(answers, answer.best) };
  }

  marks() {
    const { shown } = sortedVerdicts(this.answer());
    const texts = textsOn(this.known);
    for (const move of this.openingRule.offered()) texts.set(move, texts.get(move) ?? "5");
    const groups = this.verdicts.groups();
    const rows = new Set(this.verdicts.rows(this.answer()).slice(0, MAX_MARKS).flatMap(({ move }) => groups.get(move) ?? [move]));
    const marks = shown.filter(({ move }) => rows.has(move)).map((verdict, at) => {
      const text = texts.get(verdict.move);
      return {
        move: verdict.move, tone: tone(verdict), rank: at, words: [sayValue(verdict, verdict.bound), text].filter(Boolean).join(", "),
        // A text stands beside a value, and says more than how often a move was made.
        note: isPlayed(verdict) ? "" : text?.slice(0, MAX_TEXT) ?? "",
        label: (width) => (!isPlayed(verdict) ? label(verdict, width) : text ?? (isCounted(this.answer()) ? label(verdict, width) : "")),
      };
    });
    if (this.shape().moves !== "stones") return marks;
    const others = [...texts].filter(([move]) => !marks.some((mark) => mark.move === move));
    return marks.concat(others.map(([move, text]) => ({ move, tone: "t2", label: () => text.slice(0, MAX_TEXT), rank: MAX_MARKS, words: text })));
  }

  // Shows the line that was loaded last; the one asked for may still be loading.
  render() {
    const { variant, moves, at } = this.shown;
    const shape = this.shape();
    const held = (this.app.overview?.variants ?? []).map((one) => one.variant);
    const names = [...new Set([...held, ...VARIANTS, variant])];
    const option = (name) => h("option", { value: name, selected: name === variant }, held.includes(name) ? `${gameName(name)} ·` : gameName(name));
    this.variant.replaceChildren(...names.map(option));
    this.variant.value = variant;
    this.typing.input.placeholder = t({ xiangqi: "typeHintXiangqi", surakarta: "typeHintSurakarta" }[shape.kind] ?? "typeHint");
    this.buttons.start.disabled = this.buttons.back.disabled = at === 0;
    this.buttons.forward.disabled = this.buttons.end.disabled = at === moves.length;
    this.drawBoard();
    this.renderHeadline();
    this.openingRule.render();
    this.renderMoves();
    this.graph.draw();
    this.renderTabs();
    this.renderPanel();
    this.scrollToChosen();
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
        const best = answer.answers.find(({ move }) => move === answer.best);
        const word = best && isPlayed(best) && isCounted(answer) ? "mostPlayed" : "best";
        if (isKnown(answer)) lines.push(h("span", { class: `value ${tone(answer)}` }, sayValue(answer)));
        if (!best || !isPlayed(best) || isCounted(answer)) lines.push(h("span", { class: "quiet" }, [t(word, { move: this.name(answer.best) }), answer.depth > 0 && `${t("depth")} ${answer.depth}`].filter(Boolean).join(" · ")));
        if (answer.proof && answer.proof !== "none") lines.push(h("span", { class: "seal" }, t("proven", { kind: proofText(answer.proof_kind) })));
      }
    }
    const opening = openingName(this.shape(), this.shown.fen, position.moves);
    if (opening) lines.push(h("span", { class: "opening" }, opening));
    const comments = (this.known?.annotations ?? []).filter((note) => note.kind === "comment" && !note.move);
    const hand = this.known?.hand;
    if (hand) lines.push(h("span", { class: "opening" }, t("setByHand", { what: hand.score === null ? t(`kind_${hand.outcome ?? (hand.prefer ? "prefer" : "avoid")}`) : (hand.score / 100).toFixed(2) })));
    for (const note of comments.slice(0, 1)) lines.push(h("button", { type: "button", class: "comment", onclick: () => this.showTab("notes") }, note.text));
    if (noteOn(position.key)) lines.push(h("button", { type: "button", class: "opening", onclick: () => this.showTab("notes") }, t("hasNote")));
    this.headline.replaceChildren(...lines);
    this.renderBalance(answer);
  }

  renderBalance(answer) {
    const { position } = this;
    const sign = position.side === "first" ? 1 : -1;
    let part = 0.5;
    if (position.outcome) part = { first: 1, second: 0, draw: 0.5 }[position.outcome];
    else if (answer?.best) part = share(sign * rank(answer));
    const percent = Math.round(100 * Math.min(0.985, Math.max(0.015, part)));
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
          h("span", { class: "ply", "aria-hidden": "true" }, `${index + 1}`), this.names[index] ?? move));
    };
    const items = moves.length > 0 ? moves.map(item) : [h("li", { class: "quiet" }, t("lineEmpty"))];
    this.moves.replaceChildren(...items);
  }

  /** The panels that there are: certificates need the program in this browser. */
  tabNames() {
    return TABS.filter((name) => name !== "proof" || here.isOffered);
  }

  renderTabs() {
    const extra = {
      book: this.known && h("span", { class: "count" }, number(this.verdicts.rows(this.known).length)),
      analysis: this.analysis.isThinking && h("span", { class: "pulse", "aria-label": t("thinking") }),
      practice: this.practice.isOn && h("span", { class: "dot", "aria-hidden": "true" }),
    };
    const tab = (name) => h("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(this.tab === name), "aria-controls": "panel", tabindex: this.tab === name ? "0" : "-1",
      onclick: () => this.showTab(name),
    }, t(name), extra[name]);
    this.tabs.replaceChildren(...this.tabNames().map(tab));
  }

  /** Scrolls to what is chosen, once all is drawn: places are known only after a layout. */
  scrollToChosen() {
    const here = this.moves.querySelector("[aria-current]");
    if (here) this.moves.scrollTop = here.offsetTop - this.moves.offsetTop - 40;
    this.showMoreTabs();
    // A narrow window shows only some of the tabs.
    const chosen = this.tabs.querySelector("[aria-selected=true]");
    const [left, width] = [chosen.offsetLeft - this.tabs.offsetLeft, chosen.offsetWidth];
    if (left < this.tabs.scrollLeft + TAB_FADE || left + width + TAB_FADE > this.tabs.scrollLeft + this.tabs.clientWidth) {
      this.tabs.scrollLeft = left - (this.tabs.clientWidth - width) / 2;
    }
  }

  /** Fades the edges behind which there are more tabs. */
  showMoreTabs() {
    const { scrollLeft, clientWidth, scrollWidth } = this.tabs;
    this.tabs.classList.toggle("more-before", scrollLeft > 2);
    this.tabs.classList.toggle("more-behind", scrollLeft + clientWidth < scrollWidth - 2);
  }

  showTab(name) {
    this.tab = name;
    // A file may be dropped before the first position was read.
    if (this.position) this.render();
    this.tabs.querySelector("[aria-selected=true]")?.focus({ preventScroll: true });
  }

  /** The keys left and right choose a tab. */
  tabKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const names = this.tabNames();
    this.showTab(names[(names.indexOf(this.tab) + step + names.length) % names.length]);
  }

  renderPanel() {
    // A note that is being written keeps its field, and with it the input method's state.
    if (this.tab === "notes" && this.notes.isBeingWritten) return;
    if (this.tab === "games" && this.games.isFiltering) {
      this.games.refresh();
      return;
    }
    const parts = {
      book: () => this.verdicts.bookParts(), tree: () => this.tree.parts(), why: () => this.why.parts(),
      suspects: () => this.suspects.parts(), games: () => this.games.parts(),
      analysis: () => [...this.analysis.parts(), ...this.annotate.parts()], practice: () => this.practice.parts(), proof: () => this.proof.parts(), notes: () => this.notes.parts(),
    }[this.tab]();
    this.panel.setAttribute("aria-labelledby", `tab-${this.tab}`);
    this.panel.replaceChildren(...parts.flat().filter(Boolean));
    this.renderAside();
  }

  /** Fills the room of a wide window beside the moves: variations, and the games that passed here. */
  renderAside() {
    const isFree = this.known && this.tab === "book" && !this.practice.isOn && WIDE.matches;
    const parts = isFree ? [...this.tree.besideParts(), ...this.games.besideParts()] : [];
    this.aside.replaceChildren(...parts);
  }

  toggleNumbers() {
    this.board.setNumbers(!this.board.numbers);
    this.element.querySelector("#numbers").setAttribute("aria-pressed", String(this.board.numbers));
  }

  /** Opens what a text stands for, if the server finds it possible. */
  async openText({ link, fen, moves }) {
    if (link !== undefined) {
      location.hash = `#/${link}`;
      return;
    }
    const { variant, at } = this.line;
    const position = await get("/position", { variant, fen, moves });
    const before = [this.line.fen, ...this.line.moves.slice(0, at)];
    const isNext = this.practice.isOn && position.moves.length === at + 1 && String(before) === String([fen, ...position.moves.slice(0, at)]);
    if (isNext) this.play(position.moves[at]);
    else this.open({ variant, fen, moves: position.moves, at: position.moves.length });
  }

  /** Handles a key that no field took. */
  pressed(event) {
    const at = this.line.at;
    const row = this.verdicts.rows(this.answer())[Number(event.key) - 1];
    const does = {
      ArrowLeft: () => this.go(at - 1), ArrowRight: () => this.go(at + 1), Home: () => this.go(0),
      End: () => this.go(this.line.moves.length), n: () => this.toggleNumbers(), f: () => this.board.turn(),
      b: () => this.answer()?.best && this.play(this.answer().best), "/": () => this.typing.input.focus(),
      a: () => this.analysis.toggle(), e: () => openEditor(this), c: () => openCopy(this), t: () => this.showTab("tree"), w: () => this.showTab("why"),
    }[event.key] ?? (row && (() => this.play(row.move)));
    if (!does) return;
    event.preventDefault();
    does();
  }
}
