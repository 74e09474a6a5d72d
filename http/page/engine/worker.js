// A worker with the program: it answers requests one after another.

import { fetchNow, start } from "./kagetsu.js";
import { RangedFile } from "./ranged_file.js";

/** Starts the program and opens the books of a site. */
async function begin({ engine, books }) {
  if (typeof WebAssembly !== "object") throw Object.assign(new Error(), { code: "no_engine" });
  const weights = (name) => {
    try {
      return new Uint8Array(fetchNow(new URL(`kagetsu-weights/${name}.xz`, engine)).response);
    } catch {
      throw Object.assign(new Error(), { code: "no_weights" });
    }
  };
  // The first book is on its way while the program is made.
  const [first] = books;
  const begun = Promise.resolve(first && source(first));
  begun.catch(() => {});
  const kagetsu = await start(await whole(engine, "no_engine"), weights);
  if (first) await open(kagetsu, first, begun);
  others = books.slice(1);
  return kagetsu;
}

/** The books behind the first until they are open, and the promise of that. */
let others = [];
let opened = null;

const source = ({ file, parts }) => (parts ? new RangedFile(file) : whole(file, "no_book"));

async function open(kagetsu, { file }, book) {
  const source = await book;
  try {
    known.clear();
    kagetsu.open(source);
  } catch (error) {
    // A certificate that cannot be read proves nothing, but here it is a book.
    if (error.code === "wrong_proof") error.code = "no_book";
    error.message = error.message.replace("the book", decodeURI(file.split("/").at(-1)));
    throw error;
  }
}

/** Opens the books behind the first; one that cannot be read holds nothing. */
function openOthers(kagetsu) {
  opened ??= (async () => {
    for (const book of others) await open(kagetsu, book, source(book)).catch(() => {});
    others = [];
  })();
  return opened;
}

/** Answers a request; a position that the first book does not hold may be in another. */
async function answered(kagetsu, name, body) {
  const does = { tree, priorities, analyses }[name] ?? ((program, query) => program.call(name, query));
  const isElsewhere = () => name === "transpositions" && !held(kagetsu, body).is_held;
  if (others.length > 0 && isElsewhere()) await openOthers(kagetsu);
  try {
    return does(kagetsu, body);
  } catch (error) {
    if (error.code !== "not_in_book" || others.length === 0) throw error;
    await openOthers(kagetsu);
    return does(kagetsu, body);
  }
}

async function whole(url, code) {
  const response = await fetch(url).catch(() => null);
  const bytes = response?.ok ? await response.arrayBuffer() : null;
  if (!bytes?.byteLength) throw Object.assign(new Error(`${new URL(url).pathname} cannot be read`), { code });
  return new Uint8Array(bytes);
}

/** What the books know along a line, a look-up for each position. */
const known = new Map();

function priorities(kagetsu, { moves, ...query }) {
  const all = moves.split(" ").filter(Boolean);
  const step = (ply) => {
    const at = { ...query, moves: all.slice(0, ply).join(" ") };
    const key = JSON.stringify(at);
    if (!known.has(key)) known.set(key, held(kagetsu, at));
    return known.get(key);
  };
  return { line: [...Array(all.length + 1).keys()].map(step) };
}

function held(kagetsu, query) {
  try {
    const { answers, ...value } = kagetsu.lookup(query);
    return { ...value, is_held: answers.length > 0 };
  } catch (error) {
    if (error.code !== "not_in_book") throw error;
    return { is_held: false };
  }
}

/** Look-ups of one tree. */
const MAX_LOOKUPS = 200;

/** The best lines behind a position, by look-ups. */
function tree(kagetsu, { plies, top, ...query }) {
  let left = MAX_LOOKUPS;
  const branches = (moves, depth) => {
    if (depth === 0 || left === 0) return [];
    left -= 1;
    let known = null;
    try {
      known = kagetsu.lookup({ ...query, moves });
    } catch (error) {
      if (error.code !== "not_in_book" || moves === query.moves) throw error;
      return [];
    }
    const valued = known.answers.filter(({ bound, proof }) => bound !== "upper" || proof !== "none");
    return valued.slice(0, Number(top)).map((verdict) => ({ ...verdict, branches: branches(`${moves} ${verdict.move}`.trim(), depth - 1) }));
  };
  return { branches: branches(query.moves, Number(plies)), is_cut: left === 0 };
}

function analyses(kagetsu, question) {
  const { progress } = kagetsu;
  return kagetsu.analyze(question, { progress });
}

let running = null;
let last = Promise.resolve();

// A program answers one request after another, also where it pauses.
onmessage = ({ data }) => { last = last.then(() => receive(data)); };

async function receive({ id, name, body }) {
  try {
    if (name === "start") {
      running = begin(body);
      await running;
      postMessage({ id, answer: {} });
      return;
    }
    const kagetsu = await running;
    kagetsu.progress = (told) => postMessage({ id, told });
    if (name === "load") known.clear();
    postMessage({ id, answer: await answered(kagetsu, name, body) });
    // The other books are read when the first position is on the screen.
    if (["book", "statistics"].includes(name)) setTimeout(() => openOthers(kagetsu));
  } catch (error) {
    const isLast = ["RuntimeError", "RangeError"].includes(error.name);
    const code = isLast ? "engine_stopped" : error.cause?.code ?? error.code ?? "no_engine";
    postMessage({ id, error: { code, message: error.message, heldMoves: error.heldMoves ?? null, isLast } });
  }
}
