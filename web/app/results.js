/** The JSON of diagnosis, fix and comparison as elements. */

import { commandLine, make } from "./dom.js";
import { count, percent } from "./overview.js";

/** @typedef {{codes: string, command: (more: string[]) => string}} Settings `codes` is the address of the page of codes, or "";
 *   `command` returns a `fix` of the model with more options */

const MOST_NODES = 40;
const NOT_LATENCY = "Multiply-adds and bytes are counts, not an estimate of latency.";

/** @param {number} number @param {string} noun */
const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** @param {(Node | string | null | false)[]} items Leave out what is null, false or empty. */
const list = (items) => make("ul", {}, ...items.flatMap((item) => (item ? [make("li", {}, item)] : [])));

/** Return what a model comes to on a target. @param {any} cost @param {string} [state] what happens to nodes, such as "selected" */
function costText(cost, state = "delegated") {
  const parts = [
    ...(["delegated", "none"].includes(cost.outcome) ? [] : [cost.outcome]),
    `${count(cost.delegated_nodes)} of ${counted(cost.nodes, "node")} ${state} (${percent(cost.delegated_nodes, cost.nodes)})`,
    counted(cost.partitions, "partition"),
    counted(cost.delegate_kernels, "kernel"),
    ...(cost.total_multiply_adds ? [`${percent(cost.multiply_adds, cost.total_multiply_adds)} of multiply-adds`] : []),
    `${counted(cost.border_bytes, "boundary byte")}`,
    ...(cost.wrong_results ? [`${counted(cost.wrong_results, "result")} wrong`] : []),
  ];
  return parts.join(", ");
}

/** @param {{subgraph: number, node: number}[]} nodes */
function nodesText(nodes) {
  const shown = nodes.slice(0, MOST_NODES).map(({ subgraph, node }) => (subgraph ? `${node} of subgraph ${subgraph}` : String(node)));
  return shown.join(", ") + (nodes.length > MOST_NODES ? ` and ${count(nodes.length - MOST_NODES)} more` : "");
}

/** @param {Record<string, number>} operators */
const operatorsText = (operators) => Object.entries(operators).map(([op, number]) => `${op} ${count(number)}`).join(", ");

/** @param {string[]} codes @param {string} page */
function codeLinks(codes, page) {
  return codes.flatMap((code, index) => [
    index ? ", " : "",
    page ? make("a", { href: `${page}#${code}`, target: "_blank", rel: "noopener" }, code) : code,
  ]);
}

/** @param {string} title @param {string[]} lines */
const logOf = (title, lines) => (lines.length ? [make("details", {}, make("summary", {}, title), make("pre", { tabIndex: 0 }, lines.join("\n")))] : []);

/** @param {string[]} texts */
const notes = (texts) => texts.map((text) => make("p", { className: "note" }, text));

/** @param {any[]} risks @param {Settings} settings */
function risksView(risks, settings) {
  const items = risks.map(({ code, op, node, certainty, message }) =>
    make("span", {}, ...codeLinks([code], settings.codes), `: ${node === null ? "" : `${op} ${count(node)} `}${certainty}: ${message}`),
  );
  return items.length ? [make("h3", {}, "Wrong numbers"), list(items)] : [];
}

/** @param {any} diagnosis the JSON of `diagnose` @param {Settings} settings */
export function diagnosisView(diagnosis, settings) {
  const { now, causes, fix, state } = diagnosis;
  const beyond = diagnosis.nodes_beyond_limit;
  const compiler = diagnosis.awaits_compiler;
  return make(
    "div",
    { className: "result" },
    make("p", { className: "headline" }, costText(now, state)),
    ...notes(diagnosis.warnings),
    ...(compiler ? [make("p", {}, `${compiler} must compile the model before the delegate takes nodes.`)] : []),
    ...(beyond ? [make("p", {}, `${counted(beyond, "accepted node")} stay on the CPU because of a limit on partitions.`)] : []),
    ...logOf("Lines in the log", diagnosis.log_lines),
    ...risksView(diagnosis.number_risks ?? [], settings),
    ...causes.flatMap((/** @type {any} */ cause, /** @type {number} */ index) => causeView(cause, index + 1, diagnosis, settings)),
    make("h3", {}, "With all causes fixed"),
    make("p", {}, costText(diagnosis.without_all, state)),
    ...(fix ? fixOffer(fix, settings, state) : []),
    ...(diagnosis.not_simulated ?? []).map((/** @type {string} */ text) => make("p", { className: "help" }, `Not simulated: ${text}`)),
    make("p", { className: "help" }, NOT_LATENCY),
  );
}

