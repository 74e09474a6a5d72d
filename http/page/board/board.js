// Draws a board as SVG and handles clicks and keys on it. It knows no rules: the server says which
// moves are legal.

import { s } from "../base/element.js";
import { reasonText } from "../base/messages.js";
import { notation } from "../base/settings.js";
import { t } from "../base/words.js";
import { pointName, pointOf, pointsOf } from "./games.js";
import { fileName } from "./notation.js";

const CELL = 40;
const MAX_ARROWS = 6;
/** Width and height of an arrow's label, by the size of its letters. */
const LABEL = [2.9, 1.5];
/** Size of letters: the least in pixels on the screen, and the most in units of the drawing. */
const LETTERS = [11, 12.5];
/** Radius of a mark with letters, of one with letters that are large on a small board, and of one without. */
const MARK_RADIUS = 17;
const LARGE_MARK = 19.5;
const DOT_RADIUS = 9;
/** Width of a letter in a mark, by its size; a Chinese character or a W is twice as wide. */
const LETTER_WIDTH = 0.62;
/** Distance of arrows that go the same way. */
const LANE = 8;
/** Arrows shorter than this have their label at the head. */
const SHORT_ARROW = 60;
const MARGIN = { gomoku: 44, xiangqi: 44, surakarta: 118 };
/** The characters of xiangqi's pieces. */
export const GLYPHS = {
  K: "帥", A: "仕", B: "相", N: "傌", R: "俥", C: "炮", P: "兵",
  k: "將", a: "士", b: "象", n: "馬", r: "車", c: "砲", p: "卒",
};

/** A board in an element; it calls `play(move)` for each move that the user makes. */
export class Board {
  constructor(holder, { play, announce }) {
    this.holder = holder;
    this.play = play;
    this.announce = announce;
    this.flipped = false;
    this.numbers = false;
    this.cursor = null;
    this.selected = null;
    this.state = null;
    this.scale = 1;
    holder.addEventListener("keydown", (event) => this.key(event));
    holder.addEventListener("focus", () => this.focused());
    holder.addEventListener("blur", () => this.walk(null));
    // The letters in marks are as large as the screen wants them, whatever the size of the board.
    new ResizeObserver(() => this.state && this.scaleNow() !== this.scale && this.draw()).observe(holder);
    // After a click the arrow keys belong to the line of moves again.
    holder.addEventListener("pointerdown", () => { this.cursor = null; });
  }

  /** Shows a state: {shape, board, side, legal, forbidden, last, marks, line}. Marks: {move, tone, label(pixels), note, rank, words}. */
  show(state) {
    const isSame = this.state && this.state.shape.kind === state.shape.kind && this.state.shape.columns === state.shape.columns;
    if (!isSame) this.cursor = null;
    this.selected = null;
    this.state = state;
    this.draw();
  }

  turn() {
    this.flipped = !this.flipped;
    this.draw();
  }

  setNumbers(on) {
    this.numbers = on;
    this.draw();
  }

  /** Pixels on the screen of one unit of the drawing. */
  scaleNow() {
    const svg = this.holder.firstChild;
    const { width, height } = svg?.getBoundingClientRect() ?? {};
    if (!width) return this.scale;
    return Math.min(width / svg.viewBox.baseVal.width, height / svg.viewBox.baseVal.height);
  }

  /** The size of the letters in a mark. */
  letters() {
    const [least, most] = LETTERS;
    return Math.max(least / this.scale, Math.min(most, (least + 3) / this.scale));
  }

  /** A text in letters of that size. */
  letter(text, x, y, attributes = {}) {
    return s("text", { x, y, "font-size": this.letters().toFixed(2), ...attributes }, text);
  }

  // Where a point is drawn.
  at([column, row]) {
    const { shape } = this.state;
    const margin = MARGIN[shape.kind];
    const [x, y] = this.flipped ? [shape.columns - 1 - column, row] : [column, shape.rows - 1 - row];
    return [margin + x * CELL, margin + y * CELL];
  }

