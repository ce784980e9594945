// The lists beside the drawing. They have everything that the drawing shows, as text.

const ROWS_SHOWN = 200;
const LINKS_SHOWN = 24;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

function tag(side, position) {
  const state = side.states[position];
  return make("span", { class: `tag ${STATES[state]}` }, `${side.place_word(position)}${state === LEFT ? ", although accepted" : ""}`);
}

function placeTag(side, partition) {
  return make("span", { class: `tag ${STATES[boxState(side, partition)]}` }, partition.delegated ? side.view.delegate : side.elsewhere);
}

function link(text, action) {
  return make("button", { type: "button", class: "link", onclick: action }, breakable(text));
}

// A code, which links to its page if the documentation has an address.
function codeLink(code) {
  const text = make("code", {}, code);
  if (!content.site) return text;
  return make("a", { href: `${content.site}codes.html#:~:text=${encodeURIComponent(code)}`, target: "_blank", rel: "noopener" }, text);
}

// A command, and a button that copies it.
function commandLine(command, page) {
  const copy = make("button", { type: "button", onclick: () => page.share.copy(command, "Copied the command.") }, "Copy");
  return make("p", { class: "command" }, make("code", {}, command), " ", copy);
}

function facts(pairs) {
  return make("dl", {}, ...pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

function table(headings, rows, caption) {
  const head = make("tr", {}, ...headings.map(([text, kind]) => make("th", { scope: "col", class: kind || "" }, text)));
  return make("div", { class: "scroll" }, make("table", {}, make("caption", { class: "hidden" }, caption), make("thead", {}, head),
    make("tbody", {}, ...rows)));
}

function cells(headings, values) {
  return make("tr", {}, ...values.map((value, number) => make("td", { class: headings[number][1] || "" }, value)));
}

// An entry of a table in two rows. The second row is for text that does not fit into a column.
function entry(headings, values, ...below) {
  const first = cells(headings, values);
  first.className = "first";
  return [first, make("tr", {}, make("td", {}), make("td", { colspan: headings.length - 1 }, ...below))];
}

function gainText(now, then) {
  const parts = [];
  if (now.outcome !== then.outcome) parts.push(`${now.outcome} → ${then.outcome}`);
  parts.push(`delegated ${formatted(now.delegated_nodes)} → ${formatted(then.delegated_nodes)} of ${formatted(then.nodes)}`);
  parts.push(`partitions ${formatted(now.partitions)} → ${formatted(then.partitions)}`);
  parts.push(...content.further.map((column) => `${column.title} ${measureText(column, now)} → ${measureText(column, then)}`));
  if (then.total_multiply_adds) {
    parts.push(`multiply-adds ${share(now.multiply_adds, now.total_multiply_adds)} → ${share(then.multiply_adds, then.total_multiply_adds)}`);
  }
  return parts.join(", ");
}

const positionsOfCauses = new Map();
function causePositions(side, cause) {
  if (!positionsOfCauses.has(side)) positionsOfCauses.set(side, new Map());
  const known = positionsOfCauses.get(side);
  if (!known.has(cause)) known.set(cause, findPositions(side, cause));
  return known.get(cause);
}

// Positions of the nodes that have a cause, without the nodes that its fix also frees.
function ownPositions(side, cause) {
  return findPositions(side, { ...cause, followers: [] });
}

function findPositions(side, cause) {
  return new Set([...cause.nodes, ...cause.followers].filter(([subgraph]) => subgraph === side.graph.index)
    .map(([, node]) => side.positions.get(node)).filter((position) => position !== undefined));
}

const sameCost = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function needsText(cause, causes, now) {
  const { needs, needs_instead: instead, alone } = cause;
  if (needs === null) {
    return `Fixing it does not help: multiply-adds, kernels and bytes do not improve${causes.length > 1 ? ", even if the other causes are fixed" : ""}.`;
  }
  if (!needs.length) return alone && sameCost(alone, now) ? "Fixing it alone does not help: other causes must be fixed too." : "";
  const numbers = [...needs, ...instead].sort((one, other) => one - other).map((number) => number + 1);
  const own = causes.indexOf(cause);
  if (needs.every((number) => causes[number]?.needs?.includes(own))) {
    return `Helps only together with cause${needs.length > 1 ? "s" : ""} ${needs.map((number) => number + 1).join(", ")}.`;
  }
  if (needs.length > 1) return `Fixing it alone does not help: causes ${numbers.join(", ")} must be fixed too. Other sets of several causes are not simulated.`;
  return `Fixing it alone does not help: cause ${numbers.join(" or ")} must be fixed too.`;
}

function marksText(side, cause) {
  const own = ownPositions(side, cause).size;
  const freed = causePositions(side, cause).size - own;
  return `${counted(own, "node")} marked${freed ? `, and ${formatted(freed)} that the fix also frees, faintly` : ""}`;
}

function causesPanel(side, page) {
  const { causes, causes_left_out: reason, now } = side.view;
  const heading = make("h3", {}, `Why nodes stay ${side.view.words.left}, ${side.view.time ? "longest measured time" : "biggest gain"} first`);
  if (causes === null) return [make("p", {}, reason ? `Causes not simulated: ${reason}` : "The causes were not computed.")];
  if (!causes.length) return [make("p", {}, `Nothing in the model keeps nodes ${side.view.words.left}.`)];
  const entries = causes.map((cause, number) => {
    const pressed = page.cause === number;
    const needs = needsText(cause, causes, now);
    const without = cause.without_time ? `, ${counted(cause.without_time, "node")} without a time` : "";
    const time = cause.ms === undefined ? "" : `; ${millisecondsText(cause.ms)} measured${without}`;
    const work = now.total_multiply_adds ? `; ${share(cause.multiply_adds, now.total_multiply_adds)} of multiply-adds` : "";
    return make("li", {},
      make("button", { type: "button", "aria-pressed": String(pressed), onclick: () => page.chooseCause(pressed ? undefined : number) },
        `${number + 1}. ${cause.title}`),
      make("p", {}, breakable(`${cause.appears_later ? "After another cause is fixed: " : ""}${counted(cause.nodes.length, "node")}: ${operatorList(cause.operators)}${work}${time}`)),
      cause.followers.length ? make("p", {}, `Fixing it also frees ${counted(cause.followers.length, "node")} that ${cause.followers.length === 1 ? "stays" : "stay"} ${side.view.words.left} only because of ${cause.nodes.length === 1 ? "this node" : "these nodes"}.`) : null,
      pressed ? make("p", { class: "marked" }, `${marksText(side, cause)}. `,
        link("Show these nodes in the drawing", () => page.showDrawing(side))) : null,
      gainParts(cause, number, now, needs),
      needs ? make("p", {}, needs) : null,
      cause.found && cause.found !== cause.title ? make("p", {}, `Found: ${cause.found}; needed: ${cause.needed}`) : null,
      changeParts(cause, page),
      make("p", {}, ...cause.codes.flatMap((code) => [codeLink(code), " "])));
  });
  return [heading, make("ol", { class: "causes" }, ...entries), ...fixParts("Rewrite the file without a new conversion: ", side.view.fix, page)];
}

// One gain: of this cause alone, otherwise together with the earlier causes.
function gainParts(cause, number, now, needs) {
  if (cause.alone && !needs) {
    return make("p", { class: "gain" }, `${cause.assumes_accepted ? "If the delegate accepted these nodes" : "If it is fixed"}: ${gainText(now, cause.alone)}`);
  }
  const isGain = number && cause.together && !sameCost(cause.together, now);
  return isGain ? make("p", { class: "gain" }, `With this and earlier causes fixed: ${gainText(now, cause.together)}`) : null;
}

// The ways to mend a cause: the command that rewrites the file, and the change of the conversion.
function changeParts({ fix, suggestion, change }, page) {
  const conversion = make("span", {}, breakable(`${suggestion}: ${change}`));
  if (!fix) return make("p", { class: "change" }, conversion);
  return make("ul", { class: "change" }, make("li", {}, breakable(fix.text), commandLine(fix.command, page)), make("li", {}, conversion));
}

// A rewrite of the file, with its result, and the command that makes it.
function fixParts(introduction, fix, page) {
  return fix ? [make("p", { class: "change" }, breakable(`${introduction}${fix.text}`)), commandLine(fix.command, page)] : [];
}

function tensorRows(side, headings, tensors, label, position) {
  return tensors.flatMap((tensor, number) => {
    if (tensor < 0) return cells(headings, [`${label} ${number}`, "omitted", ""]);
    const { name, type, shape, bytes } = side.graph.tensors;
    const others = label === "input" ? [side.writers.get(tensor)].filter((writer) => writer !== undefined) : side.readers.get(tensor) || [];
    const where = side.constants.has(tensor) ? ["constant"] : others.slice(0, 6).flatMap((other) => {
      const crosses = side.data.partition[other] !== side.data.partition[position] ? " (crosses a boundary)" : "";
      return [link(`${label === "input" ? "from" : "to"} ${side.graph.nodes[other]} ${side.op(other)}`, () => page.select(side, other)), `${crosses} `];
    });
    return entry(headings, [`${label} ${number}`, `${side.graph.types[type[tensor]]}[${shape[tensor].join(",")}]`, bytesText(bytes[tensor])],
      breakable(name[tensor]), " ", make("small", {}, ...where));
  });
}

function nodePanel(side, page) {
  const { position, partition } = page.selectedIn(side);
  if (position === undefined) {
    return partition === undefined ? [make("p", {}, "Choose a node in the drawing, the strip or the lists.")] : partitionPanel(side, partition, page);
  }
  const node = side.graph.nodes[position];
  const headings = [["operand", "label"], ["type", ""], ["bytes", "number"]];
  const changes = (side.view.causes || []).filter((cause) => causePositions(side, cause).has(position)).map((cause) => cause.change);
  // A cause says what to change, with the hints of its reasons.
  const hintOf = ({ hint }) => (hint && !changes.length ? make("p", { class: "change" }, breakable(hint)) : null);
  const reasons = side.reasons(position).map((reason) => make("li", {}, make("p", {}, codeLink(reason.code)), make("p", {}, reason.message),
    facts([["found", reason.found], ["needed", reason.needed]]), hintOf(reason)));
  const other = page.besides(side);
  const partner = other && side.partner(position, other);
  const elsewhere = other && (partner === undefined ? "no matching node"
    : `node ${other.graph.nodes[partner]} ${other.op(partner)}: ${other.state_word(partner)}`);
  return [
    make("h3", {}, `Node ${node}: ${side.op(position)} `, tag(side, position)),
    make("p", {}, breakable(side.name(position))),
    make("p", { class: "marked" }, link("Show this node in the drawing", () => page.showDrawing(side))),
    facts([["version", String(side.graph.version[position])],
      ["partition", side.data.partitioned ? link(`${side.data.partition[position]}`, () => page.selectPartition(side, side.data.partition[position])) : ""],
      ["measured time", millisecondsText(side.data.ms?.[position])],
      ["position in the plan", `${formatted(side.place.get(position) + 1)} of ${formatted(side.size)}`],
      [other ? other.label : "", elsewhere || ""]]),
    reasons.length ? make("h3", {}, `Why this node stays ${side.view.words.left}`) : null,
    reasons.length ? make("ul", { class: "reasons" }, ...reasons) : null,
    changes.length ? make("h3", {}, "What to change") : null,
    ...[...new Set(changes)].map((change) => make("p", { class: "change" }, breakable(change))),
    make("h3", {}, "Tensors"),
    table(headings, [...tensorRows(side, headings, side.graph.inputs[position], "input", position),
      ...tensorRows(side, headings, side.graph.outputs[position], "output", position)], "Tensors of the node"),
  ];
}

function partitionPanel(side, number, page) {
  const partition = side.data.partitions[number];
  const name = (tensor) => side.graph.tensors.name[tensor];
  const list = (tensors) => make("ul", {}, ...tensors.slice(0, 30).map((tensor) => make("li", {},
    breakable(`${name(tensor)}: ${bytesText(side.graph.tensors.bytes[tensor])}`))), tensors.length > 30 ? make("li", {}, `and ${formatted(tensors.length - 30)} more`) : null);
  return [
    make("h3", {}, `Partition ${number} on ${partition.delegated ? side.view.delegate : side.view.words.elsewhere}`),
    facts([["nodes", counted(partition.nodes.length, "node")],
      ["measured time", millisecondsText(side.data.partition_ms?.[number])],
      ["operators", breakable(operatorList(partition.operators))],
      ["first node", link(`${side.graph.nodes[partition.nodes[0]]} ${side.op(partition.nodes[0])}`, () => page.select(side, partition.nodes[0]))]]),
    make("p", {}, link("Show its nodes in the drawing", () => page.showInside(side, number))),
    make("h3", {}, `Inputs: ${bytesText(partition.bytes[0])}`), list(partition.inputs),
    make("h3", {}, `Outputs: ${bytesText(partition.bytes[1])}`), list(partition.outputs),
  ];
}

function boundariesPanel(side, page) {
  if (side.view.micro) return [make("p", {}, "TensorFlow Lite Micro has no delegates, so the graph has no boundaries.")];
  if (!side.data.partitioned) return [make("p", {}, "No node is delegated, so the graph has no boundaries.")];
  const timed = Boolean(side.data.partition_ms);
  const headings = [["no.", "number"], ["on", ""], ["nodes", "number"], ["in", "number"], ["out", "number"], ...(timed ? [["time", "number"]] : [])];
  const inOrder = side.data.partitions.map((_, number) => number);
  const shown = (timed ? sortedByTime(inOrder, (number) => side.data.partition_ms[number], page) : inOrder).slice(0, page.rows);
  const rows = shown.flatMap((number) => {
    const partition = side.data.partitions[number];
    const operators = operatorList(partition.operators.slice(0, 4)) + (partition.operators.length > 4 ? ",\u00a0…" : "");
    return entry(headings, [link(String(number), () => page.selectPartition(side, number)), placeTag(side, partition),
      formatted(partition.nodes.length), bytesText(partition.bytes[0]), bytesText(partition.bytes[1]),
      ...(timed ? [millisecondsText(side.data.partition_ms[number])] : [])],
    make("small", {}, breakable(operators)));
  });
  return [make("h3", {}, `${counted(side.data.partitions.length, "partition")} ${timed && page.byTime ? "slowest first" : "in execution order"}, and the data that crosses their boundaries`),
    timed ? byTimeButton(page) : null, table(headings, rows, "Partitions"), moreButton(shown.length, side.data.partitions.length, page)];
}

function moreButton(shown, all, page) {
  return shown >= all ? null : make("p", {}, make("button", { type: "button", onclick: () => page.showMore() }, `Show more (${formatted(all - shown)} left)`));
}

function nodesPanel(side, page) {
  const timed = Boolean(side.data.ms);
  const headings = [["node", "number"], ["operator", ""], ["partition", "number"], ...(timed ? [["time", "number"]] : [])];
  const marks = page.marksOf(side);
  const inOrder = marks ? side.order.filter((position) => marks.has(position)) : side.order;
  const chosen = timed ? sortedByTime(inOrder, (position) => side.data.ms[position], page) : inOrder;
  const shown = chosen.slice(0, page.rows);
  const rows = shown.flatMap((position) => entry(headings, [
    link(String(side.graph.nodes[position]), () => page.select(side, position)), breakable(side.op(position)),
    side.data.partitioned ? String(side.data.partition[position]) : "", ...(timed ? [millisecondsText(side.data.ms[position])] : [])],
  tag(side, position), " ", make("small", {}, breakable(side.reasons(position).map((reason) => reason.code).join(", ")))));
  const order = timed && page.byTime ? "slowest first" : "in execution order";
  const what = marks ? `${counted(chosen.length, "node")} marked, ${order}` : `All nodes, ${order}`;
  return [make("h3", {}, what), timed ? byTimeButton(page) : null, table(headings, rows, "Nodes"), moreButton(shown.length, chosen.length, page)];
}

function differencesPanel(side, other, page) {
  const here = side.differences(other);
  const there = other.differences(side);
  // Nodes of one operator with the same codes share an entry. An empty group has no heading.
  const group = (title, of, positions) => {
    const groups = new Map();
    for (const position of positions) {
      const codes = [...new Set(of.reasons(position).map((reason) => reason.code))].join(", ");
      const key = `${of.op(position)} ${codes}`;
      if (!groups.has(key)) groups.set(key, { op: of.op(position), codes, positions: [] });
      groups.get(key).positions.push(position);
    }
    const entries = [...groups.values()].sort((one, two) => two.positions.length - one.positions.length).map(({ op, codes, positions: own }) => {
      const shown = own.slice(0, LINKS_SHOWN);
      const more = own.length - shown.length;
      return make("li", {}, breakable(`${op}, ${counted(own.length, "node")}: `),
        ...shown.flatMap((position) => [link(String(of.graph.nodes[position]), () => page.select(of, position)), " "]),
        more ? `and ${formatted(more)} more ` : "", codes ? make("small", {}, breakable(codes)) : "");
    });
    return entries.length ? [make("h3", {}, `${title}: ${counted(positions.length, "node")}`), make("ul", {}, ...entries)] : [];
  };
  const delegated = here.moved.filter((position) => side.states[position] === DELEGATED);
  const cpu = here.moved.filter((position) => side.states[position] !== DELEGATED);
  const [a, b] = [side.view.words, other.view.words];
  const parts = [...group(`${capital(a.taken)} in A, ${b.left} in B`, side, delegated), ...group(`${capital(a.left)} in A, ${b.taken} in B`, side, cpu),
    ...group("Only in A", side, here.alone), ...group("Only in B", other, there.alone)];
  return [make("p", {}, breakable(page.lettered(side))), make("p", {}, breakable(page.lettered(other))),
    make("p", {}, parts.length ? make("small", {}, "The drawing outlines these nodes in red.") : "Every node runs in the same place on both sides."), ...parts];
}
