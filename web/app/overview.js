/** The overview of a model on all targets. */

import { byId, make } from "./dom.js";

/** @typedef {{headline: string, text: string, rows: Record<string, string>[], note: string}} Overview */

/** @param {string} text Return the first paragraph of a text, joined to one line. */
export const headlineOf = (text) => {
  const lines = text.split("\n");
  const end = lines.findIndex((line, index) => index > 0 && !/^ +\S/.test(line));
  return lines
    .slice(0, end < 0 ? lines.length : end)
    .map((line) => line.trim())
    .join(" ");
};

/**
 * Show an overview.
 * @param {Overview} overview @param {(delegate: string) => void} choose @param {string} chosen
 */
export function showOverview({ headline, text, rows }, choose, chosen) {
  byId("headline").textContent = headline;
  const details = /** @type {HTMLDetailsElement} */ (byId("overview-text"));
  const pre = /** @type {HTMLElement} */ (details.querySelector("pre"));
  pre.textContent = text;
  byId("overview-scroll").hidden = rows.length === 0;
  if (rows.length === 0) details.open = true;
  const body = /** @type {HTMLElement} */ (document.querySelector("#overview-table tbody"));
  body.replaceChildren(...rows.map((row) => rowOf(row, choose, chosen)));
}

/** @param {Record<string, string>} row @param {(delegate: string) => void} choose @param {string} chosen */
function rowOf(row, choose, chosen) {
  const name = make("button", { type: "button", className: "link" }, row.target);
  name.addEventListener("click", () => choose(row.delegate));
  const runs = row.outcome === "delegated" || row.outcome === "none";
  const cells = [
    make("th", { scope: "row" }, name),
    make("td", {}, ...(row.outcome === "delegated" ? share(row.delegated_nodes, row.nodes) : [make("span", { className: runs ? "faint" : "bad" }, row.outcome || row.status)])),
    make("td", {}, ...(row.outcome === "delegated" ? share(row.delegated_multiply_adds, row.multiply_adds) : [])),
    make("td", { className: "number" }, row.outcome === "delegated" ? row.delegate_kernels : ""),
    make("td", { className: "reason" }, ...reason(row)),
  ];
  return make("tr", row.delegate === chosen ? { className: "current", "aria-current": "true" } : {}, ...cells);
}

/** @param {string} part @param {string} whole */
function share(part, whole) {
  const value = Number(whole) ? Number(part) / Number(whole) : 1;
  // As the command line does it: 99.97 % is not 100 %.
  const percent = `${Math.floor(value * 1000) / 10} %`;
  const bar = make("meter", { min: 0, max: 1, value, "aria-hidden": "true" });
  return [bar, make("span", {}, percent), make("small", {}, `${count(part)} of ${count(whole)}`)];
}

/** @param {string} number */
const count = (number) => Number(number).toLocaleString("en-US");

/** @param {Record<string, string>} row */
function reason({ message, hint }) {
  if (!message) return [];
  return hint ? [message, make("small", { className: "hint" }, hint)] : [message];
}
