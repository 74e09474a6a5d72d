// The verdicts of the server that this page came from, and of no other.

import { ApiError } from "./api_error.js";

const BASE = "/api/v1";

/** The token of this tab, where the server requires one. */
export const token = {
  get: () => sessionStorage.getItem("kagetsu.token"),
  set: (text) => sessionStorage.setItem("kagetsu.token", text),
};

function headers(extra) {
  const bearer = token.get();
  return bearer ? { ...extra, Authorization: `Bearer ${bearer}` } : extra;
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(BASE + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "offline", "");
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  options.signal?.throwIfAborted();
  throw new ApiError(response.status, body?.error?.code ?? "http", body?.error?.message ?? response.statusText, body?.error?.held_moves);
}

export async function get(path, parameters = {}, signal) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value)).toString();
  const response = await ask(query ? `${path}?${query}` : path, { headers: headers({}), signal });
  return response.json();
}

export async function post(path, body = {}) {
  const response = await ask(path, {
    method: "POST",
    headers: headers({ "Content-Type": "application/json" }),
    body: JSON.stringify(body),
  });
  return response.json();
}

/** Posts, and calls `receive(name, data)` for each event until the stream or `signal` ends. */
export async function listen(path, body, receive, signal) {
  const response = await ask(path, {
    method: "POST",
    headers: headers({ "Content-Type": "application/json" }),
    body: JSON.stringify(body),
    signal,
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const field = (name) =>
        event
          .split("\n")
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trimStart())
          .join("\n");
      const data = field("data");
      if (data) receive(field("event"), JSON.parse(data));
    }
  }
}