  draw() {
    if (!this.state) return;
    const { shape } = this.state;
    const margin = MARGIN[shape.kind];
    const width = 2 * margin + (shape.columns - 1) * CELL;
    const height = 2 * margin + (shape.rows - 1) * CELL;
    const svg = s(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, class: `board ${shape.kind}`, role: "img", "aria-label": t("boardLabel") },
      s("defs", {}, this.gradients()),
      s("rect", { class: "wood", x: 1, y: 1, width: width - 2, height: height - 2, rx: 14 }),
      s("rect", { class: "wood-edge", x: 5, y: 5, width: width - 10, height: height - 10, rx: 10 }),
      this[`${shape.kind}Lines`](),
      this.coordinates(width, height),
      this.lastMove(),
      this.pieces(),
      this.marks(),
      this.preview(),
      this.targets(),
      this.cursorMark(),
      this.touch(),
    );
    this.holder.replaceChildren(svg);
    const scale = this.scaleNow();
    if (scale === this.scale) return;
    this.scale = scale;
    this.draw();
  }

  gradients() {
    const ball = (id, ...stops) =>
      s("radialGradient", { id, cx: "36%", cy: "30%", r: "75%" },
        stops.map(([offset, name]) => s("stop", { offset, class: name })));
    return [
      ball("black-stone", ["0%", "black-light"], ["100%", "black-deep"]),
      ball("white-stone", ["0%", "white-light"], ["75%", "white-middle"], ["100%", "white-deep"]),
      ball("tile", ["0%", "tile-light"], ["100%", "tile-deep"]),
    ];
  }

  segment(from, to, name = "line") {
    const [x1, y1] = this.at(from);
    const [x2, y2] = this.at(to);
    return s("line", { class: name, x1, y1, x2, y2 });
  }

  gomokuLines() {
    const { columns, rows } = this.state.shape;
    const lines = [];
    for (let column = 0; column < columns; column += 1) {
      lines.push(this.segment([column, 0], [column, rows - 1], column % (columns - 1) ? "line" : "line edge"));
    }
    for (let row = 0; row < rows; row += 1) {
      lines.push(this.segment([0, row], [columns - 1, row], row % (rows - 1) ? "line" : "line edge"));
    }
    const near = columns >= 13 ? 3 : 2;
    const middle = (columns - 1) / 2;
    const marks = columns % 2 === 1 ? [near, middle, columns - 1 - near] : [near, columns - 1 - near];
    const points = columns >= 9 ? marks.flatMap((column) => marks.map((row) => [column, row])) : [[middle, middle]];
    const shown = columns === 15 ? points.filter(([c, r]) => (c === middle) === (r === middle)) : points;
    for (const point of shown.filter((p) => p.every(Number.isInteger))) {
      const [cx, cy] = this.at(point);
      lines.push(s("circle", { class: "star", cx, cy, r: 3.6 }));
    }
    return s("g", {}, lines);
  }

  xiangqiLines() {
    const lines = [];
    for (let row = 0; row < 10; row += 1) lines.push(this.segment([0, row], [8, row]));
    for (let column = 0; column < 9; column += 1) {
      const isEdge = column % 8 === 0;
      if (isEdge) lines.push(this.segment([column, 0], [column, 9]));
      else lines.push(this.segment([column, 0], [column, 4]), this.segment([column, 5], [column, 9]));
    }
    for (const row of [0, 7]) {
      lines.push(this.segment([3, row], [5, row + 2]), this.segment([5, row], [3, row + 2]));
    }
    for (const point of [[1, 2], [7, 2], [1, 7], [7, 7], ...[0, 2, 4, 6, 8].flatMap((c) => [[c, 3], [c, 6]])]) {
      lines.push(this.corner(point));
    }
    const [x1, y1] = this.at([0, 0]);
    const [x2, y2] = this.at([8, 9]);
    lines.push(s("rect", {
      class: "frame", x: Math.min(x1, x2) - 5, y: Math.min(y1, y2) - 5,
      width: Math.abs(x2 - x1) + 10, height: Math.abs(y2 - y1) + 10,
    }));
    const y = (this.at([0, 4])[1] + this.at([0, 5])[1]) / 2;
    const text = (name, x) => s("text", { class: "river", x, y, "aria-hidden": "true" }, name);
    const [left, right] = [this.at([2, 0])[0], this.at([6, 0])[0]].sort((a, b) => a - b);
    lines.push(text("楚　河", left), text("漢　界", right));
    return s("g", {}, lines);
  }

  // The four small angles around a point where cannons and soldiers begin.
  corner([column, row]) {
    const [x, y] = this.at([column, row]);
    const angles = [];
    for (const dx of [-1, 1]) {
      const isOff = this.flipped ? (dx === -1 ? column === 8 : column === 0) : dx === -1 ? column === 0 : column === 8;
      if (isOff) continue;
      for (const dy of [-1, 1]) {
        angles.push(`M${x + dx * 4} ${y + dy * 11}V${y + dy * 4}H${x + dx * 11}`);
      }
    }
    return s("path", { class: "line thin", d: angles.join("") });
  }

  surakartaLines() {
    const lines = [];
    for (let at = 0; at < 6; at += 1) {
      const name = { 1: "line inner", 4: "line inner", 2: "line outer", 3: "line outer" }[at] ?? "line";
      lines.push(this.segment([at, 0], [at, 5], name), this.segment([0, at], [5, at], name));
    }
    const margin = MARGIN.surakarta;
    const far = margin + 5 * CELL;
    for (const [radius, name] of [[1, "inner"], [2, "outer"]]) {
      const r = radius * CELL;
      for (const [x, y] of [[margin, margin], [far, margin], [far, far], [margin, far]]) {
        const [sx, sy] = [x === margin ? 1 : -1, y === margin ? 1 : -1];
        // From the line that runs across to the one that runs up and down, three quarters of a circle about the corner.
        const sweep = sx * sy > 0 ? 1 : 0;
        const d = `M${x} ${y + sy * r}A${r} ${r} 0 1 ${sweep} ${x + sx * r} ${y}`;
        lines.push(s("path", { class: `line ${name}`, d }));
      }
    }
    return s("g", {}, lines);
  }

  coordinates(width, height) {
    const { shape } = this.state;
    const off = shape.kind === "surakarta" ? 14 : MARGIN[shape.kind] - 29;
    // Large letters of a small board keep their lower ends.
    const low = Math.max(off, this.letters() / 2 + 4);
    const texts = [];
    const text = (x, y, name) => texts.push(this.letter(name, x, y, { class: "coordinate", "aria-hidden": "true" }));
    const style = notation();
    // Score sheets of xiangqi count the files of each side from its right, and name no ranks.
    const isByFile = shape.kind === "xiangqi" && style !== "engine";
    for (let column = 0; column < shape.columns; column += 1) {
      const [x] = this.at([column, 0]);
      const [near, far] = this.flipped ? ["second", "first"] : ["first", "second"];
      text(x, height - low, isByFile ? fileName(near, column, style) : String.fromCharCode(97 + column));
      if (isByFile) text(x, off, fileName(far, column, style));
    }
    for (let row = 0; row < shape.rows && !isByFile; row += 1) {
      const [, y] = this.at([0, row]);
      text(off, y, String(row + shape.firstRank));
    }
    return s("g", {}, texts);
  }

  lastMove() {
    const { shape, last } = this.state;
    if (!last || shape.moves === "stones") return null;
    const [from, to] = pointsOf(shape, last).map((point) => this.at(point));
    return s("g", {},
      s("circle", { class: "left", cx: from[0], cy: from[1], r: 9 }),
      s("circle", { class: "came", cx: to[0], cy: to[1], r: 21 }));
  }

  pieces() {
    const { board } = this.state;
    return s("g", { class: "pieces" }, [...board].map(([name, what]) => this.piece(name, what)));
  }

  piece(name, { piece, side, number }) {
    const { shape, last } = this.state;
    const [cx, cy] = this.at(pointOf(shape, name));
    const isLast = shape.moves === "stones" && last === name;
    if (shape.kind === "xiangqi") {
      return s("g", { class: `tile-piece ${side}${this.selected === name ? " selected" : ""}` },
        s("circle", { class: "shadow", cx: cx + 1, cy: cy + 2, r: 18 }),
        s("circle", { class: "body", cx, cy, r: 18, fill: "url(#tile)" }),
        s("circle", { class: "ring", cx, cy, r: 14.6 }),
        s("text", { class: "glyph", x: cx, y: cy }, GLYPHS[piece] ?? piece));
    }
    const r = shape.kind === "surakarta" ? 14.5 : 18;
    const fill = side === "first" ? "url(#black-stone)" : "url(#white-stone)";
    const children = [
      s("circle", { class: "shadow", cx: cx + 1.2, cy: cy + 2, r }),
      s("circle", { class: "body", cx, cy, r, fill }),
    ];
    if (this.numbers && number) {
      children.push(this.letter(String(number), cx, cy, { class: `number${isLast ? " last" : ""}` }));
    } else if (isLast) {
      children.push(s("circle", { class: "last", cx, cy, r: 5 }));
    }
    return s("g", { class: `stone ${side}${this.selected === name ? " selected" : ""}` }, children);
  }

  marks() {
    const { shape, marks, forbidden } = this.state;
    const [shown, notes] = [[], []];
    for (const { move } of forbidden) {
      const [x, y] = this.at(pointOf(shape, move));
      shown.push(s("path", { class: "forbidden", d: `M${x - 7} ${y - 7}l14 14m0-14l-14 14` }));
    }
    const letters = this.letters();
    const place = 2 * MARK_RADIUS * this.scale;
    if (shape.moves === "stones") {
      for (const { move, tone, label, rank, note } of marks) {
        const [cx, cy] = this.at(pointOf(shape, move));
        const name = `mark ${tone}${rank === 0 ? " best" : ""}`;
        const written = label(place);
        const r = written ? Math.min(LARGE_MARK, Math.max(MARK_RADIUS, letters)) : DOT_RADIUS;
        // On a phone the letters are smaller rather than wider than their mark.
        const width = LETTER_WIDTH * written.replace(/[^ -~−]|W/g, "00").length;
        const size = Math.min(letters, (2 * r) / width).toFixed(2);
        shown.push(s("g", { class: name, "data-move": move }, s("circle", { cx, cy, r }), this.letter(written, cx, cy, { "font-size": size })));
        if (note) notes.push(this.letter(note, cx + r * 0.8, cy - r * 0.8, { class: "point-text" }));
      }
      return s("g", { class: "marks" }, shown, notes);
    }
    // The best moves choose the places of their labels first, and are drawn last.
    const [taken, arrows] = [[], []];
    for (const mark of marks.slice(0, MAX_ARROWS)) {
      const ends = this.lane(pointsOf(shape, mark.move).map((point) => this.at(point)), arrows);
      arrows.push({ ...mark, ends, written: mark.label(place), at: this.labelPlace(ends, taken, letters) });
    }
    const [width, height] = LABEL.map((part) => part * letters);
    const plate = ({ move, tone, written, at: [x, y] }) => s("g", { class: `mark label ${tone}`, "data-move": move },
      s("rect", { class: "plate", x: x - width / 2, y: y - height / 2, width, height, rx: height / 2 }), this.letter(written, x, y));
    const arrow = ({ move, tone, rank, ends }) => this.arrow(move, `mark arrow ${tone}${rank === 0 ? " best" : ""}`, ends, rank);
    return s("g", { class: "marks" }, shown, arrows.toReversed().map(arrow), arrows.toReversed().filter(({ written }) => written).map(plate));
  }

  /** The ends of an arrow, moved aside where an arrow before it goes the same way from the same point. */
  lane([[x1, y1], [x2, y2]], before) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const isAlong = ({ ends: [[ax, ay], [bx, by]] }) => {
      const off = Math.abs((ax - x1) * uy - (ay - y1) * ux);
      return off < LANE && ux * (bx - ax) + uy * (by - ay) > 0.99 * Math.hypot(bx - ax, by - ay) && Math.hypot(ax - x1, ay - y1) < CELL / 2;
    };
    const count = before.filter(isAlong).length;
    const away = LANE * Math.ceil(count / 2) * (count % 2 ? 1 : -1);
    return [[x1 - uy * away, y1 + ux * away], [x2 - uy * away, y2 + ux * away]];
  }

  /** Where the label of an arrow covers no other label, if there is such a place, and the fewest pieces. */
  labelPlace([[x1, y1], [x2, y2]], taken, letters) {
    const [width, height] = LABEL.map((part) => part * letters);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    // Arrows on one line part near their heads; on a short one the label would cover the piece.
    const parts = length < SHORT_ARROW ? [1, 1.5, 0.5] : [Math.max(0.55, 1 - 28 / length), 0.4, 0.75, 1];
    const beside = [0, -height, height, -1.6 * height, 1.6 * height];
    const places = beside.flatMap((away) => parts.map((part) =>
      [x1 + (x2 - x1) * part - ((y2 - y1) / length) * away, y1 + (y2 - y1) * part + ((x2 - x1) / length) * away]));
    const isFree = ([x, y]) => taken.every(([tx, ty]) => Math.abs(tx - x) >= width || Math.abs(ty - y) >= height);
    const { shape, board } = this.state;
    const pieces = [...board.keys()].map((name) => this.at(pointOf(shape, name)));
    const isClear = ([x, y]) => pieces.every(([px, py]) => Math.abs(px - x) > width / 2 + 12 || Math.abs(py - y) > height / 2 + 12);
    const free = places.filter(isFree);
    const place = free.find(isClear) ?? free[0] ?? places[0];
    taken.push(place);
    return place;
  }

  arrow(move, name, [[x1, y1], [x2, y2]], rank) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const width = rank === 0 ? 7 : 5;
    const [sx, sy] = [x1 + ux * 15, y1 + uy * 15];
    const [ex, ey] = [x2 - ux * 10, y2 - uy * 10];
    const [nx, ny] = [-uy, ux];
    const head = `M${x2} ${y2}L${ex + nx * width * 1.25} ${ey + ny * width * 1.25}L${ex - nx * width * 1.25} ${ey - ny * width * 1.25}Z`;
    return s("g", { class: name, "data-move": move },
      s("line", { x1: sx, y1: sy, x2: ex, y2: ey, "stroke-width": width }),
      s("path", { d: head }));
  }

  // The expected play of a move that is pointed at.
  preview() {
    const { shape, line, side } = this.state;
    if (!line || line.length === 0) return null;
    if (shape.moves === "pieces") return this.arrow(line[0], "mark arrow preview", pointsOf(shape, line[0]).map((point) => this.at(point)), 9);
    return s("g", { class: "preview" }, line.slice(0, 9).map((move, at) => {
      const [cx, cy] = this.at(pointOf(shape, move));
      const mine = (at % 2 === 0) === (side === "first") ? "first" : "second";
      return s("g", { class: `ghost ${mine}` }, s("circle", { cx, cy, r: 16 }), s("text", { x: cx, y: cy }, String(at + 1)));
    }));
  }

  targets() {
    const { shape, legal, board } = this.state;
    if (!this.selected) return null;
    const to = legal.filter((move) => pointName(shape, pointsOf(shape, move)[0]) === this.selected);
    return s("g", {}, to.map((move) => {
      const point = pointsOf(shape, move)[1];
      const [cx, cy] = this.at(point);
      const isCapture = board.has(pointName(shape, point));
      return s("circle", { class: isCapture ? "target capture" : "target", cx, cy, r: isCapture ? 20 : 7 });
    }));
  }

  cursorMark() {
    if (!this.cursor) return null;
    const [x, y] = this.at(this.cursor);
    return s("rect", { class: "cursor", x: x - 19, y: y - 19, width: 38, height: 38, rx: 6 });
  }

  // One clear square over every point, to be clicked.
  touch() {
    const { shape } = this.state;
    const squares = [];
    for (let row = 0; row < shape.rows; row += 1) {
      for (let column = 0; column < shape.columns; column += 1) {
        const [x, y] = this.at([column, row]);
        const name = pointName(shape, [column, row]);
        squares.push(s("rect", {
          class: `touch${this.canPlay(name) ? " can" : ""}`, "data-point": name,
          x: x - CELL / 2, y: y - CELL / 2, width: CELL, height: CELL, onclick: () => this.choose(name),
        }, s("title", {}, this.describe(name))));
      }
    }
    return s("g", {}, squares);
  }

  canPlay(name) {
    const { shape, legal, board, side } = this.state;
    if (shape.moves === "stones") return legal.includes(name);
    if (this.selected && legal.includes(this.selected + name)) return true;
    return board.get(name)?.side === side && legal.length > 0;
  }

  choose(name) {
    const { shape, legal, board, side } = this.state;
    if (shape.moves === "stones") {
      const isForbidden = this.state.forbidden.some(({ move }) => move === name);
      if (legal.includes(name) || isForbidden) this.play(name);
      else this.announce(this.describe(name));
      return;
    }
    if (this.selected && this.selected !== name && legal.includes(this.selected + name)) {
      const move = this.selected + name;
      this.selected = null;
      this.play(move);
      return;
    }
    const isOurs = board.get(name)?.side === side && legal.length > 0;
    this.selected = isOurs && this.selected !== name ? name : null;
    if (this.selected) this.announce(t("selected", { point: name }));
    this.draw();
  }

  /** Describes a point, for screen readers. */
  describe(name) {
    const { board, forbidden, marks } = this.state;
    const what = board.get(name);
    const isForbidden = forbidden.find(({ move }) => move === name);
    const mark = marks.find(({ move }) => move === name);
    let text = t("pointEmpty", { point: name });
    if (what) text = t("pointPiece", { point: name, piece: t(`piece_${what.piece}`) });
    else if (isForbidden) text = t("pointForbidden", { point: name, reason: reasonText(isForbidden.reason) });
    return mark ? `${text}; ${t("bookSays", { value: mark.words })}` : text;
  }

  /** The keyboard has reached the board: its cursor appears. A click shows none. */
  focused() {
    if (this.state && !this.cursor && this.holder.matches(":focus-visible")) this.walk(this.middle());
  }

  middle() {
    const { columns, rows } = this.state.shape;
    return [Math.floor(columns / 2), Math.floor(rows / 2)];
  }

  /** Puts the cursor on a point, or takes it away. */
  walk(point) {
    this.cursor = point;
    this.draw();
    if (point) this.announce(this.describe(pointName(this.state.shape, point)));
  }

  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const { shape } = this.state ?? {};
    if (!shape || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in steps) {
      const isSideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
      // Without a cursor these keys walk the line of moves.
      if (!this.cursor && isSideways) return;
      const [dx, dy] = steps[event.key].map((step) => (this.flipped ? -step : step));
      const within = (value, limit) => Math.min(limit - 1, Math.max(0, value));
      const next = ([column, row]) => [within(column + dx, shape.columns), within(row + dy, shape.rows)];
      this.walk(this.cursor ? next(this.cursor) : this.middle());
    } else if ((event.key === "Enter" || event.key === " ") && this.cursor) {
      this.choose(pointName(shape, this.cursor));
    } else if (event.key === "Escape") {
      this.selected = null;
      this.walk(null);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
