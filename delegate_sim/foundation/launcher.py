"""Run a Python file or module without the current folder in the path: ``python launcher.py FOLDERS KIND NAME ARGUMENT...``.

FOLDERS are appended to the path. KIND is ``file`` or ``module``.

Python itself puts the folder of a script, or the current folder, first in the path. Only Python 3.11 and newer have an option
against this (``-P``). This file is a script, so Python puts the folder of this file first, and never the current folder. The file
then removes this folder before it imports anything. It needs only the standard library, because it also runs in the Pythons of
converters.
"""

import sys

if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]

    import os
    import runpy

    folders, kind, name = sys.argv[1:4]
    sys.path[:] = [folder for folder in dict.fromkeys([*sys.path, *folders.split(os.pathsep)]) if os.path.isabs(folder)]
    sys.argv[:] = sys.argv[3:]
    if kind == "module":
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(name, run_name="__main__")
