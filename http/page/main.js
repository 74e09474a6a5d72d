// The page: its header, its views, and what they need.

import { get, here, isSite, token } from "./base/api.js";
import { Cluster } from "./cluster/cluster.js";
import { h, icon, recall, remember } from "./base/element.js";
import { Explorer } from "./explorer/explorer.js";
import { Contents } from "./contents/contents.js";
import { errorText } from "./base/messages.js";
import { cores, MAX_CORES, NOTATIONS, notation, setCores, setNotation, setUnit, unit, UNITS } from "./base/settings.js";
import { choose, language, number, t } from "./base/words.js";

/** The title of a site. */
const TITLE = isSite ? document.title : null;
const THEMES = ["auto", "light", "dark"];
/** Milliseconds between two looks at the server's status. */
const STATUS_INTERVAL = 5000;

class App {
  constructor() {
    this.status = null;
    this.overview = null;
    this.live = h("div", { class: "hidden", role: "status", "aria-live": "polite" });
    this.toasts = h("div", { class: "toasts", role: "alert", popover: "manual" });
    this.paint(recall("theme") ?? "auto");
    this.explorer = new Explorer(this);
    this.made = {};
    this.view = "explorer";
    this.frame();
    addEventListener("hashchange", () => this.route());
    // A redraw under a pressed pointer would lose the click.
    addEventListener("pointerdown", () => { this.isPressed = true; }, true);
    for (const end of ["pointerup", "pointercancel", "blur"]) {
      addEventListener(end, () => setTimeout(() => this.release(), 0), true);
    }
    document.addEventListener("keydown", (event) => this.key(event));
    this.begin();
    setInterval(() => document.visibilityState === "visible" && this.look(), STATUS_INTERVAL);
  }

  /** The views beside the explorer, which are made when they are first shown. */
  get cluster() {
    return (this.made.cluster ??= new Cluster(this));
  }

  get contents() {
    return (this.made.contents ??= new Contents(this));
  }

  paint(theme) {
    this.theme = THEMES.includes(theme) ? theme : "auto";
    document.documentElement.dataset.theme = this.theme;
    remember("theme", this.theme);
  }

