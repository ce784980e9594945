/** The results for one target: report, diagnosis, plan of a fix, comparison, and files to download. */

import { ANDROID, asTyped, targetArguments, withLabels } from "./commands.js";
import { comparisonTable } from "./comparison.js";
import { byId, commandLine as copiedLine, download, make } from "./dom.js";
import { diagnosisView, differencesView, planView } from "./results.js";

/** @typedef {<T>(what: string, work: () => Promise<T>) => Promise<T | undefined>} Busy */
/** @typedef {{engine: import("./engine.js").Engine, busy: Busy, form: import("./types.js").Form, files: import("./types.js").Files,
 *   target: () => import("./types.js").Target}} Context */

const NAMES = ["report", "diagnose", "fix", "compare", "download"];
const NOT_FOR_SOCS = "This is for one delegate. Choose a delegate as the target.";
const CHOOSE = "Choose a target in the table, or press Simulate.";

/** Files to download: title, command, ending, type, and arguments. @type {[string, string, string, string, string[]][]} */
const DOWNLOADS = [
  ["Report page (HTML)", "report", "html", "text/html", []],
  ["Analysis with every node (JSON)", "analyze", "json", "application/json", ["--format", "json"]],
  ["Findings for code scanning (SARIF)", "analyze", "sarif", "application/sarif+json", ["--format", "sarif"]],
  ["Diagnosis (JSON)", "diagnose", "diagnosis.json", "application/json", ["--format", "json"]],
];

export class Panels {
  #context;
  #shown = "report";
  /** @type {import("./types.js").Model | undefined} */
  #model;
  /** @type {import("./types.js").Model[]} */
  #models = [];
  /** What commands answered, by the command. @type {Map<string, any>} */
  #answers = new Map();
  #other = "";
  #isSwapped = false;
  #isChosen = false;

