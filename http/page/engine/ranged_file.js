// A file of a web server that is read in parts. A worker may wait for a request, so this does.

/** Bytes that the first request asks for: the head of a book, and all of a small one. */
const FIRST_BYTES = 65536;

export class RangedFile {
  constructor(url) {
    this.url = url;
    this.requests = 0;
  }

  request(from, to) {
    const request = new XMLHttpRequest();
    request.open("GET", this.url, false);
    request.responseType = "arraybuffer";
    request.setRequestHeader("Range", `bytes=${from}-${to - 1}`);
    request.send();
    this.requests += 1;
    if (request.status !== 206 && request.status !== 200) throw new Error(`HTTP ${request.status}`);
    return request;
  }

  /** The number of bytes. A server that refuses parts sends the whole file, which is kept. */
  length() {
    const first = this.request(0, FIRST_BYTES);
    this.first = new Uint8Array(first.response);
    if (first.status === 200) return this.first.length;
    return Number(first.getResponseHeader("Content-Range").split("/")[1]);
  }

  read(offset, length) {
    if (offset + length <= this.first.length) return this.first.subarray(offset, offset + length);
    return new Uint8Array(this.request(offset, offset + length).response);
  }
}
