// A file of a web server that is read in parts. A worker may wait for a request, so this does.

import { fetchNow } from "./kagetsu.js";

/** Bytes that the first request asks for: the head of a book, and all of a small one. */
const FIRST_BYTES = 65536;

export class RangedFile {
  constructor(url) {
    this.url = url;
  }

  /** The number of bytes. A server that refuses parts sends the whole file, which is kept. */
  length() {
    const first = fetchNow(this.url, `0-${FIRST_BYTES - 1}`);
    this.first = new Uint8Array(first.response);
    if (first.status === 200) return this.first.length;
    return Number(first.getResponseHeader("Content-Range").split("/")[1]);
  }

  read(offset, length) {
    if (offset + length <= this.first.length) return this.first.subarray(offset, offset + length);
    return new Uint8Array(fetchNow(this.url, `${offset}-${offset + length - 1}`).response);
  }
}
