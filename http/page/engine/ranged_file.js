// A file of a web server that is read in parts. A worker may wait for a request, so this does.

import { fetchNow } from "./kagetsu.js";

/** Bytes that the first request asks for: the head of a book, and all of a small one. */
const FIRST_BYTES = 65536;

/** Tells one version of a file from another. */
const version = (part) => ["ETag", "Last-Modified", "Content-Range"]
  .map((name) => part.getResponseHeader(name)?.split("/").at(-1)).join();

export class RangedFile {
  constructor(url) {
    this.url = url;
  }

  /** The number of bytes. A server that refuses parts sends the whole file, which is kept. */
  length() {
    const first = fetchNow(this.url, `0-${FIRST_BYTES - 1}`);
    this.first = new Uint8Array(first.response);
    this.version = version(first);
    if (first.status === 200) return this.first.length;
    return Number(first.getResponseHeader("Content-Range").split("/")[1]);
  }

  read(offset, length) {
    if (offset + length <= this.first.length) return this.first.subarray(offset, offset + length);
    // A file that was replaced meanwhile has no parts of this book.
    const changed = () => Object.assign(new Error(), { code: "book_changed" });
    let part = null;
    try {
      part = fetchNow(this.url, `${offset}-${offset + length - 1}`);
    } catch {
      throw changed();
    }
    if (version(part) !== this.version) throw changed();
    return new Uint8Array(part.response);
  }
}
