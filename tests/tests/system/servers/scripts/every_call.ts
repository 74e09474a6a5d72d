// Makes every kind of call of the HTTP API with types of openapi-typescript, which `tsc` checks:
// node every_call.mjs ADDRESS. The server has the job `test`.

import createClient from "openapi-fetch";
import type { paths } from "./api";

const { GET, POST } = createClient<paths>({ baseUrl: process.argv[2] });
const query = { variant: "freestyle-15", moves: "h8" };
const path = { name: "test" };
const body = { priority: 2 };
const { data: answer } = await GET("/api/v1/book", { params: { query } });
const win: number | null | undefined = answer?.answers[0].win_in;
// @ts-expect-error
const wrong: string | undefined = answer?.answers[0].depth;
const calls = [
  GET("/api/v1/annotations", { params: { query } }),
  POST("/api/v1/annotations", { body: { ...query, written: [{ kind: "comment", text: "the center" }] } }),
  GET("/api/v1/books"),
  GET("/api/v1/bottlenecks", { params: { query } }),
  GET("/api/v1/build-settings"),
  GET("/api/v1/games", { params: { query: { ...query, top: 3 } } }),
  GET("/api/v1/jobs"),
  GET("/api/v1/jobs/{name}", { params: { path } }),
  GET("/api/v1/jobs/{name}/history", { params: { path } }),
  POST("/api/v1/jobs/{name}/priority", { params: { path }, body }),
  POST("/api/v1/jobs/{name}/{change}", { params: { path: { ...path, change: "pause" } } }),
  GET("/api/v1/openapi.json"),
  GET("/api/v1/pick", { params: { query: { ...query, seed: 1 } } }),
  GET("/api/v1/position", { params: { query } }),
  GET("/api/v1/priorities", { params: { query } }),
  GET("/api/v1/statistics", { params: { query: {} } }),
  GET("/api/v1/status"),
  GET("/api/v1/suspects", { params: { query: { ...query, top: 2 } } }),
  GET("/api/v1/transpositions", { params: { query } }),
  GET("/api/v1/tree", { params: { query: { ...query, plies: 2 } } }),
  GET("/api/v1/workers"),
  GET("/healthz", { parseAs: "text" }),
  GET("/readyz", { parseAs: "text" }),
  GET("/api/v1/jobs/{name}/events", { params: { path }, parseAs: "text" }),
  POST("/api/v1/analyses", { body: { ...query, depth: 2 }, parseAs: "text" }),
];
for (const { response, error } of await Promise.all(calls)) {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
}
console.log(calls.length, win, wrong);
