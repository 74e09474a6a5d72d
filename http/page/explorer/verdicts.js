// The moves of a position: those with a value, then those of games alone, bounds folded below them;
// beside each the results of its games.

import { here } from "../base/api.js";
import { h } from "../base/element.js";
import { errorText, proofText } from "../base/messages.js";
import { number, short, t } from "../base/words.js";
import { gameName } from "../board/games.js";
import { nameLine } from "../board/notation.js";
import { isPlayed, isValued, rank, sayValue, tone } from "../board/values.js";

/** Moves of the list before "show all". */
const SHORT_LIST = 12;
/** What a row shows on demand. */
const DETAILS = ["bound", "nodes", "engine", "date"];
/** Moves in doubt that are named. */
const MAX_RIVALS = 5;

/** The moves of an answer: those with a value, best first; the same with those of games alone behind
 * them, the most frequent first; those with only a bound. */
export function sortedVerdicts(answer) {
  const all = answer?.answers ?? [];
  const valued = all.filter(isValued);
  const bounded = all.filter((verdict) => !isValued(verdict) && !isPlayed(verdict));
  const played = all.filter(isPlayed).sort((a, b) => b.nodes - a.nodes);
  return { valued, bounded, shown: [...valued, ...played] };
}

/** Whether a move has its place in the list by more than a bound. */
const isExact = (verdict) => isValued(verdict) || isPlayed(verdict);

/** The number of games in which a move was made. */
function gamesOf({ games, nodes, ...verdict }) {
  if (isPlayed({ nodes, ...verdict })) return nodes;
  return games ? games.wins + games.draws + games.losses : 0;
}

/** Whether there are counts of games; a library of lines has none. */
export function isCounted(answer) {
  return answer.answers.some(({ games, nodes, ...verdict }) => games || (isPlayed({ nodes, ...verdict }) && nodes > 0));
}

/** A bar of the results of games, for the side to move. */
function resultsBar(explorer, games) {
  const { wins, draws, losses } = games ?? { wins: 0, draws: 0, losses: 0 };
  const sum = wins + draws + losses;
  if (sum === 0) return null;
  const [own, other] = explorer.position.side === "first" ? ["first", "second"] : ["second", "first"];
  const words = `${t("firstWins", { side: explorer.side(own) })} ${wins}, ${t("drawnGames")} ${draws}, ${t("firstWins", { side: explorer.side(other) })} ${losses}`;
  const part = (kind, count) => {
    const span = h("span", { class: kind });
    span.style.width = `${(100 * count) / sum}%`;
    return span;
  };
  return h("span", { class: `results ${explorer.shape().kind}`, role: "img", "aria-label": words, title: words },
    part(own, wins), part("draws", draws), part(other, losses));
}

/** The filled part of a bar; a style attribute would offend the page's policy. */
function filled(part) {
  const fill = h("span", { class: "fill" });
  fill.style.width = `${Math.round(1000 * Math.min(1, part)) / 10}%`;
  return fill;
}

/** The list of an answer's moves, and what belongs to it. */
export class Verdicts {
  constructor(explorer) {
    this.explorer = explorer;
    this.showsDetails = false;
    this.fold();
  }

  /** Shows the short list again. */
  fold() {
    this.showsAll = this.showsBounds = false;
    this.pointed = null;
  }

  /** What the book knows of the position. */
  bookParts() {
    const { known } = this.explorer;
    if (!known) return [this.missing(), this.waysPart()];
    const best = known.answers.find(({ move }) => move === known.best);
    const rivals = known.answers.filter((verdict) =>
      verdict.bound === "upper" && verdict.proof === "none" && best && best.win_in === null && rank(verdict) > rank(best));
    const shown = rivals.slice(0, MAX_RIVALS).map(({ move }) => this.explorer.name(move)).join(" ");
    const isLong = rivals.length > MAX_RIVALS;
    return [
      rivals.length > 0 && h("p", { class: "doubt" }, t("inDoubt", { moves: shown + (isLong ? " …" : "") })),
      this.proofProgress(known), this.table(known), this.waysPart(),
    ];
  }

