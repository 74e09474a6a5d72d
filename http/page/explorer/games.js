// The imported games that passed the position: how each move scored in them, who played them and
// when.

import { get } from "../base/api.js";
import { h } from "../base/element.js";
import { number, t } from "../base/words.js";
import { asPlayed } from "../board/openings.js";
import { isPlayed } from "../board/values.js";

/** Games that are listed. */
const MAX_GAMES = 30;
/** Games that are listed beside the moves. */
const MAX_BESIDE = 6;
/** Milliseconds after a letter before the filter is used. */
const FILTER_DELAY = 300;
const RESULTS = ["", "1-0", "0-1", "1/2-1/2", "*"];

export class Games {
  constructor(explorer) {
    this.explorer = explorer;
    this.filter = { player: "", event: "", result: "" };
    this.clear();
  }

  clear() {
    this.key = null;
    this.found = null;
  }

  /** Whether the user is writing in the filter, whose fields then stay. */
  get isFiltering() {
    return Boolean(document.activeElement?.closest?.(".filter")) && this.list?.isConnected;
  }

  /** The position and the filter. */
  wanted() {
    return { ...this.explorer.parameters(), ...this.filter, top: String(MAX_GAMES) };
  }

  async load() {
    const wanted = this.wanted();
    const key = JSON.stringify(wanted);
    if (this.key === key) return;
    this.key = key;
    const { explorer } = this;
    const { known, position } = explorer;
    const found = await get("/games", wanted).catch((error) => {
      if (explorer.tab === "games" && !["not_in_book", "conflict"].includes(error.code)) explorer.app.complain(error);
      return null;
    });
    if (this.key !== key) return;
    this.found = found ? { ...found, moves: asPlayed(explorer.shape(), position, found.moves, known?.answers) } : { games: 0, moves: [], played: [] };
    if (explorer.tab === "games") this.refresh();
    else if (explorer.isShown) explorer.app.redraw(() => explorer.renderAside());
  }

  /** The games for the room beside the moves. */
  besideParts() {
    if (!this.explorer.known.games && !this.explorer.known.answers.some(isPlayed)) return [];
    this.load();
    const { games = 0, played } = this.found ?? {};
    if (games === 0) return [];
    return [h("section", { class: "card" },
      h("h3", {}, games === 1 ? t("gamesCount1") : t("gamesCount", { n: number(games) })),
      h("ol", { class: "played" }, played.slice(0, MAX_BESIDE).map((game) => this.game(game))),
      games > MAX_BESIDE && h("button", { type: "button", class: "more", onclick: () => this.explorer.showTab("games") }, t("allGames")))];
  }

  parts() {
    this.list = h("div", { class: "found-games", "aria-live": "polite" });
    this.refresh();
    return [h("p", { class: "quiet small" }, t("gamesHint")), this.filterForm(), this.list];
  }

  filterForm() {
    let timer;
    const change = (name) => (event) => {
      this.filter[name] = event.target.value.trim();
      clearTimeout(timer);
      timer = setTimeout(() => this.load(), FILTER_DELAY);
    };
    const field = (name) => h("label", {}, t(name), h("input", { type: "search", name, autocomplete: "off", value: this.filter[name], oninput: change(name) }));
    const words = { "": t("anyResult"), "1-0": t("firstWins", { side: this.explorer.side("first") }), "0-1": t("firstWins", { side: this.explorer.side("second") }), "1/2-1/2": t("drawnGames"), "*": t("unknownResult") };
    return h("form", { class: "filter", role: "search", onsubmit: (event) => event.preventDefault() },
      field("player"), field("event"),
      h("label", {}, t("result"), h("select", { name: "result", onchange: change("result") },
        RESULTS.map((result) => h("option", { value: result, selected: result === this.filter.result }, words[result])))));
  }

  /** Fills the list, and leaves the filter as it is. */
  refresh() {
    this.load();
    if (!this.list) return;
    if (!this.found) {
      this.list.replaceChildren(h("p", { class: "quiet" }, t("loading")));
      return;
    }
    const { games, moves, played } = this.found;
    const isFiltered = Object.values(this.filter).some(Boolean);
    if (games === 0) {
      this.list.replaceChildren(h("div", { class: "empty" }, h("p", {}, t(isFiltered ? "gamesNoMatch" : "gamesNone"))));
      return;
    }
    const head = ["move", "played", "scored", "result"];
    this.list.replaceChildren(
      h("p", { class: "quiet small" }, games === 1 ? t("gamesCount1") : t("gamesCount", { n: number(games) })),
      h("table", { class: "verdicts scores" },
        h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", class: ["played", "scored"].includes(name) ? "num" : null }, t(name))))),
        h("tbody", {}, moves.map((move) => this.scored(move)))),
      h("ol", { class: "played" }, played.map((game) => this.game(game))));
  }

  scored({ move, games, first_wins: first, draws, second_wins: second, score }) {
    const { explorer } = this;
    const words = `${t("firstWins", { side: explorer.side("first") })} ${first}, ${t("drawnGames")} ${draws}, ${t("firstWins", { side: explorer.side("second") })} ${second}`;
    const part = (kind, count) => {
      const span = h("span", { class: kind });
      span.style.width = `${(100 * count) / games}%`;
      return span;
    };
    return h("tr", { "data-move": move },
      h("td", { class: "move" }, h("button", { type: "button", onclick: () => explorer.play(move) }, explorer.name(move))),
      h("td", { class: "num", "data-label": t("played") }, number(games)),
      h("td", { class: "num", "data-label": t("scored") }, score === null ? "–" : `${score.toFixed(0)}%`),
      h("td", {}, h("span", { class: `results ${explorer.shape().kind}`, role: "img", "aria-label": words, title: words },
        part("first", first), part("draws", draws), part("second", second), part("unknown", games - first - draws - second))));
  }

  game({ moves, fen, ply, result, first, second, event, round, date, source }) {
    const { explorer } = this;
    const { variant } = explorer.shown;
    const names = t("playedBy", { first: first || t("gameMissing"), second: second || t("gameMissing") });
    const facts = [date, [event, round].filter(Boolean).join(" ")].filter(Boolean).join(" · ") || source;
    return h("li", { title: source },
      h("button", { type: "button", onclick: () => explorer.open({ variant, fen: fen ?? "", moves, at: ply }) }, `${names} ${result}`),
      h("p", { class: "facts" }, facts));
  }
}
