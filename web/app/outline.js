/** Text that the command line prints, as elements: its paragraphs, lists, tables and commands. The text has one line for each statement. */

import { make } from "./dom.js";

const COMMAND = /^delegate-sim /;
const CODE = /\(([a-z][\w]*(?:-[\w]+)+)\)$/;
/** A line of an aligned table has further columns. */
const ROW = /\S {2,}\S/;

/**
 * @param {string} text @param {{codes: string, isHeadlineFirst?: boolean}} settings `codes` is the address of the page of codes, or ""
 * @returns {HTMLElement}
 */
export function outlineOf(text, { codes, isHeadlineFirst = false }) {
  const root = make("div", { className: "outline" });
  /** The open lists, each with the indentation of its entries. @type {{indent: number, list: HTMLElement}[]} */
  let lists = [];
  const lines = text.trimEnd().split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const indent = lines[at].search(/\S/);
    const line = lines[at].trim();
    const end = endOfTable(lines, at);
    if (indent <= 0 || end > at) lists = [];
    if (indent < 0) continue;
    if (end > at) {
      root.append(make("pre", { tabIndex: 0 }, lines.slice(at, end).join("\n")));
      at = end - 1;
    } else if (indent === 0) {
      const isHeading = (lines[at + 1] ?? "").startsWith("  ");
      const isHeadline = isHeadlineFirst && root.childElementCount === 0;
      root.append(make(isHeading ? "h3" : "p", isHeadline ? { className: "headline" } : {}, line));
    } else {
      while (lists.length && indent < lists[lists.length - 1].indent) lists.pop();
      if (!lists.length || indent > lists[lists.length - 1].indent) {
        const list = make("ul", {});
        (lists[lists.length - 1]?.list.lastElementChild ?? root).append(list);
        lists.push({ indent, list });
      }
      lists[lists.length - 1].list.append(make("li", {}, ...partsOf(line, codes)));
    }
  }
  return root;
}

/** Return where the table that starts at a line ends, or the line itself if none starts there. @param {string[]} lines @param {number} at */
function endOfTable(lines, at) {
  let end = at;
  while (end < lines.length && ROW.test(lines[end].trim())) end += 1;
  return end - at > 1 ? end : at;
}

/** @param {string} line @param {string} codes */
function partsOf(line, codes) {
  if (COMMAND.test(line)) return [commandLine(line)];
  const code = CODE.exec(line)?.[1];
  if (!code || !codes) return [line];
  const link = make("a", { href: `${codes}#${code}`, target: "_blank", rel: "noopener" }, code);
  return [line.slice(0, -code.length - 1), link, ")"];
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
