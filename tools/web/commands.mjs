// Runs commands in the Python of the browser application: node commands.mjs APPLICATION FOLDER
//
// APPLICATION is the folder that `make web` writes. FOLDER is mounted at its own path. Each line of standard input is a JSON array
// with the arguments of a command, and gives one line of JSON: the answer of web/bridge.py and the milliseconds that it took. The
// first line of the output has the milliseconds until Python runs, from its snapshot as in the browser.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [application, mounted] = process.argv.slice(2).map((path) => resolve(path));
const { addPackages, restored } = await import(pathToFileURL(`${application}/python.js`).href);
const bytesOf = (name) => new Uint8Array(readFileSync(`${application}/${name}`));
const start = performance.now();
const pyodide = await restored({ indexURL: `${application}/pyodide/` }, Promise.resolve(gunzipSync(bytesOf("snapshot.bin"))));
addPackages(pyodide, bytesOf("packages.zip"));
pyodide.FS.mkdirTree(mounted);
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: mounted }, mounted);
const bridge = pyodide.pyimport("bridge");
console.log(JSON.stringify({ boot: performance.now() - start }));
for await (const line of createInterface({ input: process.stdin })) {
  const before = performance.now();
  const answer = JSON.parse(bridge.run(JSON.parse(line)));
  console.log(JSON.stringify({ ...answer, milliseconds: performance.now() - before }));
}
