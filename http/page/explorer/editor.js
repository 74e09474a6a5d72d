// The dialog that sets up a position: on a board, or from pasted text.

import { get } from "../base/api.js";
import { h } from "../base/element.js";
import { errorText } from "../base/messages.js";
import { t } from "../base/words.js";
import { Board, GLYPHS } from "../board/board.js";
import { pieces, pointName } from "../board/games.js";
import { lineOfStones, readText, UnreadableText } from "../formats/read.js";

const XIANGQI_PIECES = ["K", "A", "B", "N", "R", "C", "P", "k", "a", "b", "n", "r", "c", "p"];

/** The board as the rows of a FEN. */
function rowsOf(shape, board) {
  const rows = [];
  for (let row = shape.rows - 1; row >= 0; row -= 1) {
    let text = "";
    let empty = 0;
    for (let column = 0; column < shape.columns; column += 1) {
      const found = board.get(pointName(shape, [column, row]));
      if (!found) {
        empty += 1;
        continue;
      }
      const piece = shape.kind === "surakarta" ? { first: "b", second: "w" }[found.side] : found.piece;
      text += (empty || "") + piece;
      empty = 0;
    }
    rows.push(text + (empty || ""));
  }
  return rows.join("/");
}

class Editor {
  constructor(explorer) {
    this.explorer = explorer;
    this.shape = explorer.shape();
    this.board = new Map(pieces(this.shape, explorer.position));
    this.side = explorer.position.side;
    this.brush = this.palette()[0];
  }

  palette() {
    if (this.shape.kind === "xiangqi") return [...XIANGQI_PIECES, ""];
    return this.shape.kind === "gomoku" ? ["X", "O", ""] : ["first", "second", ""];
  }

  sideOf(piece) {
    if (this.shape.kind === "xiangqi") return piece === piece.toUpperCase() ? "first" : "second";
    return { X: "first", O: "second" }[piece] ?? piece;
  }

  /** Puts what the brush holds on a point, or takes it away. */
  paint(name) {
    const isSame = this.board.get(name)?.piece === this.brush;
    if (!this.brush || isSame) this.board.delete(name);
    else this.board.set(name, { piece: this.brush, side: this.sideOf(this.brush) });
    this.draw();
  }

  draw() {
    this.view.show({ shape: this.shape, board: this.board, side: this.side, legal: [], forbidden: [], last: null, marks: [], line: null });
  }

  /** What the board stands for: {fen, moves}. */
  asked() {
    if (this.shape.kind === "gomoku") {
      const stones = (side) => [...this.board].filter(([, stone]) => stone.side === side).map(([name]) => name);
      return { fen: "", moves: lineOfStones(stones("first"), stones("second")).join(" ") };
    }
    const [first, second] = this.shape.kind === "xiangqi" ? ["w", "b"] : ["b", "w"];
    return { fen: `${rowsOf(this.shape, this.board)} ${this.side === "first" ? first : second}`, moves: "" };
  }

  open() {
    const { explorer, shape } = this;
    const holder = h("div", { class: "board-holder", tabindex: "0", role: "application", "aria-label": t("editBoard") });
    this.view = new Board(holder, { play: () => {}, announce: (text) => explorer.app.announce(text) });
    this.view.choose = (name) => this.paint(name);
    this.view.canPlay = () => true;
    const chosen = (brush) => String(brush === this.brush);
    const brushes = h("div", { class: "palette", role: "group", "aria-label": t("palette") }, this.palette().map((brush) => {
      const word = brush ? t(`piece_${brush}`) : t("erase");
      const glyph = GLYPHS[brush];
      const button = h("button", { type: "button", class: glyph ? `glyph ${this.sideOf(brush)}` : null, "aria-pressed": chosen(brush), title: word, "aria-label": word }, glyph ?? word);
      button.addEventListener("click", () => {
        this.brush = brush;
        for (const other of brushes.children) other.setAttribute("aria-pressed", String(other === button));
      });
      return button;
    }));
    const side = h("select", { "aria-label": t("sideToMove"), onchange: (event) => { this.side = event.target.value; } },
      ["first", "second"].map((name) => h("option", { value: name, selected: name === this.side }, t("toMove", { side: explorer.side(name) }))));
    const wrong = h("p", { class: "complaint", role: "alert", hidden: true });
    const area = h("textarea", { rows: "4", id: "paste", spellcheck: "false", placeholder: t(`pasteHint_${shape.kind}`), "aria-label": t("paste") });
    const act = (word, does, kind = "") => h("button", { type: "button", class: kind, "data-action": word, onclick: does }, t(word));
    const attempt = async (read) => {
      wrong.hidden = true;
      try {
        await explorer.openText(await read());
        dialog.close();
      } catch (error) {
        wrong.textContent = error instanceof UnreadableText ? t(error.code, error.values) : errorText(error);
        wrong.hidden = false;
      }
    };
    const context = {
      fen: "", before: [],
      look: (fen, moves) => get("/position", { variant: explorer.shown.variant, fen, moves: moves.join(" ") }),
    };
    const dialog = h("dialog", { class: "editor", "aria-label": t("edit") },
      h("h2", {}, t("edit")),
      h("div", { class: "editor-parts" },
        h("div", {}, brushes, holder,
          h("div", { class: "offers" }, shape.kind !== "gomoku" && side,
            act("clearBoard", () => { this.board.clear(); this.draw(); }),
            act("useBoard", () => attempt(async () => this.asked()), "primary"))),
        h("div", { class: "pasting" }, h("h3", {}, t("paste")), h("p", { class: "quiet small" }, t(`pasteKinds_${shape.kind}`)), area,
          act("usePaste", () => attempt(() => readText(area.value, shape, context)), "primary"))),
      wrong,
      h("form", { method: "dialog", class: "actions" }, h("button", {}, t("close"))));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    this.draw();
  }
}

/** Opens the dialog. */
export function openEditor(explorer) {
  new Editor(explorer).open();
}
