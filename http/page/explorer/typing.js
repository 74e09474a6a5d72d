// The field below the board where moves and positions are typed.

import { get } from "../base/api.js";
import { h } from "../base/element.js";
import { t } from "../base/words.js";
import { isScoreSheet } from "../board/notation.js";
import { readText, UnreadableText } from "../formats/read.js";

export class Typing {
  constructor(explorer) {
    this.explorer = explorer;
    this.input = h("input", { type: "text", id: "moves", autocomplete: "off", spellcheck: "false", "aria-label": t("type") });
    this.element = h("form", { class: "type", onsubmit: (event) => this.typed(event) },
      this.input, h("button", { type: "submit" }, t("play")));
  }

  /** Opens what was typed: a position, a whole line, or moves after those on the board. */
  async typed(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return;
    const { explorer } = this;
    const { variant, fen, moves, at } = explorer.line;
    const before = moves.slice(0, at);
    try {
      let read;
      if (explorer.shape().kind === "xiangqi" && isScoreSheet(text)) {
        const look = (start, line) => get("/position", { variant, fen: start, moves: line.join(" ") });
        read = await readText(text, explorer.shape(), { fen, before, look });
      } else if (text.includes("/")) {
        read = await readText(text, explorer.shape(), { fen, before });
      } else {
        read = { fen, moves: this.isWholeLine(text) ? text : [...before, text].join(" ") };
      }
      await explorer.openText(read);
      this.input.value = "";
    } catch (error) {
      if (error instanceof UnreadableText) explorer.app.toast(t(error.code, error.values), "complaint");
      else explorer.app.complain(error);
    }
  }

  /** Whether a typed line begins with the moves on the board, and so stands for the whole line. */
  isWholeLine(text) {
    const move = this.explorer.shape().moves === "stones" ? /[a-z]\d{1,2}/g : /[a-z]\d{1,2}[a-z]\d{1,2}/g;
    const typed = text.toLowerCase().match(move) ?? [];
    const before = this.explorer.line.moves.slice(0, this.explorer.line.at);
    return before.length > 0 && typed.length >= before.length && before.every((name, at) => typed[at] === name);
  }
}
