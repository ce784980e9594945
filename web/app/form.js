/** The form of a target, generated from the options that the command line has. */

import { ANDROID, titleOf } from "./commands.js";
import { byId, make } from "./dom.js";

const SOC = "soc";
/** Options that people choose most stand first. The others are behind "More options". */
const FIRST = [ANDROID, SOC];

export class TargetForm {
  #form;
  #onChange;
  /** @type {HTMLSelectElement} */
  #delegate;
  /** @type {Map<string, HTMLSelectElement | HTMLInputElement>} */
  #inputs = new Map();
  #release = "";
  #defaults = "";
  #android = "";

  /**
   * @param {import("./types.js").Form} form @param {import("./types.js").Target} target
   * @param {() => void} onChange is called after the user changed an option
   */
  constructor(form, target, onChange) {
    this.#form = form;
    this.#onChange = onChange;
    const groups = [
      ...form.groups.map(([label, names]) => make("optgroup", { label }, ...names.map((name) => this.#delegateOption(name)))),
      make("optgroup", { label: "LiteRT 2 on a device" }, make("option", { value: SOC }, "an SoC: NPU, then GPU, then CPU")),
    ];
    this.#delegate = make("select", { id: "delegate" }, ...groups);
    this.#delegate.addEventListener("change", () => {
      this.show({ ...this.target, delegate: this.#delegate.value, options: {} });
      onChange();
    });
    this.show(target);
  }

  /** @param {string} name */
  #delegateOption(name) {
    const { title = "", deprecated = "" } = this.#form.delegates.find((one) => one.name === name) ?? {};
    return make("option", { value: name }, `${title ? `${title} (${name})` : name}${deprecated ? `, deprecated ${deprecated}` : ""}`);
  }

  /** The chosen delegate, or undefined for an SoC. */
  get #chosen() {
    return this.#form.delegates.find(({ name }) => name === this.#delegate.value);
  }

  /** The target that the form describes. @returns {import("./types.js").Target} */
  get target() {
    /** @type {Record<string, string>} */
    const options = {};
    for (const [name, input] of this.#inputs) {
      if (name !== ANDROID && input.value !== input.dataset.default) options[name] = input.value;
    }
    return { delegate: this.#delegate.value, release: this.#release, defaults: this.#defaults, android: this.#android, options };
  }

  /** Show a target. @param {import("./types.js").Target} target */
  show({ delegate, release, defaults, android, options }) {
    this.#release = release;
    this.#defaults = defaults;
    this.#android = android;
    this.#delegate.value = delegate;
    this.#inputs.clear();
    const main = [make("label", {}, "Target", this.#delegate)];
    /** @type {HTMLElement[]} */
    const more = [];
    const found = this.#chosen;
    if (!found) main.push(this.#socs(options[SOC] ?? this.#form.socs[0].name));
    const known = (found?.options ?? []).filter(({ type }) => type !== "file");
    for (const option of known) {
      const value = option.name === ANDROID ? android : options[option.name];
      const field = this.#field(option, option.defaults[defaults], value, !FIRST.includes(option.name));
      (FIRST.includes(option.name) ? main : more).push(field);
    }
    byId("main-options").replaceChildren(...main);
    byId("more-options").replaceChildren(...more);
    byId("more").hidden = more.length === 0;
    byId("target-summary").textContent = found?.summary ?? "LiteRT 2 gives nodes to the SoC's NPU, then the rest to the GPU, then to the CPU.";
    this.#limitLevel();
  }

  /** Offer only the feature levels that the Android version has. */
  #limitLevel() {
    const level = this.#chosen?.level;
    const input = level && this.#inputs.get(level.option);
    if (!level || !(input instanceof HTMLSelectElement)) return;
    const highest = level.by_release[this.#android];
    for (const option of input.options) {
      const isDefault = option.value === input.dataset.default;
      option.text = isDefault ? `${highest}${this.#android === "none" ? "" : `, the highest of Android ${this.#android}`}` : option.value;
      option.disabled = !isDefault && Number(option.value) >= highest;
    }
    if (input.selectedOptions[0]?.disabled) input.value = input.dataset.default ?? "";
  }

  /** @param {string} chosen */
  #socs(chosen) {
    const options = this.#form.socs.map(({ name, also }) =>
      make("option", { value: name, selected: name === chosen }, also.length ? `${name} (${also.join(", ")})` : name),
    );
    const input = make("select", {}, ...options);
    input.dataset.default = "";
    this.#listen(SOC, input);
    return make("label", {}, "SoC", input);
  }

  /** @param {import("./types.js").Option} option @param {string} otherwise @param {string | undefined} value @param {boolean} hasHelp */
  #field({ name, type, choices, help }, otherwise, value = otherwise, hasHelp) {
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
    this.#listen(name, input);
    const label = make("label", { title: help }, titleOf(name), input);
    if (!hasHelp) return label;
    const id = `help-${name}`;
    input.setAttribute("aria-describedby", id);
    return make("div", { className: "field" }, label, make("small", { id }, help));
  }

  /** @param {string} name @param {HTMLSelectElement | HTMLInputElement} input */
  #listen(name, input) {
    this.#inputs.set(name, input);
    input.addEventListener("change", () => {
      if (name === ANDROID) this.#android = input.value;
      this.#limitLevel();
      this.#onChange();
    });
  }
}
