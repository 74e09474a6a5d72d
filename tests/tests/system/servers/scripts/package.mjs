// The npm packages, installed as npm packs them, are typed and bundled: node package.mjs FOLDER
// SCRATCH [VITE]. With the folder of Vite, its example is built into SCRATCH/example/dist.

import { equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, scratch, vite] = process.argv.slice(2);
const run = (cwd, program, line) => execFileSync(program, line.split(" "), { cwd, encoding: "utf8" }).trim();
const user = join(scratch, "user");
const modules = join(user, "node_modules");
for (const [name, from] of [["kagetsu", folder], ["kagetsu-weights", join(folder, "kagetsu-weights")]]) {
  const installed = join(modules, name);
  mkdirSync(installed, { recursive: true });
  const packed = run(from, "npm", `pack --silent --offline --pack-destination ${user}`);
  run(user, "tar", `-xf ${packed} -C ${installed} --strip-components=1`);
}
writeFileSync(join(user, "package.json"), '{"type": "module"}');

writeFileSync(join(user, "typed.ts"), `import { start, type Analysis } from "kagetsu";
const kagetsu = await start(new Uint8Array(), (name: string) => new TextEncoder().encode(name));
const found: Analysis = kagetsu.analyze({ variant: "renju-15", nodes: 1 });
const plies: number | null = found.answers[0].win_in;
// @ts-expect-error
kagetsu.analyze({ moves: plies });`);
run(user, "tsc", "--noEmit --strict --target es2022 --module node16 --moduleResolution node16 typed.ts");

writeFileSync(join(user, "bundled.js"), `import { start } from "kagetsu";
import { readFileSync } from "node:fs";
import program from "kagetsu/kagetsu.wasm";
import weights from "kagetsu-weights/xiangqi.bin.xz";
const file = (name) => readFileSync(new URL(name, import.meta.url));
const kagetsu = await start(file(program), () => file(weights));
console.log(kagetsu.analyze({ variant: "xiangqi", depth: 1, top: 1 }).best.length);`);
run(user, "esbuild", "bundled.js --bundle --format=esm --platform=node --loader:.wasm=file --loader:.xz=file --outdir=out --log-level=error");
equal(run(user, "node", "out/bundled.js"), "4");

if (vite) {
  const example = join(scratch, "example");
  cpSync(join(import.meta.dirname, "../../../../../clients/web/examples/vite"), example, { recursive: true });
  rmSync(join(example, "node_modules"), { recursive: true, force: true });
  cpSync(modules, join(example, "node_modules"), { recursive: true });
  run(example, "node", `${join(vite, "bin/vite.js")} build --base ./`);
}
