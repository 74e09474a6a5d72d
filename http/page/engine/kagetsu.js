// Kagetsu as WebAssembly: makes a program of kagetsu.wasm and calls it. It is synchronous, so a page
// runs it in a worker. The npm package `kagetsu` is this file with the program.

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/** A request that failed: `code` for programs, `message` for people. */
export class KagetsuError extends Error {
  constructor({ code, message, held_moves: heldMoves = null }) {
    super(message);
    this.code = code;
    this.heldMoves = heldMoves;
  }
}

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

function joined(head, rest) {
  const bytes = new Uint8Array(head.length + rest.length);
  bytes.set(head);
  bytes.set(rest, head.length);
  return bytes;
}

class Kagetsu {
  constructor() {
    this.book = null;
    this.progress = null;
    this.mustStop = null;
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
      now: () => performance.timeOrigin + performance.now(),
      must_stop: () => Number(this.mustStop?.() ?? false),
      tell: (at, length) => this.progress?.(JSON.parse(DECODER.decode(bytes(at, length)))),
      book_length: () => tried(() => this.book.length(), -1),
      read: (offset, at, length) => tried(() => {
        const part = this.book.read(offset, length);
        bytes(at, length).set(part.subarray(0, length));
        return Number(part.length >= length);
      }, 0),
    };
  }

  /** Sends a request, with an object or the bytes of a file, and returns its answer. */
  call(name, body) {
    const answer = this.send(name, body);
    if (answer.error?.code === "no_weights" && this.weights && name !== "weights") {
      const file = answer.error.message;
      this.call("weights", joined(ENCODER.encode(`${file}\n`), this.weights(file)));
      return this.call(name, body);
    }
    if (answer.error) throw new KagetsuError(answer.error);
    return answer;
  }

  send(name, body) {
    const rest = body instanceof Uint8Array ? body : ENCODER.encode(JSON.stringify(body ?? {}));
    const bytes = joined(ENCODER.encode(`${name}\n`), rest);
    const { memory, kagetsu_take: take, kagetsu_call: send, kagetsu_answer: where } = this.exports;
    const at = take(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const answered = send(at, bytes.length);
    return JSON.parse(DECODER.decode(new Uint8Array(memory.buffer, where(), answered)));
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
