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

/** Starts the program of a compiled module, or of its bytes. */
export async function start(source) {
  const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
  const kagetsu = new Kagetsu();
  const instance = await WebAssembly.instantiate(module, { host: kagetsu.host() });
  kagetsu.exports = instance.exports;
  return kagetsu;
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
    const rest = body instanceof Uint8Array ? body : ENCODER.encode(JSON.stringify(body ?? {}));
    const head = ENCODER.encode(`${name}\n`);
    const length = head.length + rest.length;
    const { memory, kagetsu_take: take, kagetsu_call: send, kagetsu_answer: where } = this.exports;
    const at = take(length);
    const request = new Uint8Array(memory.buffer, at, length);
    request.set(head);
    request.set(rest, head.length);
    const answered = send(at, length);
    const answer = JSON.parse(DECODER.decode(new Uint8Array(memory.buffer, where(), answered)));
    if (answer.error) throw new KagetsuError(answer.error);
    return answer;
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
