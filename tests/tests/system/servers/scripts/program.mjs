// The program for browsers names what is wrong: node program.mjs FOLDER CERTIFICATE.

import { deepEqual } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, certificate] = process.argv.slice(2);
const { start } = await import(pathToFileURL(join(folder, "kagetsu.js")));
const kagetsu = await start(readFileSync(join(folder, "kagetsu.wasm")),
  (name) => readFileSync(join(folder, `kagetsu-weights/${name}.xz`)));

const bytes = (text) => new TextEncoder().encode(text);
const whole = readFileSync(certificate, "utf8");
const claim = whole.split("\n")[3];
const file = (length) => ({ length: () => length, read: () => new Uint8Array(9) });
const silent = { length() { throw new Error(); } };
const cases = [
  [() => kagetsu.verify(bytes(whole)), "win"],
  [() => kagetsu.verify(bytes(whole.slice(0, -20))), "wrong_proof"],
  [() => kagetsu.verify(bytes(whole.replace(claim, "claim win 1"))), "wrong_proof"],
  [() => kagetsu.open(bytes("GIF89a")), "damaged_book"],
  [() => kagetsu.open(bytes(whole)), "fine"],
  [() => kagetsu.open(file(0)), "damaged_book"],
  [() => kagetsu.open(file(9999)), "damaged_book"],
  [() => kagetsu.open(silent), "damaged_book"],
  [() => kagetsu.position({ variant: "chess" }), "bad_request"],
  [() => kagetsu.position({ variant: "freestyle-15", moves: "h8 h8" }), "bad_request"],
  [() => kagetsu.lookup({ variant: "renju-15" }), "not_in_book"],
  [() => kagetsu.call("nothing"), "not_found"],
  [() => kagetsu.analyze({ variant: "xiangqi", time_ms: 1 }), "fine"],
  [() => kagetsu.analyze({ variant: "xiangqi" }, { mustStop: () => true }), "fine"],
];
const code = (does) => {
  try {
    return does().claim ?? "fine";
  } catch (error) {
    return error.code;
  }
};
for (const [does, expected] of cases) deepEqual(code(does), expected, String(does));

// The second side has an open four on a board that a mirror turns into itself: replies that mirror
// each other are one.
const moves = "a1 g8 p1 h8 a16 i8 p16 j8";
const variant = "freestyle-16";
const proof = bytes(`kagetsu-proof 1\nvariant ${variant}\nposition ${moves}\nclaim loss 2\n1 f8\n2 k8\n3 - f8>2 *>1\nend 3\n`);
kagetsu.verify(proof);
kagetsu.open(proof);
const { behind } = kagetsu.call("transpositions", { variant, moves });
deepEqual([kagetsu.lookup({ variant, moves }).answers.length, behind.length], [248, 124]);