  /** Where to go from a position that the book does not hold. */
  missing() {
    const { explorer } = this;
    const { overview } = explorer.app;
    const held = explorer.heldMoves;
    const roots = overview?.variants.find(({ variant }) => variant === explorer.shown.variant)?.roots ?? [];
    const others = (overview?.variants ?? []).filter(({ variant }) => variant !== explorer.shown.variant);
    const go = (text, does) => h("button", { type: "button", onclick: does }, text);
    const ask = [
      explorer.analysis.isOffered && !explorer.position.outcome && h("button", { type: "button", class: "primary", "data-action": "analyze", onclick: () => explorer.analysis.start() }, t("analyze")),
      explorer.analysis.growButton(),
    ].filter(Boolean);
    const offers = [];
    const why = explorer.trouble ? errorText(explorer.trouble) : here.isOpening && t("loadingBook");
    if (why) return h("div", { class: "empty" }, h("p", {}, why), ask.length > 0 && h("div", { class: "ask" }, ask));
    if (held !== null && held < explorer.shown.at) {
      offers.push(go(t("backToBook", { n: held }), () => explorer.go(held)));
    } else if (roots.length > 0) {
      offers.push(...roots.slice(0, 4).map((root) => go(explorer.rootName(explorer.shown.variant, root), () => explorer.openRoot(explorer.shown.variant, root))));
    } else {
      offers.push(...others.slice(0, 4).map(({ variant, roots: [root] }) => go(gameName(variant), () => explorer.openRoot(variant, root))));
    }
    return h("div", { class: "empty" },
      h("p", {}, t("notInBook")),
      ask.length > 0 && h("div", { class: "ask" }, ask),
      offers.length > 0 ? h("p", { class: "offers" }, h("span", { class: "quiet" }, t(held === null && roots.length > 0 ? "bookBegins" : held === null ? "bookHolds" : "bookHoldsLine")), offers)
        : explorer.shown.at > 0 && h("p", { class: "quiet" }, t("notInBookHint")));
  }

  /** How many of the moves are proven, where some are and the position is not. */
  proofProgress(answer) {
    const { position } = this.explorer;
    const losing = answer.answers.filter(({ proof }) => proof === "loss");
    if (answer.proof !== "none" || losing.length === 0) return null;
    const [done, all] = [losing.length, position.legal.length];
    return h("div", { class: "proving" },
      h("p", { class: "quiet small" }, t("provenMoves", { n: number(done), m: number(all) })),
      h("div", { class: "bar thin", role: "progressbar", "aria-label": t("provenMoves", { n: done, m: all }), "aria-valuemin": "0", "aria-valuemax": String(all), "aria-valuenow": String(done) },
        filled(done / Math.max(1, all))));
  }

  /** The groups of moves that lead to one position of the book, by each of their moves. */
  groups() {
    return new Map((this.explorer.ways?.behind ?? []).flatMap(({ moves }) => moves.map((move) => [move, moves])));
  }

  /** The moves of the list: of those that lead to one position the first. */
  rows(answer) {
    const groups = this.groups();
    const { shown } = sortedVerdicts(answer);
    const firsts = new Map();
    for (const { move } of shown) if (!firsts.has(groups.get(move) ?? move)) firsts.set(groups.get(move) ?? move, move);
    return shown.filter(({ move }) => firsts.get(groups.get(move) ?? move) === move);
  }