/** @param {any} cause @param {number} number @param {any} diagnosis @param {Settings} settings */
function causeView(cause, number, { multiply_adds: whole, state }, settings) {
  const share = whole ? `; ${percent(cause.multiply_adds, whole)} of multiply-adds` : "";
  const versions = [...new Set(cause.versions_without.map((/** @type {any} */ { version }) => version))];
  const follow = cause.following_nodes?.length;
  return [
    make("h3", {}, `${number}. ${cause.title}`),
    list([
      make("span", {}, `${cause.name} (`, ...codeLinks(cause.codes, settings.codes), ")"),
      `${cause.appears_later ? "would keep" : "keeps"} ${counted(cause.nodes.length, "node")} on the CPU: ${operatorsText(cause.operators)}${share}`,
      `nodes ${nodesText(cause.nodes)}`,
      follow && `${counted(follow, "further node")} without a reason of their own`,
      cause.found && `found: ${cause.found}`,
      cause.needed && `needed: ${cause.needed}`,
      versions.length > 0 && `version after the fix: ${versions.join(", ")}`,
      cause.alone && `if it is fixed: ${costText(cause.alone, state)}`,
      cause.needs?.length > 0 && `helps only together with ${cause.needs.join(", ")}`,
      cause.needs_instead.length > 0 && `or together with one of ${cause.needs_instead.join(", ")}`,
      make("b", {}, cause.suggestion.change),
      ...cause.alternatives.map(alternativeText),
      cause.fix && `or the pass ${cause.fix.pass} rewrites the file (${cause.fix.exactness}): ${costText(cause.fix.result, state)}`,
    ]),
    ...(cause.fix ? [commandLine(settings.command(["--pass", cause.fix.pass]))] : []),
  ];
}

/** @param {any} alternative */
function alternativeText({ change, unknown, helps, alone, with_others: others }) {
  if (unknown) return `${change} (${unknown})`;
  const result = alone ?? others;
  return `${change}${helps ? "" : " (brings nothing)"}${result ? `: ${alone ? "" : "with all other causes fixed, "}${costText(result)}` : ""}`;
}

/** @param {any} fix @param {Settings} settings @param {string | undefined} state */
function fixOffer({ passes, shapes, exactness, result, unknown }, settings, state) {
  const names = passes.map((/** @type {any} */ one) => one.name ?? one).join(", ");
  const sizes = shapes.map(shapeText);
  return [
    make("h3", {}, "What a rewrite of the file gives"),
    list([names && `passes ${names}${exactness ? ` (${exactness})` : ""}`, ...sizes, result ? costText(result, state) : unknown]),
    ...(sizes.length ? [] : [commandLine(settings.command([]))]),
  ];
}

/** @param {any} given */
const shapeText = ({ input, shape }) => `the shape ${shape.join(" x ")} for the input ${input}`;

