/** Starts the Python of the application: in the worker of the page, and in Node.js for the snapshot and for tests. */

/** Folders in the memory of Python: the files that the user chose, read-only and read by slices, and files that commands write. */
export const MODELS = "/models";
export const OUT = "/out";
const PACKAGES = "/packages.zip";
/** The word of a snapshot's header that has the place of the memory in it. */
const MEMORY_WORD = 1;

/** @param {Record<string, any>} settings those of Pyodide @param {Uint8Array} packages @returns {Promise<any>} */
export async function started(settings, packages) {
  const { loadPyodide } = await import(`${settings.indexURL}pyodide.mjs`);
  const pyodide = await loadPyodide(settings);
  addFolders(pyodide);
  addPackages(pyodide, packages);
  pyodide.runPython(`import sys; sys.path.append("${PACKAGES}"); import bridge`);
  return pyodide;
}

/**
 * Start Python from a snapshot of its memory, which has the imported packages. What is not imported yet is read from the packages:
 * `addPackages` comes before the first command. Fails where the snapshot is of another Pyodide.
 * @param {Record<string, any>} settings those of Pyodide @param {Promise<Uint8Array>} snapshot @returns {Promise<any>}
 */
export async function restored(settings, snapshot) {
  const { loadPyodide } = await import(`${settings.indexURL}pyodide.mjs`);
  const { default: create } = await import(`${settings.indexURL}pyodide.asm.mjs`);
  const pyodide = await loadPyodide({
    ...settings,
    _loadSnapshot: snapshot,
    async createPyodideModule(/** @type {any} */ given) {
      const module = await create(given);
      const content = await snapshot;
      keepTrampoline(module, content);
      // Pyodide copies the snapshot into the memory, but does not make room for it.
      module.growMemory(content.length);
      return module;
    },
  });
  addFolders(pyodide);
  return pyodide;
}

/** @param {any} pyodide */
function addFolders(pyodide) {
  for (const folder of [MODELS, OUT]) pyodide.FS.mkdirTree(folder);
}

/** @param {any} pyodide @param {Uint8Array} packages */
export function addPackages(pyodide, packages) {
  pyodide.FS.writeFile(PACKAGES, packages);
}

/**
 * Write into a snapshot where this browser has the function through which Python calls other functions. That depends on the browser.
 * @param {any} module @param {Uint8Array} snapshot
 */
function keepTrampoline(module, snapshot) {
  const place = module.__PyRuntime + module.HEAPU32[module.__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET / 4];
  const view = new DataView(snapshot.buffer, snapshot.byteOffset);
  view.setUint32(view.getUint32(4 * MEMORY_WORD, true) + place, module.HEAPU32[place / 4], true);
}
