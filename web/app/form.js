/** The form of a target, generated from the options that the command line has. */

import { byId, make } from "./dom.js";

const SOC = "soc";
/** Options that people choose most stand first. The others are behind "More options". */
const FIRST = ["android", "soc"];

export class TargetForm {
  #form;
  /** @type {HTMLSelectElement} */
  #delegate;
  /** @type {Map<string, HTMLSelectElement | HTMLInputElement>} */
  #inputs = new Map();

  /** @param {import("./types.js").Form} form @param {import("./types.js").Target} target */
  constructor(form, target) {
    this.#form = form;
    const groups = [
      make("optgroup", { label: "Delegates" }, ...this.#delegates(false)),
      make("optgroup", { label: "NPU plugins of LiteRT 2, each alone" }, ...this.#delegates(true)),
      make("optgroup", { label: "LiteRT 2 on a device" }, make("option", { value: SOC }, "an SoC: NPU, then GPU, then CPU")),
    ];
    this.#delegate = make("select", { id: "delegate" }, ...groups);
    this.#delegate.addEventListener("change", () => this.show({ ...this.target, delegate: this.#delegate.value, options: {} }));
    this.show(target);
  }

  /** @param {boolean} isPlugin */
  #delegates(isPlugin) {
    const chosen = this.#form.delegates.filter(({ is_plugin }) => is_plugin === isPlugin);
    return chosen.map(({ name, title }) => make("option", { value: name }, title ? `${name}: ${title}` : name));
  }

  #release = "";
  #defaults = "";

  /** The target that the form describes. @returns {import("./types.js").Target} */
  get target() {
    /** @type {Record<string, string>} */
    const options = {};
    for (const [name, input] of this.#inputs) if (input.value !== input.dataset.default) options[name] = input.value;
    return { delegate: this.#delegate.value, release: this.#release, defaults: this.#defaults, options };
  }

  /** Show a target. @param {import("./types.js").Target} target */
  show({ delegate, release, defaults, options }) {
    this.#release = release;
    this.#defaults = defaults;
    this.#delegate.value = delegate;
    this.#inputs.clear();
    const main = [make("label", {}, "Target", this.#delegate)];
    /** @type {HTMLElement[]} */
    const more = [];
    const found = this.#form.delegates.find(({ name }) => name === delegate);
    if (!found) main.push(this.#socs(options[SOC] ?? this.#form.socs[0].name));
    const known = (found?.options ?? []).filter(({ type }) => type !== "file");
    for (const option of known) {
      const label = this.#field(option, option.defaults[defaults], options[option.name]);
      (FIRST.includes(option.name) ? main : more).push(label);
    }
    byId("main-options").replaceChildren(...main);
    byId("more-options").replaceChildren(...more);
    byId("more").hidden = more.length === 0;
    byId("target-summary").textContent = found?.summary ?? "LiteRT 2 gives nodes to the SoC's NPU, then the rest to the GPU, then to the CPU.";
  }

  /** @param {string} chosen */
  #socs(chosen) {
    const options = this.#form.socs.map(({ name, also }) =>
      make("option", { value: name, selected: name === chosen }, also.length ? `${name} (${also.join(", ")})` : name),
    );
    const input = make("select", {}, ...options);
    input.dataset.default = "";
    this.#inputs.set(SOC, input);
    return make("label", {}, "SoC", input);
  }

  /** @param {import("./types.js").Option} option @param {string} otherwise @param {string | undefined} value */
  #field({ name, type, choices, help }, otherwise, value = otherwise) {
    const offered = type === "boolean" ? ["true", "false"] : choices;
    /** @type {HTMLSelectElement | HTMLInputElement} */
    let input;
    if (offered.length) {
      const all = offered.includes(otherwise) ? offered : [otherwise, ...offered];
      const shown = all.map((choice) => make("option", { value: choice, selected: choice === value }, choice || "not set"));
      input = make("select", {}, ...shown);
    } else {
      input = make("input", { type: "text", value, spellcheck: false, autocomplete: "off", placeholder: "not set" });
      if (type === "integer") input.inputMode = "numeric";
    }
    input.dataset.default = otherwise;
    this.#inputs.set(name, input);
    return make("label", { title: help }, title(name), input, make("small", {}, help));
  }
}

/** @param {string} name */
function title(name) {
  if (name === "soc") return "SoC";
  const words = name.replaceAll("_", " ").replace(/\b(gpu|nnapi|cpu|fp16|qs8|qu8|pmu|xnnpack)\b/g, (word) => word.toUpperCase());
  return words === "android" ? "Android version" : words[0].toUpperCase() + words.slice(1);
}
