// Where the line leaves the book, and what the book plays there.

import { h } from "../base/element.js";
import { t } from "../base/words.js";
import { isKnown, rank, sayValue, signed } from "../board/values.js";

export class Departure {
  constructor(explorer) {
    this.explorer = explorer;
    this.element = h("p", { class: "departure small", hidden: true });
  }

  /** Looks for the first move of the line that leaves the book; `steps` are the positions of the line. */
  async load(steps, signal) {
    const { explorer } = this;
    const { variant, fen, moves, at } = explorer.shown;
    const ply = steps.findIndex((step, index) => index > 0 && !step.is_held && steps[index - 1].is_held);
    const before = { variant, fen, moves: moves.slice(0, ply - 1).join(" ") };
    const held = ply > 0 && !explorer.practice.isOn && await explorer.ask("/book", before, signal);
    this.element.hidden = !held?.best;
    if (this.element.hidden) return;
    const known = explorer.asPlayed(held, await explorer.ask("/position", before, signal));
    const name = (move) => explorer.nameAt(ply - 1, move);
    const isMover = (ply - 1 - at) % 2 === 0;
    const side = isMover === (explorer.position.side === "first") ? "first" : "second";
    const best = isKnown(known) ? `${name(known.best)} (${sayValue(known)})` : name(known.best);
    const made = held.answers.find(({ move }) => move === moves[ply - 1]);
    const isValued = made && isKnown(made) && isKnown(known) && made.bound !== "upper";
    const cost = isValued ? t("leftCost", { loss: signed(-Math.max(0, rank(known) - rank(made))) }) : t("leftUnknown");
    this.element.replaceChildren(
      t("leftBook", { n: ply, side: explorer.side(side), move: name(moves[ply - 1]), best }), " ", cost, " ",
      h("button", { type: "button", class: "opening", onclick: () => explorer.go(ply - 1) }, t("jump")));
  }
}
