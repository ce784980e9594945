// The link to a result: everything on the page, deflated, in the fragment of an address. Browsers send no fragment to a server.

const RESULT = "result";
const MOST_CHARACTERS = 1e6;
const MOST_BYTES = 48e6;
const ELEMENTS = ["svg", "defs", "pattern", "rect", "text", "path", "a", "p", "code", "g", "use"];
const ATTRIBUTES = new Set(["viewbox", "class", "role", "aria-label", "font-family", "font-size", "font-weight", "text-anchor", "x", "y",
  "rx", "d", "width", "height", "id", "patternunits", "patterntransform", "stroke", "stroke-dasharray", "opacity", "fill", "href", "transform"]);
const VALUES = { href: /^#(target=[\w-]+(&model=\d+)?|card-[\d-]+)$/, fill: /^(#[\da-f]{6}|none|url\(#card-[a-z]+\))$/, stroke: /^#[\da-f]{6}$/, class: /^card(-[a-z]+)?$/, id: /^card-([a-z]+|[\d-]+)$/ };

// Where one element draws another one that draws others: a short text could draw more than a browser ever does.
const REPEATING = '[id] use, pattern [fill^="url"], pattern[fill^="url"], [fill^="url"] pattern';

const cardsElement = () => document.querySelector(".cards");
const fragment = () => new URLSearchParams(location.hash.slice(1));

// Sends bytes through a stream and returns all bytes that come out, at most `most`.
async function through(stream, bytes, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
    if (size > most) throw new Error("it is too large");
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// Returns a value as text for a fragment.
async function packed(value) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(value)), Infinity);
  let text = "";
  for (let start = 0; start < bytes.length; start += 0x8000) text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes, MOST_BYTES)));
}

// Returns the elements of cards. Anything that is not in a card is an error, because a link may come from anybody.
function cardNodes(text) {
  const { body } = new DOMParser().parseFromString(text, "text/html");
  for (const element of body.querySelectorAll("*")) {
    if (!ELEMENTS.includes(element.localName)) throw new Error(`its card has the element ${element.localName.slice(0, 40)}`);
    for (const { name, value } of element.attributes) {
      const isKnown = ATTRIBUTES.has(name.toLowerCase()) && (!VALUES[name] || VALUES[name].test(value));
      if (!isKnown) throw new Error(`its card has the attribute ${name.slice(0, 40)}`);
    }
  }
  const used = [...body.querySelectorAll("use")].map((element) => element.getAttribute("href"));
  if (new Set(used).size < used.length || body.querySelector(REPEATING)) throw new Error("its card draws a part several times");
  return [...body.childNodes];
}

// Says in one line why there is nothing to see.
function stop(text) {
  const line = document.createElement("p");
  line.className = "problem";
  line.setAttribute("role", "alert");
  line.textContent = text;
  document.querySelector("main").replaceChildren(line);
  for (const part of document.querySelectorAll("header, footer")) part.remove();
}

async function start() {
  const own = JSON.parse(document.getElementById("content").textContent);
  const source = document.documentElement.outerHTML;
  const given = fragment().get(RESULT);
  if (!own && !given) {
    stop("This page shows a result from a link. This address has no result: open the whole link.");
    return;
  }
  let content = own;
  try {
    if (given !== null) {
      const result = await unpacked(given);
      const nodes = cardNodes(result.cards);
      cardsElement().replaceChildren(...nodes);
      cardsElement().hidden = !nodes.length;
      content = { ...result.content, site: own ? own.site : "" };
    }
    begin(content, { source, isViewer: !own });
  } catch (fault) {
    if (given === null) throw fault;
    const made = content && content !== own ? ` It was made by delegate-sim ${String(content.version).slice(0, 20)}.` : "";
    stop(`This link has no result that can be shown: it is damaged or incomplete (${String(fault.message).slice(0, 120)}).${made}`);
  }
  addEventListener("hashchange", () => {
    if (fragment().has(RESULT)) location.reload();
  });
}
