// Shows the best reply to the moves of a renju game, from a worker with the program.

const [input, output] = ["input", "output"].map((name) => document.querySelector(name));
const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => { output.textContent = data.error ?? `${data.best} (depth ${data.depth})`; };
const ask = () => worker.postMessage({ variant: "renju-15", moves: input.value, time_ms: 1000, top: 1 });
input.addEventListener("change", ask);
ask();
