// The words of people about a position: those of the book, which a user who may change it writes
// and takes back; and a draft, which the browser keeps by the position's key, so that it stays with
// every order of moves and every symmetry of the board.

import { get, post } from "../base/api.js";
import { h, recall, remember } from "../base/element.js";
import { t } from "../base/words.js";

/** Kinds of annotations; the last ones are values set by hand. */
const KINDS = ["comment", "text", "mark", "link", "prefer", "avoid", "win", "draw", "loss", "score"];

/** Letters of one note. */
const MAX_LETTERS = 4000;

function all() {
  try {
    return JSON.parse(recall("notes") ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/** The texts and marks on points of the board, by move. */
export function textsOn(known) {
  const onBoard = (known?.annotations ?? []).filter((note) => note.move && ["text", "mark"].includes(note.kind));
  return new Map(onBoard.map((note) => [note.move, note.kind === "mark" ? "×" : note.text]));
}

/** The note on a position; empty for none. */
export function noteOn(key) {
  return all()[key]?.text ?? "";
}

/** The drafts on the positions of a line, as [ply, text], for a link that carries them. */
export function notesOf({ variant, fen, moves }) {
  const found = [];
  for (const { text, link } of Object.values(all())) {
    const [other, place = "", start = ""] = link.slice(2).split("/").map(decodeURIComponent);
    const [line, at] = place.split("@");
    const before = line.split(",").filter(Boolean).slice(0, at === undefined ? undefined : Number(at));
    if (other === variant && start === fen && before.every((move, ply) => moves[ply] === move)) found.push([before.length, text]);
  }
  return found.sort(([a], [b]) => a - b);
}

/** Keeps the notes that a link carries, where there is no other one. */
export async function receiveNotes(text, { variant, fen, moves }) {
  const notes = JSON.parse(text);
  for (const [ply, words] of Array.isArray(notes) ? notes.slice(0, moves.length + 1) : []) {
    const line = moves.slice(0, Number(ply));
    const { key } = await get("/position", { variant, fen, moves: line.join(" ") });
    const kept = all();
    const link = `#/${[variant, line.join(","), encodeURIComponent(fen)].join("/").replace(/\/+$/, "")}`;
    kept[key] ??= { text: String(words).slice(0, MAX_LETTERS), link, at: Date.now() };
    remember("notes", JSON.stringify(kept));
  }
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

  /** Writes an annotation into the book, or takes one back. */
  async change(change) {
    const { explorer } = this;
    try {
      await post("/annotations", { ...explorer.parameters(), ...change });
      if (change.written) this.write("");
      document.activeElement?.blur();
      explorer.forget();
    } catch (error) {
      explorer.app.complain(error);
    }
  }

  /** The annotations of the book, each with a button that takes it back. */
  held(mayWrite) {
    const { explorer } = this;
    const item = (note) => {
      const from = [note.author, note.source, note.date].filter(Boolean).join(", ");
      const value = note.kind === "score" ? `${t("kind_score")} ${(note.score / 100).toFixed(2)}` : t(`kind_${note.kind}`);
      return h("li", { "data-kind": note.kind },
        h("span", { class: "quiet small" }, [note.move && explorer.name(note.move), note.kind !== "comment" && value].filter(Boolean).join(" · ")),
        h("div", { class: "words" }, note.kind === "link" && /^https?:/.test(note.text) ? h("a", { href: note.text, rel: "noreferrer" }, note.text) : note.text),
        h("div", { class: "quiet small" }, from,
          mayWrite && h("button", { type: "button", class: "quiet", onclick: () => this.change({ taken_back: [note] }) }, t("takeBack"))));
    };
    return (explorer.known?.annotations ?? []).map(item);
  }

  /** The fields of an annotation to write, beside its text. */
  form(area) {
    const kind = h("select", { id: "note-kind", "aria-label": t("noteKind") }, KINDS.map((name) => h("option", { value: name }, t(`kind_${name}`))));
    const move = h("input", { type: "text", id: "note-move", size: "14", spellcheck: "false", placeholder: t("noteMove"), "aria-label": t("noteMove") });
    const score = h("input", { type: "number", id: "note-score", step: "0.01", hidden: true, "aria-label": t("kind_score") });
    kind.onchange = () => { score.hidden = kind.value !== "score"; };
    const written = () => ({
      move: move.value.trim() || null, kind: kind.value, text: area.value.trim(),
      ...(kind.value === "score" && { score: Math.round(100 * Number(score.value)) }),
    });
    return h("div", { class: "note-form" }, kind, move, score,
      h("button", { type: "button", id: "note-save", class: "primary", onclick: () => this.change({ written: [written()] }) }, t("noteSave")));
  }

  parts() {
    const { explorer } = this;
    const { key } = explorer.position;
    const mayWrite = Boolean(explorer.app.status?.may_change && explorer.app.status.has_book);
    const held = this.held(mayWrite);
    const notes = Object.entries(all()).sort(([, a], [, b]) => b.at - a.at);
    const area = h("textarea", { id: "note", "data-key": key, rows: "5", maxlength: String(MAX_LETTERS), "aria-label": t("note"), oninput: (event) => this.write(event.target.value) });
    area.value = noteOn(key);
    const others = notes.filter(([other]) => other !== key);
    const item = ([, { text, link }]) => h("li", {}, h("a", { href: link }, text.split("\n")[0].slice(0, 80)));
    return [
      held.length > 0 && h("ul", { class: "notes held" }, held),
      h("p", { class: "quiet small" }, t(mayWrite ? "noteHintBook" : "noteHint")), area,
      mayWrite && this.form(area),
      others.length > 0 && h("h3", {}, t("otherNotes")),
      others.length > 0 && h("ul", { class: "notes" }, others.map(item)),
    ];
  }
}