/** @param {any} plan the JSON of `fix --plan` */
export function planView(plan) {
  const { targets, passes, with_shapes: shaped, not_kept: left } = plan;
  const costs = (/** @type {any[]} */ after) => after.map((cost, index) => costText(cost, targets[index].state));
  const isWhole = targets.every((/** @type {any} */ { before }) => before.delegated_nodes === before.nodes);
  const none = isWhole ? "Nothing to fix: all nodes are delegated" : "No tried pass improves the model";
  return make(
    "div",
    { className: "result" },
    make("p", { className: "headline" }, passes.length ? `${count(passes.length)} ${passes.length === 1 ? "pass" : "passes"} would improve the model` : none),
    ...targets.flatMap((/** @type {any} */ { before, after, state, warnings }) => [
      ...notes(warnings),
      list([`before: ${costText(before, state)}`, passes.length > 0 && `after: ${costText(after, state)}`]),
    ]),
    ...passes.flatMap((/** @type {any} */ pass, /** @type {number} */ index) => [
      make("h3", {}, `${index + 1}. ${pass.name} (${pass.exactness}), ${counted(pass.nodes, "node")}`),
      list([pass.holds_for, ...costs(pass.after)]),
    ]),
    ...(shaped ? [make("h3", {}, "With fixed sizes of the inputs"), list([...shaped.shapes.map(shapeText), ...costs(shaped.after)])] : []),
    ...(left.length ? [make("h3", {}, "Tried and not kept"), list(left.map((/** @type {any} */ { name, is_worse: isWorse }) => `${name}: ${isWorse ? "makes the result worse" : "brings nothing"}`))] : []),
    ...(plan.not_simulated ?? []).map((/** @type {string} */ text) => make("p", { className: "help" }, `Not simulated: ${text}`)),
    make("p", { className: "help" }, NOT_LATENCY),
  );
}

/** The lists of nodes in a comparison: the title, the key, and the side whose reasons explain the difference. @type {[string, string, "a" | "b"][]} */
const DIFFERENCES = [
  ["Delegated in A, on the CPU in B", "to_cpu", "b"],
  ["On the CPU in A, delegated in B", "to_delegate", "a"],
  ["Only in A", "only_in_a", "a"],
  ["Only in B", "only_in_b", "b"],
  ["On the CPU in both, for other reasons", "reasons_changed", "b"],
];

/** @param {any} comparison the JSON of `compare` @param {Settings} settings */
export function differencesView(comparison, settings) {
  const { a, b, input_changes: inputs } = comparison;
  const parts = DIFFERENCES.flatMap(([title, key, side]) => {
    const nodes = comparison[key];
    return nodes.length ? [make("h3", {}, `${title}: ${counted(nodes.length, "node")}`), list(groupsOf(nodes, side, settings))] : [];
  });
  const changed = inputs.map((/** @type {any} */ { name, old, new: now }) => `${name}: ${old} in A, ${now} in B`);
  return make(
    "div",
    { className: "result" },
    ...[a, b].flatMap(({ warnings, refusal }) => [...notes(warnings), ...(refusal ? notes([refusal.message]) : [])]),
    ...(changed.length ? [make("h3", {}, "Inputs"), list(changed)] : []),
    ...(parts.length ? parts : [make("p", {}, "Every node runs in the same place, for the same reason.")]),
    ...[a, b].flatMap(({ log_lines: lines }, index) => logOf(`Lines in the log of ${"AB"[index]}`, lines)),
  );
}

/** Group nodes of one operator with the same reasons. @param {any[]} nodes @param {"a" | "b"} side @param {Settings} settings */
function groupsOf(nodes, side, { codes }) {
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const node of nodes) {
    const key = JSON.stringify([node.op, (node[side]?.reasons ?? []).map((/** @type {any} */ { code, needed }) => [code, needed])]);
    groups.set(key, [...(groups.get(key) ?? []), node]);
  }
  return [...groups.values()].map((members) => {
    const numbers = nodesText(members.map((member) => ({ subgraph: member.subgraph, node: (member[side] ?? member.a ?? member.b).node })));
    const reasons = (members[0][side]?.reasons ?? []).map((/** @type {any} */ { code, message, hint }) => make("li", {}, `${message} (`, ...codeLinks([code], codes), ")", hint ? `: ${hint}` : ""));
    return make("span", {}, `${members[0].op}: ${counted(members.length, "node")} (${numbers})`, ...(reasons.length ? [make("ul", {}, ...reasons)] : []));
  });
}
