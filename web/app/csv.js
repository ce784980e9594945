/** Rows of a CSV text, each as an object by the names in the first row. @param {string} text @returns {Record<string, string>[]} */
export function rowsOf(text) {
  /** @type {string[][]} */
  const rows = [[]];
  const cell = /("((?:[^"]|"")*)"|[^",\r\n]*)(,|\r?\n|$)/y;
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    if (!match) break;
    rows[rows.length - 1].push(match[2] === undefined ? match[1] : match[2].replaceAll('""', '"'));
    if (match[3] !== ",") rows.push([]);
  }
  const [names, ...others] = rows;
  return others
    .filter((row) => row.length === names.length)
    .map((row) => Object.fromEntries(row.map((value, index) => [names[index], value])));
}
