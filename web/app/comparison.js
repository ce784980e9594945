/** The comparison of two models or two targets: a verdict, and a table of the numbers. */

import { make } from "./dom.js";
import { count, percent } from "./overview.js";

/** Numbers of each side: title, key, and whether more or less of it is better. @type {[string, string, number][]} */
const COUNTS = [
  ["nodes", "nodes", 0],
  ["delegated nodes", "delegated_nodes", 0],
  ["nodes that are not delegated", "fallback_nodes", -1],
  ["partitions", "partitions", -1],
  ["kernels of the delegate", "delegate_kernels", -1],
];
/** @type {[string, string, number][]} */
const WORK = [
  ["multiply-adds", "multiply_adds", 0],
  ["delegated multiply-adds", "delegated_multiply_adds", 0],
];
const SHARES = [
  ["share of multiply-adds", "delegated_multiply_adds", "multiply_adds"],
  ["share of nodes", "delegated_nodes", "nodes"],
];

/**
 * @param {any} comparison the JSON of `compare` @param {string[]} titles the names of A and B
 * @param {[string, string, number][]} further further measures, declared in Python
 */
export function comparisonTable({ verdict, a, b }, titles, further) {
  const rows = [
    ...SHARES.filter(([, , whole]) => a.measures[whole] || b.measures[whole]).map(([title, part, whole]) => {
      const [one, two] = [a, b].map(({ measures }) => (measures[whole] ? measures[part] / measures[whole] : 0));
      return row(title, [a, b].map(({ measures }) => percent(measures[part], measures[whole])), "", two - one);
    }),
    ...[...COUNTS, ...further, ...WORK].map(([title, key, sign]) => numbers(title, a.measures[key], b.measures[key], sign)),
    numbers("bytes of the file", a.model.bytes, b.model.bytes, -1),
  ];
  const heads = ["", ...titles.map((title, index) => `${"AB"[index]}: ${title}`), "B - A"];
  const table = make(
    "table",
    { className: "compared" },
    make("thead", {}, make("tr", {}, ...heads.map((head, index) => make(index ? "th" : "td", index ? { scope: "col" } : {}, head)))),
    make("tbody", {}, ...rows),
  );
  return make(
    "div",
    {},
    make("p", { className: "headline", role: "status" }, verdict),
    make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Numbers of A and B" }, table),
  );
}

/** @param {string} title @param {number} a @param {number} b @param {number} sign */
function numbers(title, a, b, sign) {
  const step = a === b ? "" : `${b > a ? "+" : "-"}${count(Math.abs(b - a))}`;
  return row(title, [count(a), count(b)], step, sign * (b - a));
}

/** @param {string} title @param {string[]} values @param {string} step @param {number} gain positive if B is better */
function row(title, values, step, gain) {
  const better = gain > 0 ? 1 : gain < 0 ? 0 : -1;
  const cells = values.map((value, index) => make("td", { className: "number" }, index === better ? make("b", {}, value) : value));
  return make("tr", {}, make("th", { scope: "row" }, title), ...cells, make("td", { className: "number" }, step));
}
