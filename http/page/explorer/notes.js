// Notes on positions. The browser keeps them, by the position's key, so they stay with every order
// of moves and every symmetry of the board.

import { h, recall, remember } from "../base/element.js";
import { t } from "../base/words.js";

/** Letters of one note. */
const MAX_LETTERS = 4000;

function all() {
  try {
    return JSON.parse(recall("notes") ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/** The note on a position; empty for none. */
export function noteOn(key) {
  return all()[key]?.text ?? "";
}

export class Notes {
  constructor(explorer) {
    this.explorer = explorer;
  }

  /** Whether the user is writing the note on the shown position. */
  get isBeingWritten() {
    const { activeElement: active } = document;
    return active?.id === "note" && active.dataset.key === this.explorer.position.key;
  }

  write(text) {
    const { explorer } = this;
    const { key } = explorer.position;
    const notes = all();
    if (text.trim()) notes[key] = { text, link: explorer.link(), at: Date.now() };
    else delete notes[key];
    remember("notes", JSON.stringify(notes));
  }

  parts() {
    const { explorer } = this;
    const { key } = explorer.position;
    const notes = Object.entries(all()).sort(([, a], [, b]) => b.at - a.at);
    const area = h("textarea", { id: "note", "data-key": key, rows: "5", maxlength: String(MAX_LETTERS), "aria-label": t("note"), oninput: (event) => this.write(event.target.value) });
    area.value = noteOn(key);
    const others = notes.filter(([other]) => other !== key);
    const item = ([, { text, link }]) => h("li", {}, h("a", { href: link }, text.split("\n")[0].slice(0, 80)));
    return [
      h("p", { class: "quiet small" }, t("noteHint")), area,
      others.length > 0 && h("h3", {}, t("otherNotes")),
      others.length > 0 && h("ul", { class: "notes" }, others.map(item)),
    ];
  }
}
