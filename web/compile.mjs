/**
 * Compiles Python packages with the Python of Pyodide, so that the browser need not: node compile.mjs FOLDER ARCHIVE.
 *
 * FOLDER has wheels and modules. ARCHIVE becomes one zip file, from which Python imports them.
 */

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPyodide } from "pyodide";

const COMPILE = `
import os, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

def compiled(name, source):
    # The pyc file is not checked against its source, which is not there.
    return _code_to_hash_pyc(compile(source, name, "exec", dont_inherit=True), bytes(8), False)

with zipfile.ZipFile("/archive", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for part in sorted(os.listdir("/packages")):
        path = f"/packages/{part}"
        files = {part: open(path, "rb").read()}
        if part.endswith(".whl"):
            wheel = zipfile.ZipFile(path)
            files = {name: wheel.read(name) for name in wheel.namelist()}
        for name, content in files.items():
            is_source = name.endswith(".py")
            entry = zipfile.ZipInfo(name + "c" if is_source else name)
            archive.writestr(entry, compiled(name, content) if is_source else content, zipfile.ZIP_DEFLATED)
`;

const [folder, archive] = process.argv.slice(2);
const pyodide = await loadPyodide();
pyodide.FS.mkdir("/packages");
for (const name of readdirSync(folder)) pyodide.FS.writeFile(`/packages/${name}`, new Uint8Array(readFileSync(join(folder, name))));
pyodide.runPython(COMPILE);
writeFileSync(archive, pyodide.FS.readFile("/archive"));
