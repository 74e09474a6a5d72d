// The form that starts a build: what it grows or deepens, how each position is searched, and when it ends.

import { get, post } from "../base/api.js";
import { h } from "../base/element.js";
import { errorText } from "../base/messages.js";
import { game, gameName, sideWord, VARIANTS } from "../board/games.js";
import { language, t } from "../base/words.js";

/** What a build can be for: the policy of the program that it stands for, and the fields that only it has. */
const AIMS = {
  "drop-out": ["alpha", "margin", "noise", "depth", "top", "positions", "max_ply"],
  "one-side": ["side", "alpha", "margin", "noise", "depth", "top", "positions", "max_ply"],
  prove: ["side", "nodes", "positions", "max_ply"],
  deepen: ["depth", "before", "positions", "top"],
};

const lines = (text) => text.split(";").map((line) => line.trim()).filter(Boolean);

/** The input of a setting that the server lists, by the type that its schema has. */
function settingInput({ name, schema, choices }) {
  if (schema.type === "boolean") return h("input", { name, type: "checkbox" });
  if (choices.length > 0) {
    const options = choices.map((choice) => h("option", { value: choice.name, title: choice.help }, choice.name));
    return h("select", { name }, h("option", { value: "" }, ""), options);
  }
  const { minimum: min, maximum: max } = schema;
  const step = schema.type === "integer" ? "1" : "any";
  return h("input", { name, type: "number", min, max, step, placeholder: schema.default ?? "" });
}

/** The label of such a setting; a setting that the page has no text for is named in English or by its name. */
function settingLabel({ name, label }) {
  const text = t(`setting_${name}`);
  if (text !== `setting_${name}`) return text;
  return language() === "zh" ? name : label;
}

/** The help of such a setting, which the server has in English. */
function settingHelp({ help }) {
  return language() === "zh" ? null : help;
}

/** The value of such a setting, as the API takes it. */
function settingValue({ schema, choices }, text) {
  if (schema.type === "boolean") return true;
  return choices.length > 0 ? text : Number(text);
}

/**
 * The body of the request: a field that was left empty, or that this aim does not have, is not in
 * it. `listed` are the settings that the server lists and this form has no field of its own for.
 */
function asked(data, listed) {
  const text = (name) => String(data.get(name) ?? "").trim();
  const aim = text("aim");
  const body = { name: text("name"), variant: text("variant"), policy: aim === "deepen" ? "drop-out" : aim };
  for (const name of ["roots", "exclude", "cover"]) if (text(name)) body[name] = lines(text(name));
  if (text("fen")) body.fen = text("fen");
  if (AIMS[aim].includes("side")) body.side = text("side");
  const numbers = [...AIMS[aim], "total_nodes", "until_stable", "priority"].filter((name) => name !== "side" && name !== "before");
  for (const name of numbers) if (text(name)) body[name] = Number(text(name));
  for (const setting of listed) if (text(setting.name)) body[setting.name] = settingValue(setting, text(setting.name));
  if (body.margin !== undefined) body.margin = Math.round(100 * body.margin);
  if (aim === "deepen") body.deepen = { depth: body.depth, before: text("before") || null };
  return body;
}

