// Practice: the book plays one side, the user the other, and learns what each move costs.

import { get, here } from "../base/api.js";
import { h, recall, remember } from "../base/element.js";
import { t } from "../base/words.js";
import { shownMove } from "../board/openings.js";
import { rank, signed } from "../board/values.js";
import { save } from "./copy.js";
import { sortedVerdicts } from "./verdicts.js";

/** Centi-units that make a reply of the book e times less likely. */
const TEMPERATURE = 30;
/** Milliseconds of a search where the book has no reply and the program in this browser has. */
const REPLY_TIME = 1000;
/** Days until a position is due again, after so many right answers in a row. A wrong one begins anew. */
const PAUSES = [1, 3, 7, 16, 35, 90];
const DAY = 86_400_000;
/** Centi-units up to which a move is as good as the best. */
const GOOD = 10;

/** The positions that the user has answered, by their keys: place, right answers in a row, and the day when each is due. */
function answered() {
  try {
    return JSON.parse(recall("practice") ?? "{}") ?? {};
  } catch {
    return {};
  }
}

const today = () => Math.floor(Date.now() / DAY);

/** Keeps how the user answered in a position. */
function record(key, place, isRight) {
  const all = answered();
  const row = isRight ? (all[key]?.row ?? 0) + 1 : 0;
  all[key] = { ...place, row, due: today() + PAUSES[Math.min(row, PAUSES.length) - 1] || today() + 1 };
  remember("practice", JSON.stringify(all));
}

/** Reads the answers of a file, as `kagetsu practice` keeps them: of two about a position the later one stays. */
async function receive(file) {
  const read = JSON.parse(await file.text());
  const all = answered();
  for (const [key, one] of Object.entries(read)) if (!(all[key]?.due > one.due)) all[key] = one;
  remember("practice", JSON.stringify(all));
}

/** The positions of a variant that are due, the oldest first. */
function due(variant) {
  return Object.values(answered()).filter((one) => one.variant === variant && one.due <= today()).sort((a, b) => a.due - b.due);
}

export class Practice {
  constructor(explorer) {
    this.explorer = explorer;
    this.side = null;
    this.isReview = false;
    this.log = [];
  }

  get isOn() {
    return this.side !== null;
  }

  parts() {
    const { explorer } = this;
    if (!this.isOn) {
      const begin = (side) => h("button", { type: "button", class: "primary", id: `practise-${side}`, onclick: () => this.start(side) }, t("practiseAs", { side: explorer.side(side) }));
      return [h("p", {}, t("practiceHint")), h("div", { class: "offers" }, begin("first"), begin("second"), this.dueButton()), this.file()];
    }
    const total = this.log.reduce((sum, { loss }) => sum + (loss ?? 0), 0);
    const good = this.log.filter(({ loss }) => loss !== null && loss <= GOOD).length;
    const entry = ({ name, loss, best, left, isHeld }) => h("li", {}, h("strong", {}, name), " ",
      h("span", { class: left ? "doubt" : loss === null ? "quiet" : loss <= GOOD ? "praise" : "doubt" }, this.say(loss, best, left, isHeld)));
    return [
      h("p", { "aria-live": "polite" }, h("strong", {}, t("practising", { side: explorer.side(this.side) })), " ", this.message ?? ""),
      h("p", { class: "quiet small" }, t("practiceScore", { good, n: this.log.length, loss: signed(-total) })),
      h("ol", { class: "log", reversed: true }, this.log.toReversed().map(entry)),
      h("div", { class: "actions" }, this.isReview && this.dueButton(), h("button", { type: "button", id: "practice-end", onclick: () => this.end() }, t("practiceEnd"))),
    ];
  }

  say(loss, best, left, isHeld) {
    if (isHeld) return t("practiceHeld");
    if (left) return t("practiceLeft", { best, n: left });
    if (loss === null) return t("practiceUnknown");
    return loss <= GOOD ? t("practiceGood") : t("practiceWorse", { loss: signed(-loss), best });
  }

