/**
 * Writes the memory of a Python that has simulated the example, so that the page need not import the packages:
 * node snapshot.mjs APPLICATION SNAPSHOT.
 *
 * APPLICATION is the folder of the application. SNAPSHOT becomes a gzip file, which only the same Pyodide can use.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [application, snapshot] = process.argv.slice(2).map((path) => resolve(path));
const { MODELS, OUT, started } = await import(pathToFileURL(`${application}/python.js`).href);
const indexURL = `${application}/pyodide/`;
const pyodide = await started({ indexURL, _makeSnapshot: true }, new Uint8Array(readFileSync(`${application}/packages.zip`)));
pyodide.FS.writeFile(`${MODELS}/example.tflite`, new Uint8Array(readFileSync(`${application}/example.tflite`)));
const files = ["card=card.svg", "card=card.md", "csv=overview.csv"].map((file) => file.replace("=", `=${OUT}/`));
const command = ["analyze", `${MODELS}/example.tflite`, ...files.flatMap((file) => ["--report", file])];
const answer = JSON.parse(pyodide.runPython(`bridge.run(${JSON.stringify(command)})`));
if (answer.exit) throw new Error(answer.error);
pyodide.runPython("import gc; gc.collect()");
writeFileSync(snapshot, gzipSync(pyodide.makeMemorySnapshot(), { level: 9 }));
