// Writes a line of moves in the formats of other programs: SGF, PGN, and a picture.

import { pointOf } from "../board/games.js";
import { nameLine } from "../board/notation.js";

/** The first moves of a line that a format can hold. */
const RULES = { freestyle: "", standard: "Standard", renju: "Renju", caro: "Caro", "caro-overline": "Caro-Overline" };

/** Whether a game can be written as SGF. */
export const hasSgf = (shape) => shape.kind === "gomoku";
/** Whether a game can be written as PGN. */
export const hasPgn = (shape) => shape.kind === "xiangqi";

const escaped = (text) => text.replace(/([\]\\])/g, "\\$1");

/** A line of stones as SGF; letters count columns from the left and rows from the top. */
export function writeSgf(shape, variant, moves, note) {
  const letter = (number) => String.fromCharCode(97 + number);
  const stone = (move, at) => {
    const [column, row] = pointOf(shape, move);
    return `;${at % 2 === 0 ? "B" : "W"}[${letter(column)}${letter(shape.rows - 1 - row)}]`;
  };
  const rule = RULES[variant.replace(/-[^-]*$/, "")];
  const comment = note ? `C[${escaped(note)}]` : "";
  return `(;GM[4]FF[4]CA[UTF-8]AP[Kagetsu]SZ[${shape.columns}]${rule ? `RU[${rule}]` : ""}${moves.map(stone).join("")}${comment})\n`;
}

/** A line of xiangqi as PGN; its moves in the notation that the user reads, or else in WXF. */
export function writePgn(shape, fen, moves, style) {
  const names = nameLine(shape, fen, moves, style === "engine" ? "wxf" : style);
  const isBlack = (fen ?? "").split(" ")[1] === "b";
  const words = [];
  names.forEach((name, at) => {
    const ply = at + (isBlack ? 1 : 0);
    if (ply % 2 === 0) words.push(`${ply / 2 + 1}.`);
    else if (at === 0) words.push("1. ...");
    words.push(name);
  });
  const heads = ['[Game "Chinese Chess"]', `[Date "${new Date().toISOString().slice(0, 10).replaceAll("-", ".")}"]`, '[Red "?"]', '[Black "?"]', '[Result "*"]'];
  if (fen) heads.push(`[FEN "${fen}"]`);
  heads.push(`[Format "${style === "chinese" ? "Chinese" : "WXF"}"]`);
  return `${heads.join("\n")}\n\n${words.join(" ")} *\n`;
}

/** Properties that a picture needs from the page's style sheets. */
const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "paint-order", "opacity", "font-size", "font-weight", "font-family", "text-anchor", "dominant-baseline", "stop-color", "color"];

/** The board as an SVG file that needs no style sheet. */
export function writePicture(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const name of PROPERTIES) {
      const value = style.getPropertyValue(name);
      if (value) to[at].setAttribute(name, value.replaceAll('"', "'"));
    }
  });
  for (const clear of copy.querySelectorAll(".touch, .cursor, .preview")) clear.remove();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

/** Pixels of the longer side of a picture. */
const PICTURE_SIZE = 1200;

/** The board as a PNG: a promise of its bytes. */
export async function drawPicture(svg) {
  const { width, height } = svg.viewBox.baseVal;
  const scale = PICTURE_SIZE / Math.max(width, height);
  const copy = new DOMParser().parseFromString(writePicture(svg), "image/svg+xml").documentElement;
  copy.setAttribute("width", String(Math.round(width * scale)));
  copy.setAttribute("height", String(Math.round(height * scale)));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
