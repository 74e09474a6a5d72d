// The dialog that copies or saves the line: as a link, moves, FEN, SGF, PGN, or a picture.

import { h } from "../base/element.js";
import { notation } from "../base/settings.js";
import { t } from "../base/words.js";
import { nameLine } from "../board/notation.js";
import { drawPicture, hasPgn, hasSgf, writePgn, writePicture, writeSgf } from "../formats/write.js";
import { noteOn, notesOf } from "./notes.js";

/** Saves a file as the browser saves downloads. */
export function save(name, blob) {
  const address = URL.createObjectURL(blob);
  const anchor = h("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A link that carries the line and the notes on its positions. */
function study(explorer) {
  const { variant, moves, at, fen } = explorer.shown;
  const place = at < moves.length ? `${moves.join(",")}@${at}` : moves.join(",");
  const notes = JSON.stringify(notesOf(explorer.shown));
  const parts = [variant, place, encodeURIComponent(fen), encodeURIComponent(notes)];
  return `${location.href.split("#")[0]}#/${parts.join("/")}`;
}

/** Opens the dialog. */
export function openCopy(explorer) {
  const { app, position, shown } = explorer;
  const shape = explorer.shape();
  const moves = shown.moves.slice(0, shown.at);
  const name = [shown.variant, ...moves.slice(0, 6)].join("-");
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      app.announce(t("copiedText"), true);
      dialog.close();
    } catch {
      area.value = text;
      area.select();
      app.announce(t("copyByHand"), true);
    }
  };
  const area = h("textarea", { rows: "4", readonly: true, "aria-label": t("copyText") });
  area.value = location.href;
  const offer = (word, text, file) => h("div", { class: "offer" },
    h("button", { type: "button", "data-copy": word, onmouseenter: () => { area.value = text(); }, onfocus: () => { area.value = text(); }, onclick: () => copy(text()) }, t(`copy_${word}`)),
    file && h("button", { type: "button", class: "quiet", "aria-label": t("saveAs", { what: t(`copy_${word}`) }), onclick: () => save(`${name}.${file[0]}`, new Blob([text()], { type: file[1] })) }, t("save")));
  /** Copies the board as a PNG; saves it where the browser copies no pictures. */
  const copyPicture = async () => {
    const blob = await drawPicture(explorer.holder.querySelector("svg"));
    try {
      await navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]);
      app.announce(t("copiedPicture"), true);
      dialog.close();
    } catch {
      save(`${name}.png`, blob);
      app.announce(t("savedPicture"), true);
    }
  };
  const savePicture = async () => save(`${name}.png`, await drawPicture(explorer.holder.querySelector("svg")));
  const picture = () => writePicture(explorer.holder.querySelector("svg"));
  const dialog = h("dialog", { class: "copy", "aria-label": t("copy") },
    h("h2", {}, t("copy")),
    h("div", { class: "copies" },
      offer("link", () => location.href),
      notesOf(shown).length > 0 && offer("study", () => study(explorer)),
      offer("moves", () => nameLine(shape, shown.fen, moves).join(" ")),
      position.fen && offer("fen", () => position.fen),
      hasSgf(shape) && offer("sgf", () => writeSgf(shape, shown.variant, moves, noteOn(position.key)), ["sgf", "application/x-go-sgf"]),
      hasPgn(shape) && offer("pgn", () => writePgn(shape, shown.fen, moves, notation()), ["pgn", "application/x-chess-pgn"]),
      offer("picture", picture, ["svg", "image/svg+xml"]),
      h("div", { class: "offer" },
        h("button", { type: "button", "data-copy": "png", onclick: () => copyPicture() }, t("copy_png")),
        h("button", { type: "button", class: "quiet", "data-save": "png", "aria-label": t("saveAs", { what: t("copy_png") }), onclick: () => savePicture() }, t("save")))),
    area,
    h("form", { method: "dialog", class: "actions" }, h("button", {}, t("close"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
