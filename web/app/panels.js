/** The results for one target: report, diagnosis, plan of a fix, comparison, and files to download. */

import { asTyped, targetArguments } from "./commands.js";
import { byId, columnsOf, download, make } from "./dom.js";

/** @typedef {<T>(what: string, work: () => Promise<T>) => Promise<T | undefined>} Busy */
/** @typedef {{engine: import("./engine.js").Engine, busy: Busy, form: import("./types.js").Form,
 *   target: () => import("./types.js").Target}} Context */

const NAMES = ["report", "diagnose", "fix", "compare", "download"];
const NOT_FOR_SOCS = "This is for one delegate. Choose a delegate as the target.";

/** Files to download: title, command, ending, type, and arguments. @type {[string, string, string, string, string[]][]} */
const DOWNLOADS = [
  ["Report page (HTML)", "report", "html", "text/html", []],
  ["Results with every node (JSON)", "analyze", "json", "application/json", ["--format", "json"]],
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
    this.#model = model;
    this.#models = models;
    if (!this.#isChosen) byId("panel").replaceChildren(make("p", { className: "help" }, "Choose a target in the table, or press Simulate."));
  }

  /** Show no result until one is asked for. */
  clear() {
    this.#isChosen = false;
    byId("panel").replaceChildren();
  }

  /** Forget all answers. */
  forget() {
    this.#answers.clear();
    this.clear();
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
    else if (name === "diagnose") await this.#showText(panel, ["diagnose", model.path, ...given], "Diagnosing");
    else if (name === "fix") await this.#showFix(panel, model, given);
    else if (name === "compare") this.#showCompare(panel, model, given);
    else this.#showDownloads(panel, model, given, DOWNLOADS);
  }

  /** @param {HTMLElement} panel @param {import("./types.js").Model} model @param {string[]} given @param {string} name */
  async #showAnalysis(panel, model, given, name) {
    const offered = DOWNLOADS.filter(([, command]) => command === "analyze");
    if (name === "report") await this.#showText(panel, ["analyze", model.path, ...given], "Simulating");
    else if (name === "download") this.#showDownloads(panel, model, given, offered);
    else panel.append(make("p", {}, NOT_FOR_SOCS));
  }

  /**
   * Run a command, or return what it answered before.
   * @param {string[]} command @param {string} what @param {string} [file] a file that the command writes
   * @returns {Promise<import("./types.js").Answer | undefined>}
   */
  async #ask(command, what, file) {
    const columns = columnsOf(byId("panel"));
    const key = JSON.stringify([command, columns]);
    const known = this.#answers.get(key);
    if (known) return known;
    const { busy, engine } = this.#context;
    const whole = file ? [...command, "--output", `/out/${file}`] : command;
    const found = await busy(`${what} ${this.#model?.name}`, () => engine.run(whole, columns, file));
    if (found) this.#answers.set(key, found);
    return found;
  }

  /** @param {HTMLElement} panel @param {string[]} command @param {string} what */
  async #showText(panel, command, what) {
    const found = await this.#ask(command, what);
    if (!found) return false;
    const { output, error, exit } = found;
    panel.append(commandLine(command));
    if (error) panel.append(make("p", { className: exit > 1 ? "bad" : "note" }, error));
    if (output) panel.append(make("pre", { className: "output", tabIndex: 0 }, output));
    return exit <= 1;
  }

  /** @param {HTMLElement} panel @param {string[]} paths @param {string[]} given @param {string} file */
  async #showReport(panel, paths, given, file) {
    const command = ["report", ...paths, ...given];
    const found = await this.#ask(command, "Making the report of", file);
    if (!found) return;
    const line = commandLine([...command, "-o", file]);
    if (found.error) panel.append(make("p", { className: found.content ? "note" : "bad" }, found.error));
    if (!found.content) {
      panel.append(line);
      return;
    }
    // The sandbox gives the report an origin of its own, and the policies of this page and of the report allow it no request.
    const frame = make("iframe", { title: "Report", srcdoc: new TextDecoder().decode(found.content) });
    frame.setAttribute("sandbox", "allow-scripts");
    const full = make("button", { type: "button" }, "Full screen");
    full.addEventListener("click", () => frame.requestFullscreen());
    panel.append(make("div", { className: "bar" }, line, full), frame);
  }

  /** @param {HTMLElement} panel @param {import("./types.js").Model} model @param {string[]} given */
  async #showFix(panel, model, given) {
    await this.#showText(panel, ["fix", model.path, "--plan", ...given], "Looking for fixes of");
    const command = ["fix", model.path, ...given, "-o", "fixed.tflite"];
    panel.append(
      make("p", { className: "note" }, "This is the plan only. A fix is proved by running the model before and after, and the runtime is not in the browser. This command writes the model and proves that its outputs are the same:"),
      commandLine(command),
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
    const other = make("select", { id: "other" }, make("option", { value: "" }, "nothing yet"), ...options);
    const result = make("div", {});
    const show = async () => {
      this.#other = other.value;
      result.replaceChildren();
      if (!other.value) return;
      const [kind, value] = other.value.split(/ (.*)/s);
      const paths = kind === "model" ? [model.path, value] : [model.path];
      const all = kind === "model" ? given : [...given, "--delegate", value];
      const text = make("div", {});
      const page = make("div", {});
      const hint = make("p", { className: "help" }, 'To see both graphs side by side, choose the other one under "Compare with" in this report:');
      result.append(text, hint, page);
      if (await this.#showText(text, ["compare", ...paths, ...all], "Comparing")) await this.#showReport(page, paths, all, "compared.html");
    };
    other.addEventListener("change", show);
    panel.append(
      make("div", { className: "controls" }, make("label", {}, "Compare with", other)),
      ...(models.length ? [] : [make("p", { className: "help" }, "To compare two models, such as before and after a change, drop the second one on this page.")]),
      result,
    );
    if (this.#other && [...other.options].some(({ value }) => value === this.#other)) other.value = this.#other;
    else if (models.length) other.value = `model ${models[0].path}`;
    show();
  }

  /** @param {HTMLElement} panel @param {import("./types.js").Model} model @param {string[]} given @param {typeof DOWNLOADS} offered */
  #showDownloads(panel, model, given, offered) {
    const entries = offered.map(([title, command, ending, type, format]) => {
      const button = make("button", { type: "button" }, title);
      const problem = make("span", { className: "bad" });
      const whole = [command, model.path, ...given, ...format];
      const file = `result.${ending}`;
      button.addEventListener("click", async () => {
        const found = await this.#ask(whole, "Writing a file for", file);
        problem.textContent = found && !found.content ? found.error : "";
        if (found?.content) download(`${plain(model.name)}.${plain(given[1])}.${ending}`, found.content, type);
      });
      return make("li", {}, button, problem, commandLine([...whole, "-o", file]));
    });
    panel.append(make("ul", { className: "downloads" }, ...entries));
  }
}

/** @param {string[]} command */
const commandLine = (command) => make("code", { className: "command" }, asTyped(command));

/** Return a name for a file on any system. @param {string} name */
const plain = (name) => name.replace(/\.tflite$/i, "").replace(/[^\w.-]+/g, "_").slice(-80) || "model";
