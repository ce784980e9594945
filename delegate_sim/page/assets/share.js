// The buttons that copy the result: as a link, as a picture and as Markdown, and the page as a file.

const ABOUT_LINK = "The link has the names of operators and tensors, but no weights. No server sees it.";

class Share {
  constructor(page, { source, isViewer }) {
    Object.assign(this, { page, source, isViewer });
    this.status = make("p", { role: "status", class: "help" });
    const button = (text, action, properties = {}) => make("button", { type: "button", onclick: () => action.call(this), ...properties }, text);
    const markdown = content.models.map(({ card }) => card).filter(Boolean).join("\n");
    this.element = make("div", { class: "share" },
      this.address() ? button("Copy link to this result", this.copyLink, { class: "primary" }) : null,
      cardsElement().querySelector(".card") ? button("Copy picture", this.copyPicture) : null,
      markdown ? button("Copy Markdown", () => this.copy(markdown, "Copied as Markdown.")) : null,
      button("Save page", this.save), this.status);
    cardsElement().before(this.element);
  }

  // The address of the page that shows links, or "" if there is none that others can open.
  address() {
    const own = location.href.split("#")[0];
    if (this.isViewer || location.protocol.startsWith("http")) return own;
    return content.site ? `${content.site}try/view.html` : "";
  }

  async copyLink() {
    const result = await packed({ content, cards: cardsElement().innerHTML });
    const link = `${this.address()}#${RESULT}=${result}&${this.page.place()}`;
    if (link.length > MOST_CHARACTERS) {
      this.say(`The link would have ${formatted(link.length)} characters, more than browsers open. Save the page and send the file.`);
      return;
    }
    await this.copy(link, `Copied: ${formatted(link.length)} characters. ${ABOUT_LINK} If a chat cuts the link, save the page and send the file.`);
  }

  async copyPicture() {
    const canvas = await picture(cardsElement().querySelector(".card"));
    const image = await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
      this.say("Copied as a picture.");
    } catch {
      this.say("This browser allows no copy: save the picture below.");
      this.status.append(make("img", { src: canvas.toDataURL(), alt: "The card of the model" }));
    }
  }

  // Copies text, or shows the text where the browser allows no copy.
  async copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
      this.say(done);
    } catch {
      this.say("This browser allows no copy: copy the text below. ");
      const area = make("textarea", { readonly: true, rows: 3, "aria-label": "Text to copy" });
      area.value = text;
      this.status.append(area);
      area.select();
    }
  }

  say(text) {
    this.status.replaceChildren(text);
  }

  // Saves the page with its content as a file.
  save() {
    const saved = new DOMParser().parseFromString(this.source, "text/html");
    saved.getElementById("content").textContent = JSON.stringify(content).replaceAll("<", "\\u003c");
    saved.querySelector(".cards").innerHTML = cardsElement().innerHTML;
    const file = new Blob([`<!doctype html>\n${saved.documentElement.outerHTML}`], { type: "text/html" });
    const link = make("a", { href: URL.createObjectURL(file), download: `${content.models[0].name.replace(/\W+/g, "-")}.html` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    this.say("Saved. The file has the names of operators and tensors, but no weights.");
  }
}

// Draws a card with the colors of the page, at twice its size.
async function picture(card) {
  const { width, height } = card.viewBox.baseVal;
  const copy = card.cloneNode(true);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const inks = { "card-ground": theme.paper, "card-ink": theme.ink, "card-faint": theme.faint, "card-link": theme.accent };
  for (const part of copy.querySelectorAll("[class]")) {
    const name = part.getAttribute("class");
    if (inks[name]) part.setAttribute("fill", inks[name]);
    if (name === "card-line") part.setAttribute("stroke", theme.line);
  }
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = make("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  return canvas;
}