  // The header and the dialogs around the views; made anew for each language.
  frame() {
    document.documentElement.lang = language() === "zh" ? "zh-CN" : "en";
    document.title = TITLE ?? (language() === "zh" ? "花月 Kagetsu" : "Kagetsu");
    const themeWord = () => t(`theme${this.theme[0].toUpperCase()}${this.theme.slice(1)}`);
    const theme = h("button", { type: "button", class: "icon", id: "theme", title: themeWord(), "aria-label": themeWord() }, icon(this.theme));
    theme.addEventListener("click", () => {
      this.paint(THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length]);
      theme.replaceChildren(icon(this.theme));
      theme.title = themeWord();
      theme.setAttribute("aria-label", themeWord());
    });
    this.pill = h("span", { class: "pill" });
    this.tokenButton = h("button", { type: "button", class: "icon", id: "token", title: t("token"), "aria-label": t("token"), onclick: () => this.askToken() }, icon("key"));
    this.links = {
      explorer: h("a", { href: "#/", id: "to-explorer" }, t("explorer")),
      contents: h("a", { href: "#/contents", id: "to-contents" }, t("contents")),
      ...(isSite ? {} : { cluster: h("a", { href: "#/cluster", id: "to-cluster" }, t("cluster")) }),
    };
    this.body = h("div", { class: "view" });
    this.keys = h("dialog", { class: "keys", "aria-label": t("help") },
      h("h2", {}, t("help")),
      h("dl", {}, t("keys").map(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)])),
      h("form", { method: "dialog" }, h("button", {}, t("close"))));
    this.head = h("header", { class: "head" },
      this.skip = h("a", { class: "skip", href: "#board", onclick: (event) => { event.preventDefault(); document.getElementById("board")?.focus(); } }, t("skip")),
      h("a", { class: "brand", href: "#/", "aria-label": "花月 Kagetsu" }, h("img", { src: new URL("icon.svg", import.meta.url).href, alt: "", width: "28", height: "28" }), h("span", { lang: "ja" }, "花月"), h("span", { class: "latin" }, "Kagetsu")),
      h("h1", { class: TITLE && TITLE !== "Kagetsu" ? "site-title" : "hidden" }, document.title),
      h("nav", {}, Object.values(this.links)),
      this.pill,
      h("button", { type: "button", class: "icon", id: "menu", title: t("menu"), "aria-label": t("menu"), "aria-expanded": "false", onclick: (event) => this.unfold(event.currentTarget) }, icon("menu")),
      h("div", { class: "choices" },
      this.tokenButton,
      h("button", { type: "button", class: "icon wide", id: "language", "aria-label": t("languageLabel"), lang: language() === "zh" ? "en" : "zh-CN", onclick: () => this.speak() }, t("language")),
      theme,
      h("button", { type: "button", class: "icon", id: "settings", title: t("settings"), "aria-label": t("settings"), onclick: () => this.openSettings() }, icon("gear")),
      h("button", { type: "button", class: "icon", id: "help", title: t("help"), "aria-label": t("help"), onclick: () => this.keys.showModal() }, icon("help"))));
    document.body.replaceChildren(this.head, this.body, this.keys, this.live, this.toasts);
    this.showStatus();
  }

  /** Shows or hides the buttons for which a narrow header has no room. */
  unfold(button) {
    const isOpen = this.head.classList.toggle("open");
    button.setAttribute("aria-expanded", String(isOpen));
  }

  speak() {
    choose(language() === "zh" ? "en" : "zh");
    this.frame();
    this.live.textContent = "";
    this.explorer.build();
    for (const view of Object.values(this.made)) view.build();
    this.front();
    document.getElementById("language").focus();
  }

  /** Reads what the server has, and opens what the link names; only a link without a position waits
   * for the book, and not where the description of a site says where it begins. */
  async begin() {
    const [looked, opened] = [this.look(), this.openBook()];
    await here.described().catch(() => {});
    this.overview ??= here.overview;
    if (!this.overview && !/^#\/[^/]+\//.test(location.hash)) await opened;
    this.route();
    await Promise.all([looked, opened]);
    if (this.explorer.position) this.redraw(() => this.explorer.isShown && this.explorer.render());
    // A site works without its host after the first visit.
    if (isSite) navigator.serviceWorker?.register(new URL("sw.js", document.baseURI)).catch(() => {});
  }

  /** Waits until the book is open, reads what it holds, and shows it. */
  openBook() {
    this.opening ??= get("/books").then((held) => { this.overview = held; }).catch(() => {}).then(() => {
      this.opening = null;
      if (this.status?.is_loading) this.look();
    });
    return this.opening;
  }

  /** Opens what the link names. */
  route() {
    const path = location.hash.replace(/^#\/?/, "");
    this.view = path in this.links && path !== "explorer" ? path : "explorer";
    this.front();
    if (this.view !== "explorer") return;
    if (path) {
      this.explorer.read(path);
      this.links.explorer.href = location.hash;
    } else if (!this.explorer.position) {
      this.explorer.open(this.explorer.beginning());
    }
  }

  /** Puts the view in front that the link names. */
  front() {
    const view = this[this.view];
    this.skip.hidden = this.view !== "explorer";
    // Replacing the element by itself would lose the focus.
    if (this.body.firstChild !== view.element) this.body.replaceChildren(view.element);
    for (const [name, link] of Object.entries(this.links)) {
      if (name === this.view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (this.explorer.position) this.links.explorer.href = this.explorer.link();
    if (this.view !== "explorer") view.follow();
    else if (this.explorer.position) this.explorer.render();
  }

  /** Reads which variants the book holds, and where it begins. */
  async readOverview() {
    if (this.status?.has_book || this.status?.is_loading) this.overview = await get("/books");
  }

  /** How moves and values are written. */
  openSettings() {
    const choice = (name, word, names, chosen, set, say = (one) => t(`${name}_${one}`)) => h("label", {}, t(word),
      h("select", { name, onchange: (event) => { set(event.target.value); this.redrawAll(); } },
        names.map((one) => h("option", { value: one, selected: one === chosen }, say(one)))));
    const numbers = [...Array(MAX_CORES).keys()].map((core) => core + 1);
    const dialog = h("dialog", { class: "settings", "aria-label": t("settings") },
      h("h2", {}, t("settings")),
      choice("notation", "notationLabel", NOTATIONS, notation(), setNotation),
      choice("unit", "unitLabel", UNITS, unit(), setUnit),
      here.isOffered && choice("cores", "coresLabel", numbers, cores(), setCores, number),
      h("form", { method: "dialog", class: "actions" }, h("button", {}, t("close"))));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  redrawAll() {
    if (this.explorer.position) this.explorer.rename();
    if (this.made.contents?.overview) this.contents.build();
    if (this.view === "contents") this.front();
  }

  /** Asks for the server's status; answers about an older book are dropped. */
  async look() {
    const before = this.status;
    try {
      this.status = await get("/status");
      here.isOffered ||= this.status.offers_engine;
      this.trouble = null;
    } catch (error) {
      this.status = null;
      this.trouble = isSite ? error : null;
      const isNew = error.status === 401 && !this.needsToken;
      this.needsToken = error.status === 401;
      if (before || isNew) this.complain(error);
    }
    if (this.status) this.needsToken = false;
    this.showStatus();
    const { seen } = this;
    if (this.status?.is_loading) this.openBook();
    else if (this.status) this.seen = this.status;
    if (seen && seen.epoch !== this.seen.epoch) {
      if (seen.positions !== this.seen.positions) this.readOverview().catch(() => {});
      this.explorer.forget();
    }
    if (!before && this.status && this.explorer.isLate) this.explorer.load(this.explorer.line, true);
    if ((!before || before.may_analyse !== this.status?.may_analyse) && this.explorer.isShown && this.explorer.position) this.explorer.render();
  }

  showStatus() {
    const { status } = this;
    this.pill.className = `pill ${status ? "up" : this.trouble || !isSite ? "down" : ""}`;
    const book = status?.has_book ? t("positions", { n: number(status.positions) }) : t(status?.is_loading ? "loadingBook" : "noBook");
    const nothing = this.trouble ? "" : t(this.needsToken ? "tokenHint" : isSite ? "loading" : "offline");
    const parts = status ? [book, status.is_here ? t("here") : !status.may_change && !status.may_analyse && t("readOnly")] : [nothing];
    this.tokenButton.hidden = !this.needsToken && !status?.takes_tokens;
    const words = parts.filter(Boolean).join(" · ");
    this.pill.title = words;
    this.pill.replaceChildren(h("span", { class: "dot", "aria-hidden": "true" }), h("span", { class: "words" }, words));
  }

  release() {
    this.isPressed = false;
    const waiting = this.waiting;
    this.waiting = null;
    if (waiting) this.redraw(waiting);
  }

  /** Redraws after a change of data: not while a pointer is pressed, and the focus stays where it was. */
  redraw(draw) {
    if (this.isPressed) {
      this.waiting = draw;
      return;
    }
    const active = document.activeElement;
    const { action } = active?.dataset ?? {};
    const job = active?.closest?.("[data-job]")?.dataset.job;
    const move = active?.closest?.("tr[data-move]")?.dataset.move;
    let place = active?.id ? `#${CSS.escape(active.id)}` : null;
    if (action && job) place = `[data-job="${CSS.escape(job)}"] [data-action="${action}"]`;
    const line = active?.closest?.("[data-line]")?.dataset.line;
    if (line) place = `[data-line="${CSS.escape(line)}"]`;
    if (move) place = `tr[data-move="${move}"] button`;
    draw();
    if (place && !active.isConnected) document.querySelector(place)?.focus({ preventScroll: true });
  }

  announce(text, isSeen = false) {
    this.live.textContent = text;
    if (isSeen) this.toast(text, "said");
  }

  toast(text, kind) {
    const toast = h("p", { class: `toast ${kind}` }, text);
    this.toasts.replaceChildren(toast);
    // An open dialog would cover it, but not what is shown after that.
    this.toasts.hidePopover();
    this.toasts.showPopover();
    setTimeout(() => toast.remove(), 6000);
  }

  complain(error) {
    if (error.status === 401) {
      this.needsToken = true;
      if (!this.hasDeclined) this.askToken(error.code === "no_token" ? null : errorText(error));
      return;
    }
    this.toast(errorText(error), "complaint");
  }

  /** Asks for a token; `trouble` says what is wrong with the previous one. */
  askToken(trouble) {
    if (document.querySelector("dialog.token")) return;
    const input = h("input", { type: "password", autocomplete: "off", "aria-label": t("token") });
    const dialog = h("dialog", { class: "token", "aria-label": t("token") },
      h("form", { method: "dialog" },
        h("p", {}, trouble ?? t(this.needsToken ? "tokenHint" : "tokenMore")), input,
        h("button", { class: "primary", value: "use" }, t("tokenSet"))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      this.hasDeclined = dialog.returnValue !== "use";
      if (this.hasDeclined) return;
      token.set(input.value.trim());
      this.needsToken = false;
      this.begin();
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  /** Asks for confirmation of what cannot be undone. */
  confirm(text, yes, no) {
    return new Promise((answer) => {
      const dialog = h("dialog", { class: "confirm", "aria-label": text },
        h("p", {}, text),
        h("form", { method: "dialog", class: "actions" }, h("button", { value: "no" }, no), h("button", { value: "yes", class: "danger" }, yes)));
      dialog.addEventListener("close", () => {
        dialog.remove();
        answer(dialog.returnValue === "yes");
      });
      document.body.append(dialog);
      dialog.showModal();
    });
  }

  key(event) {
    const isTaken = event.target.closest?.("input, select, textarea, dialog, [role=tree]") || event.ctrlKey || event.altKey || event.metaKey;
    if (isTaken) return;
    if (event.key === "?") this.keys.showModal();
    else if (this.view === "explorer" && this.explorer.position) this.explorer.pressed(event);
  }
}

new App();
