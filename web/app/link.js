/** The address of the page: its fragment has the target and its options, never a model. */

import { ANDROID, androidOption } from "./commands.js";

/** @param {import("./types.js").Target} target @param {import("./types.js").Form} form @returns {string} */
export function fragmentOf({ delegate, release, defaults, android, options }, form) {
  /** @type {Record<string, string>} */
  const own = android === androidOption(form).defaults[defaults] ? {} : { android };
  return new URLSearchParams({ delegate, runtime: release, defaults, ...own, ...options }).toString();
}

/**
 * Return the target that a fragment names. What the form does not offer is left out.
 * @param {string} fragment @param {import("./types.js").Form} form @returns {import("./types.js").Target}
 */
export function targetOf(fragment, form) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  /** @param {string} name @param {string[]} choices @param {string} otherwise */
  const choice = (name, choices, otherwise) => {
    const value = given.get(name) ?? "";
    return choices.includes(value) ? value : otherwise;
  };
  const names = form.delegates.map(({ name }) => name);
  const delegate = choice("delegate", [...names, "soc"], form.default_delegate);
  /** @type {Record<string, string>} */
  const options = {};
  for (const option of form.delegates.find(({ name }) => name === delegate)?.options ?? []) {
    const value = given.get(option.name);
    if (value === null || option.type === "file" || option.name === ANDROID) continue;
    if (option.type === "choice" && !option.choices.includes(value)) continue;
    options[option.name] = value;
  }
  const soc = given.get("soc") ?? "";
  if (delegate === "soc") options.soc = form.socs.some(({ name }) => name === soc) ? soc : form.socs[0].name;
  const defaults = choice("defaults", form.defaults.choices, form.defaults.default);
  const android = androidOption(form);
  return {
    delegate,
    release: choice("runtime", [form.releases.default, ...form.releases.choices], form.releases.default),
    defaults,
    android: choice("android", android.choices, android.defaults[defaults]),
    options,
  };
}
