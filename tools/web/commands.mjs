// Runs commands in the Python of the browser application: node commands.mjs APPLICATION FOLDER
//
// APPLICATION is the folder that `make web` writes. FOLDER is mounted at its own path. Each line of standard input is a JSON array
// with the arguments of a command, and gives one line of JSON: the answer of web/bridge.py and the milliseconds that it took. The
// first line of the output has the milliseconds until Python runs, and until the packages are imported.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [application, mounted] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(application, "pyodide", "pyodide.mjs")).href);
const start = performance.now();
const pyodide = await loadPyodide();
const booted = performance.now();
pyodide.FS.writeFile("/packages.zip", new Uint8Array(readFileSync(join(application, "packages.zip"))));
pyodide.FS.mkdirTree("/out");
pyodide.FS.mkdirTree(mounted);
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: mounted }, mounted);
pyodide.runPython("import sys; sys.path.insert(0, '/packages.zip')");
const bridge = pyodide.pyimport("bridge");
console.log(JSON.stringify({ boot: booted - start, imports: performance.now() - booted }));
for await (const line of createInterface({ input: process.stdin })) {
  const before = performance.now();
  const answer = JSON.parse(bridge.run(JSON.parse(line)));
  console.log(JSON.stringify({ ...answer, milliseconds: performance.now() - before }));
}
