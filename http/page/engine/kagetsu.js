// Kagetsu as WebAssembly: makes a program of kagetsu.wasm and calls it. It is synchronous, so a page
// runs it in a worker. The npm package `kagetsu` is this file with the program.

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/** A request that failed: `code` for programs, `message` for people. */
export class KagetsuError extends Error {
  constructor({ code, message, held_moves: heldMoves = null }, cause = null) {
    super(message, { cause });
    this.code = code;
    this.heldMoves = heldMoves;
  }
}

/** Milliseconds between two calls of a search after which it slept, as in a frozen tab. */
const MAX_GAP_MS = 5000;

/** Starts the program of a compiled module, of its bytes, or of a response with them. `weights`
 * returns the bytes of a file of weights by its name, which a search asks for once. */
export async function start(source, weights = null) {
  let module = source;
  if (source instanceof Response) module = await WebAssembly.compileStreaming(source);
  else if (!(source instanceof WebAssembly.Module)) module = await WebAssembly.compile(source);
  const kagetsu = new Kagetsu();
  kagetsu.weights = weights;
  const instance = await WebAssembly.instantiate(module, { host: kagetsu.host() });
  kagetsu.exports = instance.exports;
  return kagetsu;
}

/** Waits for a file, or for a part of it, which only a worker may do. */
export function fetchNow(url, range = "") {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  if (range) request.setRequestHeader("Range", `bytes=${range}`);
  request.send();
  if (request.status !== 206 && request.status !== 200) throw new Error(`HTTP ${request.status}`);
  return request;
}

/** Both arrays of bytes, one behind the other. */
export function joined(head, rest) {
  const bytes = new Uint8Array(head.length + rest.length);
  bytes.set(head);
  bytes.set(rest, head.length);
  return bytes;
}

class Kagetsu {
  constructor() {
    Object.assign(this, { book: null, progress: null, mustStop: null, seen: 0, slept: 0 });
  }

  host() {
    const bytes = (at, length) => new Uint8Array(this.exports.memory.buffer, at, length);
    // A program cannot unwind a thrown error, so a book that throws gives nothing.
    const tried = (does, otherwise) => {
      try {
        return does();
      } catch (error) {
        this.bookError = error;
        return otherwise;
      }
    };
    return {
      now: () => this.now(),
      must_stop: () => Number(this.mustStop?.() ?? false),
      tell: (at, length) => this.progress?.(this.said(bytes(at, length))),
      book_length: () => tried(() => this.book.length(), -1),
      read: (offset, at, length) => tried(() => {
        const part = this.book.read(offset, length);
        bytes(at, length).set(part.subarray(0, length));
        return Number(part.length >= length);
      }, 0),
    };
  }

  /** The clock of the program, which stands while it sleeps. */
  now() {
    const now = performance.now();
    if (now - this.seen > MAX_GAP_MS) this.slept += now - this.seen;
    this.seen = now;
    return performance.timeOrigin + now - this.slept;
  }

  /** Reads JSON of the program. An answer of a search tells how long it slept. */
  said(bytes) {
    const json = JSON.parse(DECODER.decode(bytes));
    if (this.slept > 0 && "time_ms" in json) json.slept_ms = Math.round(this.slept);
    return json;
  }

  /** Sends a request, with an object or the bytes of a file, and returns its answer. */
  call(name, body) {
    Object.assign(this, { seen: performance.now(), slept: 0, bookError: null });
    const rest = body instanceof Uint8Array ? body : ENCODER.encode(JSON.stringify(body ?? {}));
    const request = joined(ENCODER.encode(`${name}\n`), rest);
    const { memory, kagetsu_take: take, kagetsu_call: call, kagetsu_answer: place } = this.exports;
    const at = take(request.length);
    new Uint8Array(memory.buffer, at, request.length).set(request);
    const length = call(at, request.length);
    const answer = this.said(new Uint8Array(memory.buffer, place(), length));
    if (!answer.error) return answer;
    const { code, message } = answer.error;
    if (code !== "no_weights" || !this.weights || name === "weights") throw new KagetsuError(answer.error, this.bookError);
    this.call("weights", joined(ENCODER.encode(`${message}\n`), this.weights(message)));
    return this.call(name, body);
  }

  /** The position: side, outcome, legal moves, forbidden points. */
  position(query) {
    return this.call("position", query);
  }

  /** Searches; `progress` gets each answer so far, and `mustStop` may end the search. */
  analyze(question, { progress = null, mustStop = null } = {}) {
    this.progress = progress;
    this.mustStop = mustStop;
    return this.call("analyses", question);
  }

  /** Opens a compiled book or a certificate: bytes, or an object that reads parts of a file. */
  open(source) {
    if (source instanceof Uint8Array) return this.call("load", source);
    this.book = source;
    return this.call("load", new Uint8Array());
  }

  /** What the open books know of a position. */
  lookup(query) {
    return this.call("book", query);
  }

  /** Checks a certificate by the rules; throws where it proves nothing. */
  verify(bytes, progress = null) {
    this.progress = progress;
    return this.call("verify", bytes);
  }
}
