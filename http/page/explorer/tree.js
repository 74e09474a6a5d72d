// The variations of the book from the position on, as a tree that unfolds.

import { h } from "../base/element.js";
import { number, t } from "../base/words.js";
import { nameLine } from "../board/notation.js";
import { asPlayed } from "../board/openings.js";
import { isKnown, isPlayed, sayValue, tone } from "../board/values.js";

/** Moves from each position. */
const WIDTH = 5;
/** Plies that one look reads, and the first one. */
const PLIES = 2;
const FIRST_PLIES = 3;
/** Plies that are unfolded at first. */
const UNFOLDED = 1;

export class Tree {
  constructor(explorer) {
    this.explorer = explorer;
    this.clear();
  }

  clear() {
    this.key = null;
    this.branches = null;
    this.unfolded = new Set();
  }

  async load() {
    const { explorer } = this;
    const key = explorer.key();
    if (this.key === key) return;
    this.clear();
    this.key = key;
    const { known, position } = explorer;
    const read = await this.read([], FIRST_PLIES);
    if (this.key !== key) return;
    // The list beside the tree counts mirrored moves that the first look at the tree leaves out.
    const counts = new Map((known?.answers ?? []).filter(isPlayed).map(({ move, nodes }) => [move, nodes]));
    const played = asPlayed(explorer.shape(), position, read, known?.answers);
    this.branches = played.map((branch) => (branch.played ? { ...branch, played: counts.get(branch.move) ?? branch.played } : branch));
    if (["tree", "book"].includes(explorer.tab) && explorer.isShown) explorer.app.redraw(() => explorer.renderPanel());
  }

  /** The moves that the book continues with after one of its moves, as far as they were read. */
  lineAfter(move) {
    const line = [];
    const here = this.key === this.explorer.key() ? this.branches : null;
    let at = here?.find((branch) => branch.move === move);
    while (at?.branches.length > 0) {
      [at] = at.branches;
      line.push(at.move);
    }
    return line;
  }

  /** The branches after some moves. */
  async read(moves, plies = PLIES) {
    const { explorer } = this;
    const before = explorer.parameters();
    const line = [before.moves, ...moves].filter(Boolean).join(" ");
    const tree = await explorer.ask("/tree", { ...before, moves: line, plies: String(plies), top: String(WIDTH) }).catch(() => null);
    return tree?.branches ?? [];
  }

  parts() {
    this.load();
    if (!this.branches) return [h("p", { class: "quiet" }, t("loading"))];
    if (this.branches.length === 0) return [h("div", { class: "empty" }, h("p", {}, t("treeEmpty")))];
    return [h("p", { class: "quiet small" }, t("treeHint")), this.list()];
  }

  /** The variations for the room beside the moves. */
  besideParts() {
    this.load();
    const hasMore = this.branches?.some(({ branches }) => branches.length > 0);
    return hasMore ? [h("section", { class: "card" }, h("h3", {}, t("tree")), this.list())] : [];
  }

  list() {
    const list = h("ul", { class: "tree", role: "tree", "aria-label": t("tree"), onkeydown: (event) => this.pressed(event) }, this.items(this.branches, []));
    const first = list.querySelector("[role=treeitem]");
    if (first) first.tabIndex = 0;
    return list;
  }

  items(branches, before) {
    return branches.map((branch) => this.item(branch, before, branches[0]));
  }

  item(branch, before, best) {
    const { explorer } = this;
    const moves = [...before, branch.move];
    const id = moves.join(" ");
    const isFirst = before.length < UNFOLDED && (explorer.tab === "tree" || (branch === best && branch.branches.length > 0));
    const isOpen = this.unfolded.has(id) || (isFirst && !this.unfolded.has(`-${id}`));
    const mayUnfold = branch.branches.length > 0 || !branch.isRead;
    const name = nameLine(explorer.shape(), explorer.position.fen, moves).at(-1);
    const children = isOpen && branch.branches.length > 0 && h("ul", { role: "group" }, this.items(branch.branches, moves));
    return h("li", { role: "none" },
      h("div", { class: "branch", role: "treeitem", tabindex: "-1", "aria-expanded": mayUnfold ? String(isOpen) : null, "aria-level": String(moves.length), "data-line": id },
        h("button", { type: "button", class: "twist", tabindex: "-1", "aria-hidden": "true", disabled: !mayUnfold, onclick: () => this.twist(branch, moves, isOpen) }, mayUnfold ? (isOpen ? "▾" : "▸") : "·"),
        h("button", { type: "button", class: "jump", tabindex: "-1", title: t("jump"), onclick: () => this.jump(moves) }, name),
        isKnown(branch) && h("span", { class: `value ${tone(branch)}` }, sayValue(branch)),
        branch.played > 0 && h("span", { class: "quiet small" }, number(branch.played)),
        branch.depth > 0 && h("span", { class: "quiet small" }, `${t("depth")} ${branch.depth}`)),
      children);
  }

  jump(moves) {
    const { explorer } = this;
    const { line } = explorer;
    const whole = [...line.moves.slice(0, line.at), ...moves];
    explorer.open({ ...line, moves: whole, at: whole.length });
  }

  async twist(branch, moves, isOpen) {
    const id = moves.join(" ");
    const key = this.key;
    this.unfolded.delete(isOpen ? id : `-${id}`);
    this.unfolded.add(isOpen ? `-${id}` : id);
    if (!isOpen && branch.branches.length === 0) branch.branches = await this.read(moves);
    branch.isRead = true;
    if (this.key !== key) return;
    this.explorer.renderPanel();
    document.querySelector(`[data-line="${CSS.escape(id)}"]`)?.focus();
  }

  /** The keys of a tree: up and down walk, left folds, right unfolds, Enter jumps. */
  pressed(event) {
    const item = event.target.closest("[role=treeitem]");
    const all = [...event.currentTarget.querySelectorAll("[role=treeitem]")];
    const at = all.indexOf(item);
    const isOpen = item?.getAttribute("aria-expanded") === "true";
    const twist = () => item.querySelector(".twist").click();
    const does = {
      ArrowUp: () => all[at - 1]?.focus(), ArrowDown: () => all[at + 1]?.focus(),
      ArrowLeft: () => (isOpen ? twist() : item.closest("[role=group]")?.previousElementSibling.focus()),
      ArrowRight: () => (isOpen ? all[at + 1]?.focus() : twist()),
      Enter: () => item.querySelector(".jump").click(), Home: () => all[0].focus(), End: () => all.at(-1).focus(),
    }[event.key];
    if (!item || !does || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  }
}
