// The one source of verdicts: the server that this page came from, or for a site of static files
// the program in this browser, which reads the site's books.

import { Here } from "../engine/here.js";
import * as server from "./server.js";

export { ApiError } from "./api_error.js";
export { token } from "./server.js";

/** What a site says about itself in its index; null for the page of a server. */
export const site = document.documentElement.dataset.site ?? null;
/** The program in this browser. */
export const here = site && new Here(new URL(site, document.baseURI));

const source = here ?? server;

export const get = (path, parameters, signal) => source.get(path, parameters, signal);
export const post = (path, body) => source.post(path, body);

/** Posts, and calls `receive(name, data)` for each event until the stream or `signal` ends. */
export const listen = (path, body, receive, signal) => source.listen(path, body, receive, signal);
