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
  body.replaceChildren(...rows.map((row) => rowOf(row, settings)));
}

/** @param {Record<string, string>} row @param {Settings} settings */
function rowOf(row, { form, android, chosen, choose }) {
  const delegate = form.delegates.find(({ name }) => name === row.delegate);
  const name = make("button", { type: "button", className: "link" }, row.target);
  name.addEventListener("click", () => choose(row.delegate));
  const runs = row.outcome === "delegated" || row.outcome === "none";
  const title = delegate && delegate.title.toLowerCase() !== delegate.name ? delegate.title : "";
  const note = delegate?.level && android !== "none" ? `Android ${android}` : title;
  const cells = [
    make("th", { scope: "row" }, name, ...(note ? [make("small", {}, note)] : [])),
    make("td", {}, ...(row.outcome === "delegated" ? share(row.delegated_nodes, row.nodes) : [make("span", { className: runs ? "faint" : "bad" }, row.outcome || row.status)])),
    make("td", {}, ...(row.outcome === "delegated" ? share(row.delegated_multiply_adds, row.multiply_adds) : [])),
    make("td", { className: "number" }, row.outcome === "delegated" ? row.delegate_kernels : ""),
    make("td", { className: "reason" }, ...reason(row, delegate?.options ?? [])),
  ];
  return make("tr", row.delegate === chosen ? { className: "current", "aria-current": "true" } : {}, ...cells);
}

/** @param {string} part @param {string} whole */
function share(part, whole) {
  const value = Number(whole) ? Number(part) / Number(whole) : 1;
  const bar = make("meter", { min: 0, max: 1, value, "aria-hidden": "true" });
  return [bar, make("span", {}, percent(Number(part), Number(whole))), make("small", {}, `${count(part)} of ${count(whole)}`)];
}

/** Return a share as the command line does it: 99.97 % is not 100 %. @param {number} part @param {number} whole */
export const percent = (part, whole) => `${whole ? Math.floor((part * 1000) / whole) / 10 : 100} %`;

/** @param {string | number} number */
export const count = (number) => Number(number).toLocaleString("en-US");

/** @param {Record<string, string>} row @param {import("./types.js").Option[]} options */
function reason({ message, hint }, options) {
  if (!message) return [];
  return hint ? [message, make("small", { className: "hint" }, withLabels(hint, options))] : [message];
}
