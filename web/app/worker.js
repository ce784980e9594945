/**
 * The worker that runs the command line in Pyodide. It is started from a blob, so that it has the page's Content-Security-Policy.
 *
 * A request is `{id, call, values}`; the answer is `{id, result}` or `{id, error}`. Progress is `{progress, share}`.
 */

import { addPackages, MODELS, OUT, restored, started } from "./python.js";

const MEMORY_LIMIT = 1536 * 1024 * 1024;
/** The width of the text that commands print. Wide, because the page breaks lines itself. */
const COLUMNS = "5000";
const NO_NUMPY = "This page comes without numpy. Install delegate-sim, and use its command line for this model.";

const scope = /** @type {any} */ (globalThis);
/** @type {any} */
let pyodide;
/** @type {any} */
let bridge;
/** @type {import("./types.js").Files} */
let files;
let base = "";
let isMounted = false;
/** What the first command waits for: packages whose modules are not in the snapshot. @type {Promise<void>} */
let hasPackages;

/** @param {string} what @param {number} [share] */
const tell = (what, share) => scope.postMessage({ progress: what, share });

/** @param {string} path @returns {string} */
const textOf = (path) => pyodide.FS.readFile(path, { encoding: "utf8" });

/** Let memory grow only so far: then Python raises MemoryError, and the page lives on. */
function limitMemory() {
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function limited(pages) {
    if (this.buffer.byteLength + pages * 65536 > MEMORY_LIMIT) throw new RangeError("the memory limit of this page");
    return grow.call(this, pages);
  };
}

/** Count what is fetched while this function is at work, and tell the share of the page's files. */
function countFetches() {
  const fetched = scope.fetch;
  const total = files.start;
  let done = 0;
  scope.fetch = async (/** @type {any} */ address, /** @type {any} */ settings) => {
    const response = await fetched(address, settings);
    if (!response.ok || !response.body) return response;
    const counter = new TransformStream({
      transform(chunk, controller) {
        done += chunk.byteLength;
        tell("Loading Python", Math.min(0.9, (0.9 * done) / total));
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(counter), { status: response.status, headers: response.headers });
  };
  return () => {
    scope.fetch = fetched;
  };
}

/** @param {string} path */
async function bytesOf(path) {
  const response = await scope.fetch(base + path);
  if (!response.ok) throw new Error(`${path} cannot be loaded (status ${response.status})`);
  return new Uint8Array(await response.arrayBuffer());
}

/** @param {string} path */
async function unpacked(path) {
  const packed = new Response(await bytesOf(path));
  return new Uint8Array(await new Response(packed.body?.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

/** @type {Record<string, (...values: any[]) => any>} */
const calls = {
  async start(/** @type {string} */ address, /** @type {import("./types.js").Files} */ list, /** @type {boolean} */ isKept) {
    base = address;
    files = list;
    limitMemory();
    // The policy and the service worker bind requests; sockets to the page's own host would go around the service worker.
    for (const name of ["WebSocket", "WebSocketStream", "WebTransport"]) delete scope[name];
    // A browser keeps compiled code only of a response that is handed on unchanged, so kept files are not counted.
    const stop = isKept ? () => {} : countFetches();
    const settings = { indexURL: `${base}pyodide/`, packageBaseUrl: `${base}pyodide/` };
    try {
      pyodide = await restored(settings, unpacked(files.snapshot));
      stop();
      hasPackages = bytesOf(files.packages).then((packages) => addPackages(pyodide, packages));
    } catch (fault) {
      console.warn(`Python starts without its snapshot, because ${fault}`);
      pyodide = await started(settings, await bytesOf(files.packages));
      stop();
      hasPackages = Promise.resolve();
    }
    pyodide.runPython(`import os; os.environ["COLUMNS"] = "${COLUMNS}"`);
    bridge = pyodide.pyimport("bridge");
    scope.pyodide = pyodide; // for the browser's developer tools
    tell("", 1);
  },

  /** Make the chosen files, and no others, the files of the current folder. */
  mount(/** @type {{name: string, data: Blob}[]} */ blobs) {
    pyodide.FS.chdir("/");
    if (isMounted) pyodide.FS.unmount(MODELS);
    pyodide.FS.mount(pyodide.FS.filesystems.WORKERFS, { blobs }, MODELS);
    isMounted = true;
    pyodide.FS.chdir(MODELS);
  },

  async models(/** @type {string} */ path) {
    await hasPackages;
    return JSON.parse(bridge.models(path));
  },

  /** Run a command; where it writes a file, the answer has its content. */
  async run(/** @type {string[]} */ command, /** @type {string | undefined} */ file) {
    await hasPackages;
    let answer = runOnce(command);
    if (answer.needs !== null && files.numpy) {
      tell("Loading numpy, which this model needs");
      await pyodide.loadPackage("numpy");
      answer = runOnce(command);
    } else if (answer.needs !== null && answer.exit > 1) {
      answer.error = `${answer.error}. ${NO_NUMPY}`;
    }
    // In the same turn: the next command empties the folder.
    if (file && pyodide.FS.analyzePath(`${OUT}/${file}`).exists) answer.content = pyodide.FS.readFile(`${OUT}/${file}`);
    const [picture, markdown] = ["svg", "md"].map((ending) => `${OUT}/card.${ending}`);
    if (pyodide.FS.analyzePath(picture).exists) answer.card = { picture: textOf(picture), markdown: textOf(markdown) };
    return answer;
  },
};

/** @param {string[]} command */
function runOnce(command) {
  for (const name of pyodide.FS.readdir(OUT)) if (!name.startsWith(".")) pyodide.FS.unlink(`${OUT}/${name}`);
  const given = pyodide.toPy(command);
  try {
    return JSON.parse(bridge.run(given, (/** @type {string} */ what, /** @type {number} */ share) => tell(what, share < 0 ? undefined : share)));
  } finally {
    given.destroy();
  }
}

scope.addEventListener("message", async (/** @type {MessageEvent} */ event) => {
  const { id, call, values } = event.data;
  try {
    const result = await calls[call](...values);
    scope.postMessage({ id, result }, result?.content ? [result.content.buffer] : []);
  } catch (fault) {
    scope.postMessage({ id, error: String(/** @type {any} */ (fault)?.message || fault) });
  }
});
scope.postMessage({ ready: true });
