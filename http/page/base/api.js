// The one source of verdicts: the server that this page came from, or for a site of static files
// the program in this browser, which reads the site's books.

import { Here } from "../engine/here.js";
import * as server from "./server.js";

export { ApiError } from "./api_error.js";
export { token } from "./server.js";

const { site } = document.documentElement.dataset;
/** Whether the page stands in a site of static files, without a server of ours. */
export const isSite = Boolean(site);
/** The program in this browser: the source of a site, and beside a server an engine. */
export const here = new Here(isSite ? new URL(site, document.baseURI) : null);

const source = isSite ? here : server;

export const get = (path, parameters, signal) => source.get(path, parameters, signal);
export const post = (path, body) => source.post(path, body);

/** Posts, and calls `receive(name, data)` for each event until the stream or `signal` ends. */
export const listen = (path, body, receive, signal) => source.listen(path, body, receive, signal);
