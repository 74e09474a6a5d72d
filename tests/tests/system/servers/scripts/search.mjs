// Prints what the program for browsers finds in each position: node search.mjs FOLDER NODES.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, nodes] = process.argv.slice(2);
const { start } = await import(pathToFileURL(join(folder, "kagetsu.js")));
const kagetsu = await start(readFileSync(join(folder, "kagetsu.wasm")),
  (name) => readFileSync(join(folder, `kagetsu-weights/${name}.xz`)));
const positions = JSON.parse(readFileSync(new URL("positions.json", import.meta.url)));
const found = positions.map(([variant, moves]) => kagetsu.analyze({ variant, moves, nodes: Number(nodes), top: 1 }));
console.log(JSON.stringify(found.map(({ best, score, win_in, loss_in, depth }) => [best, score, win_in, loss_in, depth])));
