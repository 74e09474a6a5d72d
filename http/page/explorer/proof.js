// Certificates: those of the site and those that the user drops are checked in this browser.

import { here, isSite } from "../base/api.js";
import { h } from "../base/element.js";
import { errorText } from "../base/messages.js";
import { language, number, t } from "../base/words.js";

/** How the files of certificates begin, as text or packed by xz. */
const BEGINNINGS = [[0x6b, 0x61, 0x67, 0x65], [0xfd, 0x37, 0x7a, 0x58]];

export class Proof {
  constructor(explorer) {
    this.explorer = explorer;
    this.results = [];
    addEventListener("dragover", (event) => here.isOffered && event.preventDefault());
    addEventListener("drop", (event) => {
      if (!here.isOffered) return;
      event.preventDefault();
      const [file] = event.dataTransfer.files;
      if (file) this.take(file);
    });
  }

  parts() {
    const input = h("input", { type: "file", id: "proof-file", hidden: true, accept: isSite ? ".proof,.xz,.kbk" : ".proof,.xz", onchange: () => input.files[0] && this.take(input.files[0]) });
    const button = ({ file }) => h("button", { type: "button", class: "primary", disabled: Boolean(this.running), "data-proof": file, onclick: () => this.fetch(file) },
      t("proofVerify", { name: file.split("/").at(-1) }));
    return [
      h("p", {}, t("proofHint")),
      h("div", { class: "offers" }, here.books.filter(({ parts }) => !parts).map(button)),
      this.running && this.progress(),
      h("div", { role: "status" }, h("ul", { class: "results-of-proofs" }, this.results.map((result) => this.result(result)))),
      h("p", { class: "drop" }, t(isSite ? "proofDrop" : "proofDropServer"), " ",
        // A field of the browser would speak the browser's language.
        h("button", { type: "button", onclick: () => input.click() }, t("chooseFile")), input),
    ];
  }

  progress() {
    const { name, done, replies, stop } = this.running;
    const words = replies ? t("proofReplies", { n: number(done), m: number(replies) }) : t("proofReading", { name });
    return h("div", { class: "proving" },
      h("p", { class: "quiet small" }, words),
      h("progress", { max: String(replies ?? 1), value: replies ? String(done) : null, "aria-label": words }),
      h("button", { type: "button", class: "danger", id: "proof-stop", onclick: () => stop.abort() }, t("stop")));
  }

  result({ name, found, seconds, error, isOpen }) {
    if (isOpen) return h("li", { class: "praise" }, t("proofOpened", { name }));
    if (!found) return h("li", { class: "doubt" }, error.name === "AbortError" ? t("proofStopped") : this.wrong(name, error));
    const { explorer } = this;
    const winner = (found.claim === "win") === (found.side === "first") ? "first" : "second";
    const text = t("proofRight", { name, side: explorer.side(winner), plies: found.plies, n: number(found.positions), s: seconds.toFixed(1) });
    return h("li", { class: "praise" }, text, " ",
      h("button", { type: "button", onclick: () => explorer.open({ variant: found.variant, moves: found.moves, at: found.moves.length }) }, t("proofOpen")));
  }

  /** Why a certificate is wrong: the fault is written in English and names line and moves. */
  wrong(name, error) {
    if (error.code !== "wrong_proof") return errorText(error);
    const reason = h("span", { lang: "en" }, error.message);
    return language() === "zh" ? [t("proofWrong", { name, reason: "" }), reason] : t("proofWrong", { name, reason: error.message });
  }

  /** Checks a certificate of the site. */
  fetch(file) {
    return this.run(file.split("/").at(-1), async () => {
      const response = await fetch(file).catch(() => null);
      if (!response?.ok) throw Object.assign(new Error(), { code: "no_book" });
      return response.arrayBuffer();
    });
  }

  /** Checks a certificate of the user, or opens a compiled book. */
  take(file) {
    this.explorer.showTab("proof");
    return this.run(file.name, () => file.arrayBuffer());
  }

  async run(name, read) {
    if (this.running) return;
    const { explorer } = this;
    const stop = new AbortController();
    this.running = { name, stop };
    explorer.renderPanel();
    const begun = performance.now();
    const tell = ({ done, replies }) => {
      Object.assign(this.running, { done, replies });
      if (explorer.tab === "proof") explorer.app.redraw(() => explorer.renderPanel());
    };
    const result = { name };
    try {
      const bytes = new Uint8Array(await read());
      if (bytes.length === 0) throw Object.assign(new Error(), { code: "empty_file" });
      if (BEGINNINGS.some((beginning) => beginning.every((byte, at) => bytes[at] === byte))) {
        result.found = await here.verify(bytes, tell, stop.signal);
      } else {
        // Beside a server the book is the server's.
        if (!isSite) throw Object.assign(new Error(), { code: "no_certificate" });
        await here.open(bytes, name);
        result.isOpen = true;
        await explorer.app.look();
      }
    } catch (error) {
      result.error = error;
    }
    result.seconds = (performance.now() - begun) / 1000;
    this.running = null;
    this.results = [result, ...this.results.filter((known) => known.name !== name)];
    if (explorer.tab === "proof") explorer.app.redraw(() => explorer.renderPanel());
  }
}
