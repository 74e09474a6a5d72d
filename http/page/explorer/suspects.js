// The positions from here on whose value is doubtful, each with a button that searches it again.

import { post } from "../base/api.js";
import { h } from "../base/element.js";
import { t } from "../base/words.js";
import { nameLine } from "../board/notation.js";
import { sayValue } from "../board/values.js";

/** Positions that are listed. */
const MAX_SUSPECTS = 20;
/** Plies by which a deepening searches deeper than before. */
const DEEPER = 2;
/** Moves that a deepening gives a value. */
const WIDTH = 3;
/** Raw scores from here on are wins, as the program writes them. */
const WIN = 32000;

export class Suspects {
  constructor(explorer) {
    this.explorer = explorer;
    this.clear();
  }

  clear() {
    this.key = null;
    this.found = null;
  }

  async load() {
    const { explorer } = this;
    const key = explorer.key();
    if (this.key === key) return;
    this.key = key;
    this.found = null;
    const answer = await explorer.ask("/suspects", { ...explorer.parameters(), top: String(MAX_SUSPECTS) }).catch((error) => {
      explorer.app.complain(error);
      return null;
    });
    if (this.key !== key) return;
    this.found = answer?.suspects ?? [];
    if (explorer.tab === "suspects") explorer.renderPanel();
  }

  parts() {
    this.load();
    if (!this.found) return [h("p", { class: "quiet" }, t("loading"))];
    if (this.found.length === 0) return [h("div", { class: "empty" }, h("p", {}, t("suspectsNone")))];
    return [
      h("p", { class: "quiet small" }, t("suspectsHint")),
      h("ol", { class: "suspects" }, this.found.map((suspect) => this.item(suspect))),
    ];
  }

  item(suspect) {
    const { explorer } = this;
    const { variant, fen, at } = explorer.shown;
    const names = nameLine(explorer.shape(), fen, suspect.moves);
    const onward = names.slice(at).join(" ") || t("hereItself");
    const mayDeepen = explorer.app.status?.may_change && explorer.app.status.has_book;
    return h("li", { class: "suspect" },
      h("button", { type: "button", class: "line", onclick: () => explorer.open({ variant, fen, moves: suspect.moves, at: suspect.moves.length }) }, onward),
      mayDeepen && h("button", { type: "button", "data-action": "deepen", "aria-label": `${t("deepen")}: ${onward}`, onclick: (event) => this.deepen(suspect, event.currentTarget) }, t("deepen")),
      h("p", { class: "reasons" }, `${t("doubt")} ${suspect.doubt.toFixed(1)} · ${t("depth")} ${suspect.depth} · ${this.reasons(suspect, names).join(" · ")}`));
  }

  reasons(suspect, names) {
    const { explorer } = this;
    const score = (raw) => sayValue({ score: raw, win_in: raw > WIN - 1000 ? WIN - raw : null, loss_in: raw < 1000 - WIN ? WIN + raw : null });
    const name = (move) => nameLine(explorer.shape(), explorer.shown.fen, [...suspect.moves, move])[names.length] ?? move;
    return [
      suspect.missing_plies !== undefined && t("doubtShallow", { n: suspect.missing_plies }),
      suspect.searched_score !== undefined && t("doubtScore", { searched: score(suspect.searched_score), behind: score(suspect.behind_score) }),
      suspect.searched_best !== undefined && t("doubtBest", { searched: name(suspect.searched_best), behind: name(suspect.behind_best) }),
      suspect.other_engine !== undefined && t("doubtEngine", { engine: suspect.other_engine }),
    ].filter(Boolean);
  }

  /** Starts a build that searches one position again, deeper than before. */
  async deepen(suspect, button) {
    const { explorer } = this;
    const { variant, fen } = explorer.shown;
    const depth = suspect.depth + (suspect.missing_plies ?? 0) + DEEPER;
    const line = suspect.moves.join(" ");
    const name = `deepen-${depth}-${suspect.moves.slice(-6).join("-") || variant}`;
    const body = { name, variant, roots: [line], policy: "drop-out", depth, top: WIDTH, positions: 1, deepen: { depth, before: null } };
    if (fen) body.fen = fen;
    button.disabled = true;
    try {
      await post("/jobs", body);
      explorer.app.announce(t("deepening", { name }), true);
    } catch (error) {
      button.disabled = false;
      explorer.app.complain(error);
    }
  }
}
