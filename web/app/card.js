/** The card of a model: a picture with a row for each target, and buttons that copy it. */

import { make } from "./dom.js";

/** The largest number of characters of a link that all browsers open. */
const MOST_CHARACTERS = 1e6;

/**
 * Show the card. `link` returns the link to the result, or undefined if its simulation was ended.
 * @param {HTMLElement} holder @param {{picture: string, markdown: string}} card @param {() => Promise<string | undefined>} link
 */
export function showCard(holder, { picture, markdown }, link) {
  const image = make("img", { src: `data:image/svg+xml,${encodeURIComponent(picture)}`, alt: "Results of all targets, as in the table below" });
  const status = make("span", { className: "help" });
  status.setAttribute("role", "status");
  /** @param {string} name @param {() => Promise<string>} action @param {string} [className] */
  const button = (name, action, className = "") => {
    const made = make("button", { type: "button", className }, name);
    made.addEventListener("click", async () => {
      made.disabled = true;
      status.textContent = await action().catch(() => "This browser allows no copy.");
      made.disabled = false;
    });
    return made;
  };
  const buttons = [
    button("Copy link to this result", () => copyLink(link), "primary"),
    button("Copy picture", () => copyPicture(image)),
    button("Copy Markdown", () => navigator.clipboard.writeText(markdown).then(() => "Copied as Markdown.")),
  ];
  const scroll = make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Card" }, image);
  holder.replaceChildren(make("p", { className: "buttons" }, ...buttons, status), scroll);
}

/** @param {() => Promise<string | undefined>} link */
async function copyLink(link) {
  const text = await link();
  if (!text) return "There is no link, because the simulation was ended.";
  const size = `${text.length.toLocaleString("en-US")} characters`;
  if (text.length > MOST_CHARACTERS) return `The link would have ${size}, more than browsers open. Download the report page and send the file.`;
  await navigator.clipboard.writeText(text);
  return `Copied: ${size}. The link has the names of operators and tensors, but no weights. No server sees it. If a chat cuts the link, download the report page and send the file.`;
}

/** @param {HTMLImageElement} image */
async function copyPicture(image) {
  const [width, height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
  const canvas = make("canvas", { width, height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
  /** @type {Promise<Blob>} */
  const blob = new Promise((resolve, reject) => canvas.toBlob((made) => (made ? resolve(made) : reject(new Error("no picture")))));
  await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
  return "Copied as a picture.";
}
