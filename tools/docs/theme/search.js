/** Search in the pages: a section with the searched title first, then sections whose title has the words, then the others. */
"use strict";

const LIMIT = 40;
const base = new URL(`${document.currentScript.dataset.base}/`, location.href);
const [dialog, query, found, hits, button] = ["search", "query", "found", "hits", "find"].map((id) => document.getElementById(id));
/** Sections: the title of their page, their own title, their text and location. */
let sections;

async function load() {
  const { docs } = await (await fetch(new URL("search/search_index.json", base))).json();
  const pages = Object.fromEntries(docs.filter(({ location }) => !location.includes("#")).map(({ location, title }) => [location, title]));
  sections = docs.map(({ location, title, text }) => {
    const page = pages[location.split("#")[0]] ?? "";
    return { location, title, page, text, titleKey: title.toLowerCase(), key: `${page} ${title} ${text}`.toLowerCase() };
  });
}

function scoreOf({ titleKey, page, key }, words, phrase) {
  if (titleKey === phrase) return 5;
  if (!words.every((word) => key.includes(word))) return 0;
  if (titleKey.startsWith(phrase)) return 4;
  if (words.every((word) => titleKey.includes(word))) return 3;
  if (words.every((word) => titleKey.includes(word) || page.toLowerCase().includes(word))) return 2;
  return key.includes(phrase) ? 1 : 0.5;
}

function excerptOf(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  return `${at ? "… " : ""}${text.slice(at, at + 180).replace(/\s+/g, " ")}`;
}

function show() {
  const phrase = query.value.trim().toLowerCase();
  const words = phrase.split(/\s+/).filter(Boolean);
  const scored = words.length && sections ? sections.map((section) => [scoreOf(section, words, phrase), section]) : [];
  const best = scored.filter(([score]) => score).sort(([a], [b]) => b - a);
  found.textContent = words.length ? `${best.length} ${best.length === 1 ? "section" : "sections"}` : "";
  hits.replaceChildren(
    ...best.slice(0, LIMIT).map(([, { location, title, page, text }]) => {
      const link = Object.assign(document.createElement("a"), { href: new URL(location, base), textContent: title });
      const where = Object.assign(document.createElement("small"), { textContent: title === page ? "" : page });
      const excerpt = Object.assign(document.createElement("p"), { textContent: excerptOf(text, words[0]) });
      const item = document.createElement("li");
      item.append(link, " ", where, excerpt);
      return item;
    }),
  );
}

async function open() {
  dialog.showModal();
  query.focus();
  try {
    if (!sections) await load();
    show();
  } catch {
    found.textContent = "Search needs these pages on a web server.";
  }
}

button.hidden = false;
button.addEventListener("click", open);
query.addEventListener("input", show);
query.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  hits.querySelector("a")?.click();
});
hits.addEventListener("click", (event) => event.target.closest("a") && dialog.close());
addEventListener("keydown", (event) => {
  if (event.key === "/" && !dialog.open && !event.target.closest("input, textarea")) {
    event.preventDefault();
    open();
  }
});
