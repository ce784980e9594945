// The content as objects: one Side for each view and subgraph. A Side also has data that is derived from the content.

// The last state is for nodes that the delegate takes in a run that fails.
const [DELEGATED, REFUSED, LEFT, TAKEN] = [0, 1, 2, 3];
const STATES = [...content.states, "taken"];
// The meaning of each state, with the words of a view.
const stateWords = ({ actor, taken, left }) => [taken, `${left}, refused`, `${left}, although accepted`, `taken by the ${actor}, but the run fails`];

const byId = (id) => document.getElementById(id);
const numbers = new Intl.NumberFormat("en-US");
const formatted = (number) => numbers.format(number);
const counted = (number, noun) => `${formatted(number)} ${noun}${number === 1 ? "" : "s"}`;
const share = (part, whole) => {
  if (part > 0 && part * 1000 < whole) return "<\u00a00.1\u00a0%";
  return whole ? `${Math.floor((part * 1000) / whole) / 10}\u00a0%` : "0\u00a0%";
};

function bytesText(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    unit += 1;
  }
  return `${unit ? bytes.toFixed(bytes < 10 ? 1 : 0) : formatted(bytes)} ${units[unit]}`;
}

// Makes an element. Strings are always set as text, so no name from a model becomes markup.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const LONG_WORD = 24;

// Returns text in which long words may break after the separators of names. There is no break before a percent sign.
function breakable(text) {
  const words = text.replaceAll(" %", "\u00a0%").split(/(?= )/);
  const parts = words.flatMap((word) => (word.length > LONG_WORD ? word.split(/(?<=[_/;:])(?=\w)|(?<=\.)(?=[a-z])/i) : [word]));
  return make("span", {}, ...parts.flatMap((part) => [make("wbr"), part]).slice(1));
}

function operatorList(operators) {
  return operators.map(([op, count]) => `${op}\u00a0${formatted(count)}`).join(", ");
}

// The state of the first node of a partition.
function boxState(side, partition) {
  if (partition.delegated) return side.fails ? TAKEN : DELEGATED;
  return side.states[partition.nodes[0]] === LEFT ? LEFT : REFUSED;
}

function operatorsText(partition) {
  partition.text ??= operatorList(partition.operators).slice(0, 120);
  return partition.text;
}

class Side {
  constructor(number, subgraph) {
    this.number = number;
    this.view = content.views[number];
    this.model = content.models[this.view.model];
    this.subgraph = subgraph;
    this.data = this.view.subgraphs[subgraph];
    this.graph = content.graphs[this.data.graph];
    this.size = this.graph.nodes.length;
    this.fails = this.view.fails;
    this.states = this.fails ? this.data.states.map((state) => (state === DELEGATED ? TAKEN : state)) : this.data.states;
    this.positions = new Map(this.graph.nodes.map((node, position) => [node, position]));
    this.order = this.data.partitions.flatMap((partition) => partition.nodes);
    this.place = new Map(this.order.map((position, place) => [position, place]));
    this.constants = new Set(this.graph.tensors.constant);
    this.writers = new Map();
    this.readers = new Map();
    for (let position = 0; position < this.size; position += 1) {
      for (const tensor of this.graph.outputs[position]) if (tensor >= 0) this.writers.set(tensor, position);
      for (const tensor of this.graph.inputs[position]) {
        if (tensor < 0) continue;
        if (!this.readers.has(tensor)) this.readers.set(tensor, []);
        this.readers.get(tensor).push(position);
      }
    }
    this.small = new Set(this.data.small);
    this.edges = [];
    for (let position = 0; position < this.size; position += 1) {
      for (const source of this.sources(position)) this.edges.push([source, position]);
    }
    this.boundaries = this.boundariesBetween();
  }

