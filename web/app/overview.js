/** The overview of a model on all targets. */

import { withLabels } from "./commands.js";
import { byId, make } from "./dom.js";

/** @typedef {{headline: string, text: string, rows: Record<string, string>[], note: string,
 *   card?: {picture: string, markdown: string}}} Overview */
/** @typedef {{form: import("./types.js").Form, android: string, chosen: string, choose: (delegate: string) => void}} Settings */

/** @param {string} text Return the first paragraph of a text, joined to one line. */
export const headlineOf = (text) => {
  const lines = text.split("\n");
  const end = lines.findIndex((line, index) => index > 0 && !/^ +\S/.test(line));
  return lines
    .slice(0, end < 0 ? lines.length : end)
    .map((line) => line.trim())
    .join(" ");
};

/** Show an overview. @param {Overview} overview @param {Settings} settings */
export function showOverview({ headline, text, rows }, settings) {
  byId("headline").textContent = headline;
  const details = /** @type {HTMLDetailsElement} */ (byId("overview-text"));
  const pre = /** @type {HTMLElement} */ (details.querySelector("pre"));
  pre.textContent = text;
  byId("overview-scroll").hidden = rows.length === 0;
  if (rows.length === 0) details.open = true;
  const body = /** @type {HTMLElement} */ (document.querySelector("#overview-table tbody"));
  body.replaceChildren(...settings.form.groups.flatMap(([title, names]) => groupOf(title, rows.filter((row) => names.includes(row.delegate)), settings)));
}

/** @param {string} title @param {Record<string, string>[]} rows @param {Settings} settings */
function groupOf(title, rows, settings) {
  if (!rows.length) return [];
  const ranks = new Map(rows.map((row) => [row, rankOf(row)]));
  const best = rows.sort((a, b) => (ranks.get(b) ?? 0) - (ranks.get(a) ?? 0));
  const head = title ? [make("tr", { className: "group" }, make("th", { scope: "rowgroup", colSpan: 3 }, title))] : [];
  return [...head, ...best.map((row) => rowOf(row, settings))];
}

/** Return how good a result is: the share of the work, less if results are wrong or no node is taken. @param {Record<string, string>} row */
function rankOf(row) {
  if (row.outcome !== "delegated") return -2;
  const [part, whole] = workOf(row);
  return (whole ? part / whole : 1) - (Number(row.wrong_results) ? 1.5 : 0);
}

/** Return the delegated and the whole work: multiply-adds, or nodes where there are none. @param {Record<string, string>} row */
function workOf(row) {
  const [part, whole] = Number(row.multiply_adds) ? [row.delegated_multiply_adds, row.multiply_adds] : [row.delegated_nodes, row.nodes];
  return [Number(part), Number(whole)];
}

/** @param {Record<string, string>} row @param {Settings} settings */
function rowOf(row, { form, android, chosen, choose }) {
  const delegate = form.delegates.find(({ name }) => name === row.delegate);
  const platform = delegate?.level && android !== "none" ? ` on Android ${android}` : "";
  const name = make("button", { type: "button", className: "link" }, `${delegate?.title || row.target}${platform}`);
  name.addEventListener("click", () => choose(row.delegate));
  const state = delegate?.deprecated ? `deprecated ${delegate.deprecated}` : delegate?.is_plugin ? "selected, not compiled" : "";
  const notes = [...(delegate?.title ? [row.target] : []), ...(state ? [state] : [])].join(", ");
  const runs = row.outcome === "delegated" || row.outcome === "none";
  const cells = [
    make("th", { scope: "row" }, name, ...(notes ? [make("small", {}, notes)] : [])),
    make("td", { className: "work" }, ...(row.outcome === "delegated" ? work(row) : [make("span", { className: runs ? "faint" : "bad" }, row.outcome || row.status)])),
    make("td", { className: "reason" }, ...reason(row, delegate?.options ?? [])),
  ];
  const tr = make("tr", row.delegate === chosen ? { className: "current", "aria-current": "true" } : {}, ...cells);
  tr.dataset.delegate = row.delegate;
  return tr;
}

/** @param {Record<string, string>} row */
function work(row) {
  const [part, whole] = workOf(row);
  const kernels = `${count(row.delegate_kernels)} ${row.delegate_kernels === "1" ? "kernel" : "kernels"}`;
  const bar = make("meter", { min: 0, max: 1, value: whole ? part / whole : 1, "aria-hidden": "true" });
  const wrong = Number(row.wrong_results) ? [make("small", { className: "bad" }, `${count(row.wrong_results)} wrong`)] : [];
  return [bar, make("b", {}, percent(part, whole)), make("small", {}, `${count(row.delegated_nodes)} of ${count(row.nodes)} nodes, ${kernels}`), ...wrong];
}

/** Return a share as the command line does it: 99.97 % is not 100 %, and 0.04 % is not 0 %. @param {number} part @param {number} whole */
export const percent = (part, whole) =>
  part > 0 && part * 1000 < whole ? "< 0.1 %" : `${whole ? Math.floor((part * 1000) / whole) / 10 : 100} %`;

/** @param {string | number} number */
export const count = (number) => Number(number).toLocaleString("en-US");

/** @param {Record<string, string>} row @param {import("./types.js").Option[]} options */
function reason({ message, hint }, options) {
  if (!message) return [];
  return hint ? [message, make("small", { className: "hint" }, withLabels(hint, options))] : [message];
}
