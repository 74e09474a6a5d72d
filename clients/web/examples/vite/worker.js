import { fetchNow, start } from "kagetsu";
import program from "kagetsu/kagetsu.wasm?url";

// Vite copies the weights of every game beside the program; a search loads those of its game.
const files = import.meta.glob("/node_modules/kagetsu-weights/*.xz", {
  query: "?url", import: "default", eager: true,
});
const place = (file) => new URL(file, self.location.href);
const weights = (name) =>
  new Uint8Array(fetchNow(place(files[`/node_modules/kagetsu-weights/${name}.xz`])).response);
const started = fetch(place(program)).then((response) => start(response, weights));

onmessage = async ({ data }) => {
  try {
    postMessage((await started).analyze(data));
  } catch (error) {
    postMessage({ error: error.message });
  }
};
