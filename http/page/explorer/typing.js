// The field below the board where moves and positions are typed, and games that are dropped.

import { get } from "../base/api.js";
import { h } from "../base/element.js";
import { t } from "../base/words.js";
import { isScoreSheet } from "../board/notation.js";
import { readText, UnreadableText } from "../formats/read.js";

/** Bytes of a file that may be dropped. */
const MAX_FILE = 1_000_000;

/** The text of a file, in UTF-8 or as Chinese programs write it. */
async function textOf(file) {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("gb18030").decode(bytes);
  }
}

export class Typing {
  constructor(explorer) {
    this.explorer = explorer;
    this.input = h("input", { type: "text", id: "moves", autocomplete: "off", spellcheck: "false", "aria-label": t("type") });
    this.element = h("form", { class: "type", onsubmit: (event) => this.typed(event) },
      this.input, h("button", { type: "submit" }, t("play")));
  }

  /** Opens what was typed: a position, a whole line, or moves after those on the board. */
  typed(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    const { explorer } = this;
    const { fen, moves, at } = explorer.line;
    const before = moves.slice(0, at);
    return text && this.open(async () => {
      const isSheet = explorer.shape().kind === "xiangqi" && isScoreSheet(text);
      if (isSheet || text.includes("/")) return this.read(text, { fen, before });
      return { fen, moves: this.isWholeLine(text) ? text : [...before, text].join(" ") };
    });
  }

  /** Opens the first game of a file that was dropped. */
  drop(event) {
    const [file] = event.dataTransfer.files;
    event.preventDefault();
    // A certificate or a book goes to the panel of proofs.
    if (!file || file.size > MAX_FILE || /\.(proof|xz|kbk)$/.test(file.name)) return null;
    event.stopPropagation();
    return this.open(async () => {
      const [game] = (await textOf(file)).split(/\n(?=\[(?:Event|Game) )/);
      return this.read(game, { fen: "", before: [] });
    });
  }

  read(text, start) {
    const { explorer } = this;
    const { variant } = explorer.line;
    const look = (fen, line) => get("/position", { variant, fen, moves: line.join(" ") });
    return readText(text, explorer.shape(), { ...start, look });
  }

  async open(read) {
    const { explorer } = this;
    try {
      await explorer.openText(await read());
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
