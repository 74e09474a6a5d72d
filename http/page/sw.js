// Keeps the files of a site, so that it opens without its host after the first visit. What the host
// has comes first; the kept files answer where it does not.

const KEPT = "kagetsu";
/** Bytes of a book up to which it is kept whole. */
const MAX_BOOK_BYTES = 64 * 1024 * 1024;
/** Asks the host for what it has now; a file that did not change is not sent again. */
const NOW = { cache: "no-cache" };

async function keep() {
  const site = await (await fetch("site.json", NOW)).json();
  const cache = await caches.open(KEPT);
  const books = site.books.filter(({ bytes }) => bytes <= MAX_BOOK_BYTES).map(({ file }) => file);
  const files = ["./", "site.json", ...site.files, ...books].map((name) => new Request(name, NOW));
  await cache.addAll(files);
  const isGone = ({ url }) => files.every((file) => file.url !== url);
  await Promise.all((await cache.keys()).filter(isGone).map((file) => cache.delete(file)));
}

/** The part of a kept file that a request wants. */
async function part(request) {
  const kept = await caches.match(request.url, { ignoreSearch: true });
  if (!kept) return Response.error();
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("Range") ?? "");
  if (!range) return kept;
  const whole = await kept.blob();
  const [from, to] = [Number(range[1]), Math.min(Number(range[2]) + 1, whole.size)];
  return new Response(whole.slice(from, to), {
    status: 206, headers: { "Content-Range": `bytes ${from}-${to - 1}/${whole.size}` },
  });
}

addEventListener("install", (event) => event.waitUntil(keep().then(() => self.skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method !== "GET" || new URL(url).origin !== location.origin) return;
  event.respondWith(fetch(event.request).catch(() => part(event.request)));
  if (url.endsWith("/site.json")) event.waitUntil(renew(url).catch(() => {}));
});

/** Keeps all files again where the site has changed since. */
async function renew(url) {
  const [kept, now] = await Promise.all([caches.match(url), fetch(url, NOW)]);
  if (kept && (await kept.text()) !== (await now.text())) await keep();
}