  /** @param {Context} context */
  constructor(context) {
    this.#context = context;
    for (const [index, name] of NAMES.entries()) {
      const tab = byId(`tab-${name}`);
      tab.addEventListener("click", () => this.run(name));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step) return;
        const next = NAMES[(index + step + NAMES.length) % NAMES.length];
        byId(`tab-${next}`).focus(); // Enter shows the results, because they may take seconds
      });
    }
    this.#mark("report");
  }

  /** @param {import("./types.js").Model} model @param {import("./types.js").Model[]} models */
  setModels(model, models) {
    const before = this.#model;
    if (before && before !== model && models.includes(before) && !this.#other.startsWith("delegate ")) this.#other = `model ${before.path}`;
    this.#model = model;
    this.#models = models;
    if (!this.#isChosen) byId("panel").replaceChildren(make("p", { className: "help" }, CHOOSE));
  }

  /** Forget all answers, and show no result until one is asked for. */
  forget() {
    this.#answers.clear();
    this.#other = "";
    this.#isSwapped = false;
    this.#isChosen = false;
    byId("panel").replaceChildren();
  }

  /** Show the result of the open tab again, if a result was asked for. */
  refresh() {
    if (this.#isChosen) this.run();
  }

  /** @param {string} name */
  #mark(name) {
    for (const other of NAMES) {
      byId(`tab-${other}`).setAttribute("aria-selected", String(other === name));
      byId(`tab-${other}`).tabIndex = other === name ? 0 : -1;
    }
    byId("panel").setAttribute("aria-labelledby", `tab-${name}`);
  }

  /** Show a result of the current target. @param {string} [name] */
  async run(name = this.#shown) {
    this.#shown = name;
    this.#mark(name);
    this.#isChosen = true;
    const model = this.#model;
    if (!model) return;
    const panel = make("div", {});
    byId("panel").replaceChildren(panel);
    const target = this.#context.target();
    const given = targetArguments(target, this.#context.form);
    if (target.delegate === "soc" || model.isWhole) await this.#showAnalysis(panel, model, given, name);
    else if (name === "report") await this.#showReport(panel, [model.path], given, "report.html");
    else if (name === "diagnose") await this.#showData(panel, ["diagnose", model.path, ...given], "Diagnosing", (data) => diagnosisView(data, this.#settings(model, given)));
    else if (name === "fix") await this.#showFix(panel, model, given);
    else if (name === "compare") this.#showCompare(panel, model, given);
    else this.#showDownloads(panel, model, given, DOWNLOADS);
  }

  /** @param {HTMLElement} panel @param {import("./types.js").Model} model @param {string[]} given @param {string} name */
  async #showAnalysis(panel, model, given, name) {
    const offered = DOWNLOADS.filter(([, command]) => command === "analyze");
    if (name === "report") await this.#showPrinted(panel, ["analyze", model.path, ...given]);
    else if (name === "download") this.#showDownloads(panel, model, given, offered);
    else panel.append(make("p", {}, NOT_FOR_SOCS));
  }

  /**
   * Run a command, or return what it answered before. Meanwhile, the panel says what it waits for.
   * @param {HTMLElement} panel @param {string[]} command @param {string} what @param {string} [file] a file that the command writes
   * @returns {Promise<import("./types.js").Answer | undefined>}
   */
  async #ask(panel, command, what, file) {
    const key = JSON.stringify(command);
    const known = this.#answers.get(key);
    if (known) return known;
    const { busy, engine } = this.#context;
    const whole = file ? [...command, "--output", `/out/${file}`] : command;
    const waiting = make("p", { className: "help" }, `${what} ${this.#model?.name} ...`);
    panel.append(waiting);
    const found = await busy(`${what} ${this.#model?.name}`, () => engine.run(whole, file));
    waiting.remove();
    if (found) {
      this.#answers.set(key, found);
    } else {
      const again = make("button", { type: "button" }, "Start again");
      again.addEventListener("click", () => this.run());
      panel.append(make("p", { className: "buttons" }, "There is no result, because the simulation was ended.", again));
    }
    return found;
  }

  /** Say what a command printed as an error or a note. @param {HTMLElement} panel @param {string} text @param {boolean} isBad */
  #note(panel, text, isBad) {
    const { form, target } = this.#context;
    const options = form.delegates.find(({ name }) => name === target().delegate)?.options ?? [];
    if (text) panel.append(make("p", { className: isBad ? "bad" : "note" }, withLabels(text, options)));
  }

  /** @param {import("./types.js").Model} model @param {string[]} given */
  #settings(model, given) {
    const command = (/** @type {string[]} */ more) => asTyped(["fix", model.path, ...given, ...more, "-o", "fixed.tflite"]);
    return { codes: this.#context.files.codes, command };
  }

  /** Show what a command prints, for the answers that have no view. @param {HTMLElement} panel @param {string[]} command */
  async #showPrinted(panel, command) {
    const found = await this.#ask(panel, command, "Simulating");
    if (!found) return;
    panel.append(commandLine(command));
    this.#note(panel, found.error, found.exit > 1);
    if (found.output) panel.append(make("pre", { tabIndex: 0, className: "printed" }, found.output));
  }

  /**
   * Show the JSON of a command with a view; return whether there is a result.
   * @param {HTMLElement} panel @param {string[]} command @param {string} what @param {(data: any) => HTMLElement} view
   */
  async #showData(panel, command, what, view) {
    const found = await this.#ask(panel, [...command, "--format", "json"], what);
    if (!found) return false;
    const { output, error, exit, needs } = found;
    panel.append(commandLine(command));
    this.#note(panel, error, exit > 1);
    if (needs && exit <= 1 && !this.#context.files.numpy) {
      panel.append(make("p", { className: "note" }, "This page has no numpy. So it tried only those passes of fix that need no numpy. The command above tries all passes."));
    }
    if (exit <= 1) panel.append(view(JSON.parse(output)));
    return exit <= 1;
  }

  /** @param {HTMLElement} panel @param {string[]} paths @param {string[]} given @param {string} file */
  async #showReport(panel, paths, given, file) {
    const command = ["report", ...paths, ...given];
    const found = await this.#ask(panel, command, "Making the report of", file);
    if (!found) return;
    const line = commandLine([...command, "-o", file]);
    this.#note(panel, found.error, !found.content);
    if (!found.content) {
      panel.append(line);
      return;
    }
    // The sandbox gives the report an origin of its own, and the policies of this page and of the report allow it no request.
    const frame = make("iframe", { title: "Report", srcdoc: new TextDecoder().decode(found.content) });
    frame.setAttribute("sandbox", "allow-scripts allow-downloads");
    frame.setAttribute("allow", "clipboard-write");
    const full = make("button", { type: "button" }, "Full screen");
    full.addEventListener("click", () => frame.requestFullscreen());
    panel.append(make("div", { className: "bar" }, line, full), frame);
  }

  /** @param {HTMLElement} panel @param {import("./types.js").Model} model @param {string[]} given */
  async #showFix(panel, model, given) {
    if (!(await this.#showData(panel, ["fix", model.path, "--plan", ...given], "Looking for fixes of", planView))) return;
    panel.append(
      make("p", { className: "note" }, "This is the plan only. A fix is proved by running the model before and after, and the runtime is not in the browser. This command writes the model and proves that its outputs are the same:"),
      copiedLine(this.#settings(model, given).command([])),
    );
  }

  /** @param {HTMLElement} panel @param {import("./types.js").Model} model @param {string[]} given */
  #showCompare(panel, model, given) {
    const { form } = this.#context;
    const models = this.#models.filter((other) => other !== model && !other.isWhole);
    const delegates = form.delegates.map(({ name }) => name).filter((name) => name !== given[1]);
    const options = [
      make("optgroup", { label: "Another model, same target" }, ...models.map((other) => make("option", { value: `model ${other.path}` }, other.name))),
      make("optgroup", { label: "Same model, another target" }, ...delegates.map((name) => make("option", { value: `delegate ${name}` }, name))),
    ];
    if (!models.length) options.shift();
    const other = make("select", { id: "other" }, make("option", { value: "" }, "choose a model or a target"), ...options);
    const swap = make("button", { type: "button" }, "Swap A and B");
    const result = make("div", {});
    const show = () => {
      this.#other = other.value;
      const shown = make("div", {});
      result.replaceChildren(shown);
      swap.disabled = !other.value;
      if (other.value) this.#showCompared(shown, model, other.value, given);
    };
    other.addEventListener("change", show);
    swap.addEventListener("click", () => {
      this.#isSwapped = !this.#isSwapped;
      show();
    });
    panel.append(
      make("div", { className: "controls" }, make("label", {}, "Compare with ", other), swap),
      ...(models.length ? [] : [make("p", { className: "help" }, "To compare two models, such as before and after a change, drop the second model on this page. A is the model that you opened first.")]),
      result,
    );
    if (this.#other && [...other.options].some(({ value }) => value === this.#other)) other.value = this.#other;
    else if (models.length) other.value = `model ${models[0].path}`;
    show();
  }

  /**
   * Compare two models or two targets. A is the file that came first, or the target in the form.
   * @param {HTMLElement} panel @param {import("./types.js").Model} model @param {string} chosen @param {string[]} given
   */
  async #showCompared(panel, model, chosen, given) {
    const [kind, value] = chosen.split(/ (.*)/s);
    const name = (/** @type {string} */ path) => this.#models.find((one) => one.path === path)?.name ?? path;
    let paths = [model.path];
    let delegates = [given[1], value];
    if (kind === "model") {
      const order = this.#models.map(({ path }) => path);
      paths = [model.path, value].sort((a, b) => order.indexOf(a) - order.indexOf(b));
      if (this.#isSwapped) paths.reverse();
    } else if (this.#isSwapped) {
      delegates.reverse();
    }
    const all = kind === "model" ? given : [...delegates.flatMap((one) => ["--delegate", one]), ...given.slice(2)];
    const command = ["compare", ...paths, ...all];
    const titles = kind === "model" ? paths.map(name) : delegates;
    const view = (/** @type {any} */ data) => make(
      "div",
      {},
      comparisonTable(data, titles, this.#context.form.further),
      differencesView(data, this.#settings(model, given)),
    );
    if (await this.#showData(panel, command, "Comparing", view)) await this.#showReport(panel, paths, all, "compared.html");
  }

  /** @param {HTMLElement} panel @param {import("./types.js").Model} model @param {string[]} given @param {typeof DOWNLOADS} offered */
  #showDownloads(panel, model, given, offered) {
    const stem = fileStem(model, this.#context.target(), given);
    const entries = offered.map(([title, command, ending, type, format]) => {
      const button = make("button", { type: "button" }, title);
      const state = make("span", { className: "state", role: "status" });
      const whole = [command, model.path, ...given, ...format];
      const file = `${stem}.${ending}`;
      button.addEventListener("click", async () => {
        button.disabled = true;
        const found = await this.#ask(state, whole, "Writing a file for", file);
        button.disabled = false;
        if (found && !found.content) this.#note(state, found.error, true);
        if (found?.content) download(file, found.content, type);
      });
      return make("li", {}, button, state, commandLine([...whole, "-o", file]));
    });
    panel.append(make("ul", { className: "downloads" }, ...entries));
  }
}

/** @param {string[]} command */
const commandLine = (command) => copiedLine(asTyped(command));

/**
 * Return the start of the name of a file with results: the model, the target and its options.
 * @param {import("./types.js").Model} model @param {import("./types.js").Target} target @param {string[]} given
 */
function fileStem(model, target, given) {
  const flags = given.slice(2).flatMap((part) => (part === "--runtime" || part === "--defaults" || part === "--option" ? [] : [part.replace(/^--/, "").replace("=", "")]));
  const android = flags.map((flag) => (flag.startsWith(ANDROID) ? flag : flag.slice(0, 30)));
  return [plain(model.name), plain(target.delegate === "soc" ? given[1] : target.delegate), ...android.map(plain)].join(".").slice(0, 150);
}

/** Return a name for a file on any system. @param {string} name */
const plain = (name) => name.replace(/\.tflite$/i, "").replace(/[^\w.-]+/g, "_").slice(-80) || "model";
