/** Links: the address of the page, whose fragment has the target and its options, and links to results. No link has a model. */

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
  if (!given.has("delegate") && given.has("target")) given.set("delegate", given.get("target") ?? "");
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

/**
 * Return the link that shows a report in the viewer of reports. Its fragment has all of the report, deflated.
 * @param {string} report the page that `report` writes @param {string} [place] the target and the node, such as "target=gpu"
 */
export async function resultLink(report, place) {
  const page = new DOMParser().parseFromString(report, "text/html");
  const content = JSON.parse(page.getElementById("content")?.textContent ?? "null");
  const text = JSON.stringify({ content, cards: page.querySelector(".cards")?.innerHTML ?? "" });
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const letters = Array.from(new Uint8Array(await new Response(stream).arrayBuffer()), (byte) => String.fromCharCode(byte));
  const packed = btoa(letters.join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `${new URL("view.html", location.href).href}#result=${packed}${place ? `&${place}` : ""}`;
}