  table(answer) {
    const { explorer } = this;
    const { bounded } = sortedVerdicts(answer);
    const shown = this.rows(answer);
    const showsBounds = this.showsBounds || shown.length === 0;
    const rows = this.showsAll ? shown : shown.slice(0, SHORT_LIST);
    const lines = new Map([...rows, ...bounded].map(({ move, line }) => {
      const onward = line.length > 1 || answer !== explorer.known ? line : [move, ...explorer.tree.lineAfter(move)];
      return [move, nameLine(explorer.shape(), explorer.position.fen, onward.length > 0 ? onward : [move])];
    }));
    const seen = [...rows, ...bounded];
    const all = shown.reduce((sum, verdict) => sum + gamesOf(verdict), 0);
    const has = {
      move: true, value: seen.some((verdict) => !isPlayed(verdict)), played: isCounted(answer), next: [...lines.values()].some((names) => names.length > 1),
      depth: seen.some(({ depth }) => depth > 0),
    };
    for (const name of DETAILS) has[name] = this.showsDetails;
    const head = Object.keys(has).filter((name) => has[name]);
    const groups = this.groups();
    const cells = {
      move: (verdict, at, names) => {
        const group = groups.get(verdict.move);
        const same = (group ?? []).filter((move) => move !== verdict.move).map((move) => explorer.name(move));
        return h("td", { class: "move" },
          h("button", { type: "button", onclick: () => explorer.play(verdict.move), onfocus: () => this.point(verdict, group), onblur: () => this.point(null) },
            h("span", { class: "index", "aria-hidden": "true" }, at < 9 && isExact(verdict) ? String(at + 1) : ""), names[0]),
          group && h("span", { class: "onward", title: t("inBook"), "aria-label": t("inBook"), role: "img" }, "›"),
          same.length > 0 && h("span", { class: "same", title: t("sameAs", { moves: same.join(" ") }), "aria-label": t("sameAs", { moves: same.join(" ") }), role: "img" }, "≡"));
      },
      value: (verdict) => h("td", { class: "val" }, !isPlayed(verdict) && h("span", { class: `value ${isExact(verdict) ? tone(verdict) : "bound"}` }, sayValue(verdict, verdict.bound)),
        verdict.proof !== "none" && h("span", { class: "seal", title: t("proven", { kind: proofText(verdict.proof_kind) }) }, proofText(verdict.proof_kind))),
      played: (verdict) => h("td", { class: "games", "data-label": t("played") }, gamesOf(verdict) > 0 && h("span", { class: "quiet" }, `${number(gamesOf(verdict))} · ${Math.round((100 * gamesOf(verdict)) / all)}%`), resultsBar(explorer, verdict.games)),
      next: (verdict, at, names) => h("td", { class: "pv" }, names.slice(1, 6).join(" ")),
      depth: ({ depth }) => h("td", { class: "num", "data-label": t("depth") }, depth > 0 ? String(depth) : ""),
      bound: (verdict) => h("td", { class: "bnd", "data-label": t("bound") }, isPlayed(verdict) ? "" : t(verdict.bound)),
      nodes: ({ nodes }) => h("td", { class: "num", "data-label": t("nodes"), title: number(nodes) }, nodes > 0 ? short(nodes) : ""),
      engine: ({ engine }) => h("td", { class: "engine" }, engine),
      // A certificate states no date.
      date: ({ date }) => h("td", { class: "date" }, date > "1970-01-01" ? date : ""),
    };
    const row = (verdict, at) => h("tr", {
      class: isExact(verdict) ? (verdict.move === answer.best ? "best" : null) : "bounded", "data-move": verdict.move,
      onmouseenter: () => this.point(verdict, groups.get(verdict.move)), onmouseleave: () => this.point(null),
    }, head.map((name) => cells[name](verdict, at, lines.get(verdict.move))));
    const redraw = () => explorer.renderPanel();
    const kinds = { next: "pv", bound: "bnd", depth: "num", nodes: "num", engine: "engine", date: "date" };
    return [
      h("table", { class: "verdicts" },
        h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", class: kinds[name] ?? null, title: name === "depth" ? t("depthHint") : null }, t(name))))),
        h("tbody", {}, rows.map(row)),
        bounded.length > 0 && h("tbody", { class: "bounds" },
          shown.length > 0 && h("tr", {}, h("td", { colspan: String(head.length) },
            h("button", { type: "button", class: "fold", "aria-expanded": String(showsBounds), onclick: () => { this.showsBounds = !showsBounds; redraw(); } },
              t(bounded.length === 1 ? "bounded1" : "bounded", { n: number(bounded.length) })))),
          showsBounds && bounded.map(row))),
      h("div", { class: "under" },
        shown.length > SHORT_LIST && h("button", { type: "button", class: "more", onclick: () => { this.showsAll = !this.showsAll; redraw(); } },
          this.showsAll ? t("showFew") : t("showAll", { n: number(shown.length) })),
        seen.length > 0 && h("button", { type: "button", class: "fold details", "aria-expanded": String(this.showsDetails), title: t("depthHint"), onclick: () => { this.showsDetails = !this.showsDetails; redraw(); } }, t("details"))),
    ];
  }

  /** Shows the expected play of a move under the pointer: as searched, or as the book continues. */
  async point(verdict, isHeld) {
    const { explorer } = this;
    const { shown } = explorer;
    this.pointed = verdict;
    this.show(verdict?.line ?? null);
    if (!verdict || !isHeld || verdict.line.length > 1 || explorer.tab !== "book") return;
    const { moves } = explorer.parameters();
    const parameters = { ...explorer.parameters(), moves: `${moves} ${verdict.move}`.trim(), plies: "8", top: "1" };
    const tree = await explorer.ask("/tree", parameters).catch(() => null);
    const line = [verdict.move];
    for (let branch = tree?.branches[0]; branch; branch = branch.branches[0]) line.push(branch.move);
    // The answer may be late: the page may show another position, of another game, by then.
    if (this.pointed === verdict && explorer.shown === shown) this.show(line);
  }

  show(line) {
    this.explorer.board.state.line = line;
    this.explorer.board.draw();
  }

  /** Other orders of moves that lead here. */
  waysPart() {
    const { explorer } = this;
    const before = explorer.ways?.before ?? [];
    if (before.length === 0) return null;
    const way = ({ moves, move }) => {
      const names = nameLine(explorer.shape(), explorer.line.fen, [...moves, move]);
      return h("li", {},
        h("button", { type: "button", onclick: () => explorer.open({ ...explorer.line, moves: [...moves, move], at: moves.length }) },
          t("via", { line: names.slice(0, -1).join(" ") || t("start") })),
        h("span", { class: "quiet" }, ` + ${names.at(-1)}`));
    };
    return h("details", { class: "ways" }, h("summary", {}, `${t("ways")} (${before.length})`), h("ul", {}, before.map(way)));
  }
}