/** The form; `began` is called when a build has been started. */
export function startForm(app, began) {
  const field = (name, word, attributes) => h("label", { "data-field": name }, t(word), h("input", { name, ...attributes }));
  const count = (name, word, attributes = {}) => field(name, word, { type: "number", min: "1", step: "1", ...attributes });
  const aim = h("select", { name: "aim", onchange: () => fit() },
    Object.keys(AIMS).map((name) => h("option", { value: name }, t(`aim_${name}`))));
  const hint = h("p", { class: "quiet small", "aria-live": "polite" });
  const variant = h("select", { name: "variant", onchange: () => fit() });
  const side = h("select", { name: "side" });
  const refused = h("p", { class: "complaint", role: "alert", hidden: true });
  const knobs = h("div", { class: "knobs" });
  let listed = [];
  let isListAsked = false;

  /** Adds the settings that the server lists and that have no field here. */
  const addListed = async () => {
    if (isListAsked) return;
    isListAsked = true;
    try {
      const { fields } = await get("/build-settings");
      listed = fields.filter(({ name, schema }) => schema.type !== "object" && name !== "policy" && !form.elements[name]);
      knobs.append(...listed.map((setting) => h("label", { title: settingHelp(setting) }, settingLabel(setting), settingInput(setting))));
    } catch {
      // The form starts builds without them.
    }
  };

  /** Shows the fields that belong to the aim. */
  const fit = () => {
    hint.textContent = t(`aimHint_${aim.value}`);
    const own = new Set(Object.values(AIMS).flat());
    for (const label of form.querySelectorAll("[data-field]")) {
      const { field: name } = label.dataset;
      label.hidden = own.has(name) && !AIMS[aim.value].includes(name);
    }
    // What is hidden must not hold the form back.
    for (const input of form.querySelectorAll("[data-field] input")) input.disabled = input.closest("[data-field]").hidden;
    const chosen = side.value || "first";
    const shape = game(variant.value);
    side.replaceChildren(...["first", "second"].map((name) => h("option", { value: name, selected: name === chosen }, t(sideWord(shape, name)))));
  };

  const submit = async (event) => {
    event.preventDefault();
    refused.hidden = true;
    try {
      await post("/jobs", asked(new FormData(form), listed));
      details.open = false;
      // The next build begins anew; under the same name it would be the same one.
      form.reset();
      await began();
    } catch (error) {
      if (error.status === 401) {
        app.complain(error);
        return;
      }
      refused.textContent = errorText(error);
      refused.hidden = false;
    }
  };

  const form = h("form", { onsubmit: submit },
    h("label", { class: "wide" }, t("aim"), aim, hint),
    field("name", "name", { type: "text", required: true, maxlength: "200" }),
    h("label", {}, t("variant"), variant),
    field("roots", "roots", { type: "text", placeholder: "h8; h8 i9" }),
    h("label", { "data-field": "side" }, t("side"), side),
    count("depth", "searchDepth", { max: "100", value: "6", required: true }),
    count("nodes", "threatNodes", { value: "20000", required: true }),
    count("top", "topMoves", { max: "1000", value: "3", required: true }),
    field("before", "searchedBefore", { type: "date" }),
    count("positions", "wantPositions", { value: "1000" }),
    h("details", { class: "more" }, h("summary", {}, t("moreKnobs")), knobs),
    refused,
    h("button", { type: "submit", class: "primary" }, t("startJob")));
  knobs.append(
    field("alpha", "alpha", { type: "number", min: "0", step: "any", placeholder: "1" }),
    field("margin", "margin", { type: "number", min: "0", step: "0.01", placeholder: t("marginHint") }),
    field("noise", "noise", { type: "number", min: "0", max: "100", step: "any", placeholder: "0" }),
    count("max_ply", "maxPly"),
    field("cover", "cover", { type: "text", placeholder: "h8 i9 h9; …" }),
    field("exclude", "exclude", { type: "text", placeholder: "h8 a1; …" }),
    field("fen", "setUp", { type: "text" }),
    count("total_nodes", "totalNodes"),
    count("until_stable", "untilStable"),
    field("priority", "priority", { type: "number", min: "-100", max: "100", step: "1", placeholder: "0" }));

  /** A form that was not touched begins where the explorer stands. */
  const begin = () => {
    if (!details.open) return;
    addListed();
    if (form.elements.name.value) return;
    const { variant: here, moves, at, fen } = app.explorer.position ? app.explorer.line : app.explorer.beginning();
    const names = VARIANTS.includes(here) ? VARIANTS : [...VARIANTS, here];
    variant.replaceChildren(...names.map((name) => h("option", { value: name, selected: name === here }, gameName(name))));
    const line = moves.slice(0, at);
    form.elements.name.value = [here, ...line].join("-").slice(0, 200);
    form.elements.roots.value = line.join(" ");
    form.elements.fen.value = fen;
    fit();
  };

  const details = h("details", { class: "start", ontoggle: begin }, h("summary", {}, t("newJob")), form);
  return details;
}
