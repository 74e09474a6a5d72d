// The program in this browser: one worker answers about the rules and the books, another searches
// and checks, and is ended where the user stops it.

import { ApiError } from "../base/api_error.js";

/** A worker with the program. */
class Program {
  constructor(begin) {
    this.begin = begin;
    this.waiting = new Map();
    this.next = 0;
  }

  /** Loads the worker, which begins when it is first asked. */
  load() {
    this.isStarted = false;
    this.worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = () => this.end(new ApiError(0, "no_engine", ""));
  }

  start() {
    if (!this.worker) this.load();
    this.isStarted = true;
    this.state = "opening";
    const { worker } = this;
    const become = (state) => () => { if ([worker, null].includes(this.worker)) this.state = state; };
    this.send("start", this.begin()).then(become("open"), become("failed"));
  }

  /** Whether it searches or checks, which may take minutes. */
  get isBusy() {
    return [...this.waiting.values()].some(({ tell }) => tell);
  }

  send(name, body, tell) {
    const id = this.next += 1;
    return new Promise((answer, fail) => {
      this.waiting.set(id, { answer, fail, tell });
      this.worker.postMessage({ id, name, body });
    });
  }

  receive({ id, told, answer, error }) {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    if (told) {
      waiting.tell?.(told);
      return;
    }
    this.waiting.delete(id);
    if (!error) {
      waiting.answer(answer);
      return;
    }
    const failed = new ApiError(0, error.code, error.message, error.heldMoves);
    waiting.fail(failed);
    // A program that stopped by itself answers no more.
    if (error.isLast) this.end(failed);
  }

  /** Ends the worker; the next request begins another. */
  end(error) {
    this.worker?.terminate();
    this.worker = null;
    for (const { fail } of this.waiting.values()) fail(error);
    this.waiting.clear();
  }

  async ask(name, body, { tell, signal } = {}) {
    signal?.throwIfAborted();
    if (!this.worker || !this.isStarted) this.start();
    const stop = () => this.end(signal.reason);
    if (tell) signal?.addEventListener("abort", stop);
    try {
      return await this.send(name, body, tell);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }
}

/** Milliseconds between two looks at whether the site was written anew. */
const RENEWAL_MS = 60_000;

/** The program. `url` is the place of a site's description; null beside a server. */
export class Here {
  constructor(url) {
    this.url = url;
    this.isOffered = Boolean(url);
    this.description = url && this.describe();
    this.description?.catch(() => {});
    this.renewed = 0;
    document.addEventListener("visibilitychange", () => { this.looked = -Infinity; });
    this.books = [];
    this.engine = new URL("./kagetsu.wasm", import.meta.url).href;
    this.answers = new Program(() => ({ engine: this.engine, books: this.books }));
    this.answers.state = "opening";
    this.overview = null;
    this.searchers = [];
    if (url) [this.searcher, this.answers].forEach((program) => program.load());
  }

  /** Whether the first book of the site is not open yet. */
  get isOpening() {
    return Boolean(this.url) && this.answers.state === "opening";
  }

  /** Reads the description of the site. */
  async describe() {
    this.looked = performance.now();
    const response = await fetch(this.url, { cache: "no-cache" });
    if (!response.ok) throw new ApiError(response.status, "no_site", "");
    return response.text();
  }

  /** Reads the description of the site once, and again where the site was written anew. */
  async described() {
    if (!this.url) return;
    if (performance.now() - this.looked > RENEWAL_MS) {
      const [before, now] = [await this.description.catch(() => ""), await this.describe().catch(() => "")];
      if (now && now !== before) {
        this.description = Promise.resolve(now);
        this.renew(this.answers.worker);
      }
    }
    const read = this.description.then(JSON.parse);
    const { engine, books, overview } = await read.catch(() => { throw new ApiError(0, "no_site", ""); });
    this.overview = overview;
    const file = (name) => new URL(name, this.url).href;
    this.books = books.map((book) => ({ ...book, file: file(book.file) }));
    this.engine = file(engine);
  }

  async get(path, parameters = {}, signal) {
    await this.described();
    const name = path.slice(1);
    if (!["status", "position", "book", "books", "pick", "tree", "statistics", "transpositions", "priorities"].includes(name)) {
      throw new ApiError(404, "not_in_book", "");
    }
    // The rules need no book, which may still be loading or be damaged.
    const { state } = this.answers;
    if (state !== "open" && ["status", "position"].includes(name)) {
      const answer = await this.searcher.ask(name, parameters);
      signal?.throwIfAborted();
      return name === "status" ? { ...answer, is_here: true, is_loading: state === "opening" } : answer;
    }
    const asked = this.answers.ask(name, parameters);
    const { worker } = this.answers;
    const answer = await asked.catch((error) => {
      if (error.code !== "book_changed") throw error;
      this.renew(worker);
      return this.answers.ask(name, parameters);
    });
    signal?.throwIfAborted();
    return name === "status" ? { ...answer, is_here: true, epoch: [answer.epoch, this.renewed].join() } : answer;
  }

  /** Ends the worker that reads a book of before. */
  renew(worker) {
    if (worker !== this.answers.worker) return;
    this.renewed += 1;
    this.answers.end(new ApiError(0, "book_changed", ""));
  }

  async post() {
    throw new ApiError(403, "forbidden", "");
  }

  /** An idle program that searches. */
  get searcher() {
    const idle = this.searchers.find(({ isBusy }) => !isBusy);
    if (!idle) this.searchers.push(new Program(() => ({ engine: this.engine, books: [] })));
    return idle ?? this.searchers.at(-1);
  }

  /** Searches a position. */
  async listen(path, question, receive, signal) {
    await this.described();
    const tell = (answer) => receive("answer", answer);
    tell(await this.searcher.ask(path.slice(1), question, { tell, signal }));
  }

  /** Checks a certificate; `tell` gets how far it is. */
  async verify(bytes, tell, signal) {
    await this.described();
    return this.searcher.ask("verify", bytes, { tell, signal });
  }

  /** Opens a dropped book or certificate beside those of the site. */
  async open(bytes, name) {
    await this.described();
    return this.answers.ask("load", bytes).catch((error) => {
      error.message = error.message.replace("the book", name);
      throw error;
    });
  }
}
