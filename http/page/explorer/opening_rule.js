// The rule by which a game of stones begins: what may happen now, and the fifth moves that Black
// offers. They are texts `5` on their points, as in RenjuNet's games, in the book where the user may
// write there, and else in this browser.

import { post } from "../base/api.js";
import { h, recall, remember } from "../base/element.js";
import { t } from "../base/words.js";
import { firstWrong, isImage, OFFERING_STONES, rulesOf } from "../board/opening_rules.js";

/** The text on the point of an offered move. */
const OFFER = "5";
/** Stones after which no rule has a say. */
const LAST = 5;

function kept() {
  try {
    return JSON.parse(recall("offers") ?? "{}") ?? {};
  } catch {
    return {};
  }
}

export class OpeningRule {
  constructor(explorer) {
    this.explorer = explorer;
    this.isOffering = false;
    this.element = h("div", { class: "rule small", hidden: true });
  }

  get rule() {
    const chosen = recall("opening-rule");
    return rulesOf(this.explorer.shown.variant).find(({ name }) => name === chosen) ?? null;
  }

  get mayWrite() {
    const { status } = this.explorer.app;
    return Boolean(status?.may_change && status.has_book);
  }

  /** The offered moves of the position on the board. */
  offered() {
    const { known, position } = this.explorer;
    if (position.moves.length !== OFFERING_STONES) return [];
    const inBook = (known?.annotations ?? []).filter((note) => note.kind === "text" && note.text === OFFER);
    return [...new Set([...inBook.map((note) => note.move), ...kept()[this.explorer.key()] ?? []])];
  }

  /** Offers a point, or takes it back; false where a click on the board plays as ever. */
  click(move) {
    const { explorer, rule } = this;
    const { position, shown } = explorer;
    if (!this.isOffering || !rule || position.moves.length !== OFFERING_STONES || shown !== explorer.line) return false;
    const offered = this.offered();
    if (offered.includes(move)) this.change(move, false);
    else if (isImage(explorer.shape(), position.moves, offered, move)) explorer.notify(() => t("offerImage", { move: explorer.name(move) }));
    else if (offered.length < rule.offers) this.change(move, true);
    else explorer.notify(() => t("offerFull", { n: rule.offers }));
    return true;
  }

  async change(move, isOffered) {
    const { explorer } = this;
    const inBook = (explorer.known?.annotations ?? []).filter((note) => note.move === move && note.kind === "text" && note.text === OFFER);
    try {
      if (this.mayWrite && (isOffered || inBook.length > 0)) {
        const change = isOffered ? { written: [{ move, kind: "text", text: OFFER }] } : { taken_back: inBook };
        await post("/annotations", { ...explorer.parameters(), ...change });
        explorer.forget();
        return;
      }
    } catch (error) {
      explorer.app.complain(error);
      return;
    }
    const all = kept();
    const others = (all[explorer.key()] ?? []).filter((one) => one !== move);
    all[explorer.key()] = isOffered ? [...others, move] : others;
    remember("offers", JSON.stringify(all));
    explorer.render();
  }

  render() {
    const { explorer, rule } = this;
    const { moves } = explorer.position;
    const rules = explorer.shown.fen ? [] : rulesOf(explorer.shown.variant);
    this.element.hidden = rules.length === 0 || moves.length > LAST;
    if (this.element.hidden) return;
    const option = (name) => h("option", { value: name, selected: name === (rule?.name ?? "") }, t(name ? `rule_${name}` : "noRule"));
    const choose = (event) => {
      remember("opening-rule", event.target.value);
      this.isOffering = false;
      explorer.render();
    };
    const parts = [h("select", { id: "opening-rule", "aria-label": t("openingRule"), onchange: choose }, ["", ...rules.map(({ name }) => name)].map(option))];
    if (rule) {
      const wrong = firstWrong(rule, explorer.shape(), moves);
      parts.push(h("span", { class: wrong ? "doubt" : "quiet" }, wrong ? t(`wrong_${rule.name}`, { n: wrong }) : t(`steps_${rule.name}`)[moves.length]));
      if (rule.offers > 0 && moves.length === OFFERING_STONES && !wrong) parts.push(this.offers(rule));
    }
    this.element.replaceChildren(...parts);
  }

  /** The button that offers fifth moves, and the moves that are offered. */
  offers(rule) {
    const { explorer } = this;
    const toggle = () => {
      this.isOffering = !this.isOffering;
      explorer.render();
    };
    const offered = this.offered().map((move) => h("button", { type: "button", class: "opening", onclick: () => explorer.play(move) }, explorer.name(move)));
    return h("div", { class: "offered" },
      h("button", { type: "button", id: "offer", "aria-pressed": String(this.isOffering), onclick: toggle }, t(this.isOffering ? "offerDone" : "offerFifth")),
      h("span", { class: "quiet" }, t("offeredCount", { n: offered.length, most: rule.offers })), offered);
  }
}
