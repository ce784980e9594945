/** Elements of the page. Text from files and from Python gets in only as text nodes and attributes, never as markup. */

/** @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element ${id}`);
  return element;
}

/**
 * Make an element with properties and children.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, any>} [properties] @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) element.setAttribute(name, value);
    else /** @type {any} */ (element)[name] = value;
  }
  element.append(...children);
  return element;
}

/** @param {string} id */
export const select = (id) => /** @type {HTMLSelectElement} */ (byId(id));

/** @param {HTMLSelectElement} element @param {string[]} choices @param {string} chosen */
export function fill(element, choices, chosen) {
  element.replaceChildren(...choices.map((choice) => make("option", { value: choice, selected: choice === chosen }, choice)));
}

/** Offer a file for download. @param {string} name @param {BlobPart} content @param {string} type */
export function download(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Return a command with a button that copies it. @param {string} text */
export function commandLine(text) {
  const copy = make("button", { type: "button", className: "copy" }, "Copy");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(line);
    }
  });
  const line = make("code", { className: "command" }, text);
  return make("div", { className: "with-copy" }, line, copy);
}