  /** The button that goes to a position that is due; says how many there are. */
  dueButton() {
    const left = due(this.explorer.shown.variant);
    return h("button", { type: "button", id: "practise-due", disabled: left.length === 0, title: t("practiceDueHint"), onclick: () => this.review(left[0]) }, t("practiceDue", { n: left.length }));
  }

  /** The buttons that save the answers as a file, and read one. */
  file() {
    const { explorer } = this;
    const read = async (event) => {
      await receive(event.target.files[0]).catch(() => explorer.app.announce(t("practiceNoFile")));
      explorer.renderPanel();
    };
    const chosen = h("input", { type: "file", id: "practice-file", accept: ".json", hidden: true, onchange: read });
    const keep = () => save("practice.json", new Blob([JSON.stringify(answered())], { type: "application/json" }));
    return h("p", { class: "quiet small" }, t("practiceFileHint"), " ",
      h("button", { type: "button", id: "practice-save", class: "quiet", onclick: keep }, t("practiceSave")), " ",
      h("button", { type: "button", id: "practice-read", class: "quiet", onclick: () => chosen.click() }, t("practiceRead")), chosen);
  }

  /** Asks a position again. */
  review({ variant, fen, moves, side }) {
    if (!this.isReview) this.log = [];
    Object.assign(this, { side, isReview: true, message: null });
    const line = moves.split(" ").filter(Boolean);
    this.explorer.open({ variant, fen, moves: line, at: line.length });
  }

  start(side) {
    this.side = side;
    this.isReview = false;
    this.log = [];
    this.message = null;
    this.explorer.render();
    this.reply();
  }

  end() {
    this.side = null;
    this.isReview = false;
    this.explorer.render();
  }

  /** Judges a move of the user before it is played. */
  judge(move) {
    const { explorer } = this;
    if (!this.isOn || explorer.position.side !== this.side) return;
    const { valued, shown } = sortedVerdicts(explorer.known);
    const same = explorer.verdicts.groups().get(move) ?? [move];
    const made = valued.find((verdict) => same.includes(verdict.move));
    const [best] = shown;
    // Where no move has a value, as in games and libraries, each is right.
    const isHeld = valued.length === 0 && shown.some((verdict) => same.includes(verdict.move));
    const loss = isHeld ? 0 : made && best ? Math.max(0, Math.min(1000, rank(best) - rank(made))) : null;
    const name = best ? explorer.name(best.move) : "";
    // A certificate knows one winning move, and nothing of the others.
    const left = loss === null && best?.proof_kind === "tree" ? best.win_in : null;
    this.log.push({ name: explorer.name(move), loss, best: name, left, isHeld });
    if (best) record(explorer.position.key, { ...explorer.parameters(), side: this.side }, loss !== null && loss <= GOOD);
    explorer.app.announce(this.say(loss, name, left, isHeld));
  }

  /** Plays the book's reply where it is the book's turn. */
  async reply() {
    const { explorer } = this;
    const { position, shown } = explorer;
    this.message = null;
    if (!this.isOn || this.isReview || !position || position.outcome || position.side === this.side || shown.at < shown.moves.length) return;
    const key = explorer.key();
    const picked = await get("/pick", { ...explorer.parameters(), temperature: String(TEMPERATURE) }).catch(() => null) ?? await this.searched();
    if (!this.isOn || explorer.key(explorer.line) !== key) return;
    if (picked) {
      explorer.playBook(shownMove(explorer.known?.answers ?? [], picked.move));
      return;
    }
    this.message = t("practiceOut");
    if (explorer.tab === "practice") explorer.renderPanel();
  }

  /** The move of a short search, where the book ends and the program in this browser goes on. */
  async searched() {
    if (!here.isOffered) return null;
    let found = null;
    const body = { ...this.explorer.parameters(), time_ms: REPLY_TIME, top: 1 };
    await here.listen("/analyses", body, (_, answer) => { found = answer; }).catch(() => {});
    return found?.best ? { move: found.best } : null;
  }
}
