"""The browser application: the command line in Pyodide, and the page around it."""