  get title() {
    const { model, delegate, runtime, options } = this.view;
    const same = content.views.filter((other) => other.model === model && other.delegate === delegate && other.runtime === runtime);
    const keys = [...new Set(same.flatMap((other) => Object.keys(other.options)))];
    // Options with different values distinguish the targets.
    const differing = keys.filter((key) => same.some((other) => other.options[key] !== options[key]));
    return `${delegate} on ${runtime}${differing.length ? ` (${differing.map((key) => `${key}=${options[key] ?? "-"}`).join(", ")})` : ""}`;
  }

  get label() {
    return `${this.model.name}: ${this.title}`;
  }

  op(position) {
    return this.graph.ops[this.graph.op[position]];
  }

  name(position) {
    const output = this.graph.outputs[position].find((tensor) => tensor >= 0);
    return output === undefined ? "" : this.graph.tensors.name[output];
  }

  reasons(position) {
    return (this.data.reasons[position] || []).map((number) => this.view.reasons[number]);
  }

  // Where nodes are that are not delegated, without an article.
  get elsewhere() {
    return this.view.words.elsewhere.replace(/^the /, "");
  }

  state_word(position) {
    return stateWords(this.view.words)[this.states[position]];
  }

  place_word(position) {
    return [DELEGATED, TAKEN].includes(this.states[position]) ? this.view.delegate : this.elsewhere;
  }

  sources(position) {
    const found = new Set(this.graph.inputs[position].map((tensor) => this.writers.get(tensor)));
    found.delete(undefined);
    found.delete(position);
    return [...found];
  }

  targets(position) {
    return [...new Set(this.graph.outputs[position].flatMap((tensor) => this.readers.get(tensor) || []))];
  }

  // The tensors that cross from one partition to another, and their bytes.
  boundariesBetween() {
    const found = new Map();
    this.data.partitions.forEach((partition, number) => {
      for (const tensor of partition.inputs) {
        const writer = this.writers.get(tensor);
        if (writer === undefined || this.data.partition[writer] === number) continue;
        const key = this.data.partition[writer] * this.data.partitions.length + number;
        const boundary = found.get(key) || { from: this.data.partition[writer], to: number, bytes: 0, tensors: [] };
        boundary.bytes += this.graph.tensors.bytes[tensor];
        boundary.tensors.push(tensor);
        found.set(key, boundary);
      }
    });
    return [...found.values()];
  }

  // The matching node of another side, or undefined.
  partner(position, other) {
    if (other.data.graph === this.data.graph) return position;
    const node = this.graph.nodes[position];
    const first = this.view.model === 0 ? node : matchTable(this.view.model, this.graph.index).toFirst.get(node);
    if (first === undefined || other.graph.index !== this.graph.index) return undefined;
    const found = other.view.model === 0 ? first : matchTable(other.view.model, this.graph.index).fromFirst.get(first);
    return other.positions.get(found);
  }

  // Positions of nodes that run in another place on the other side, or that only this side has.
  differences(other) {
    const [moved, alone] = [[], []];
    for (let position = 0; position < this.size; position += 1) {
      const partner = this.partner(position, other);
      if (partner === undefined) alone.push(position);
      else if ((this.states[position] === DELEGATED) !== (other.states[partner] === DELEGATED)) moved.push(position);
    }
    return { moved, alone };
  }
}

const matchTables = new Map();
function matchTable(model, subgraph) {
  const key = `${model}:${subgraph}`;
  if (!matchTables.has(key)) {
    const pairs = (content.matches[model] || [])[subgraph] || [];
    matchTables.set(key, { toFirst: new Map(pairs), fromFirst: new Map(pairs.map(([own, first]) => [first, own])) });
  }
  return matchTables.get(key);
}

const sides = new Map();
function sideOf(view, subgraph) {
  const most = content.views[view].subgraphs.length - 1;
  const key = `${view}:${Math.min(subgraph, most)}`;
  if (!sides.has(key)) sides.set(key, new Side(view, Math.min(subgraph, most)));
  return sides.get(key);
}
