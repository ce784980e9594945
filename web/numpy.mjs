/** Downloads numpy from Pyodide's distribution into Pyodide's folder, where it is not there yet. Pyodide checks its digest. */

import { loadPyodide } from "pyodide";

const pyodide = await loadPyodide();
await pyodide.loadPackage("numpy", { messageCallback: () => {}, errorCallback: () => {} });
process.exit("numpy" in pyodide.loadedPackages ? 0 : 1);
