// The arena of TensorFlow Lite Micro. Each buffer is a rectangle: time is horizontal, and the address is vertical.

const BUFFERS_LISTED = 12;

class ArenaPicture {
  constructor() {
    this.svg = byId("arena-picture");
  }

  show({ arena }) {
    byId("arena-section").hidden = !arena;
    this.svg.replaceChildren();
    byId("arena-list").replaceChildren();
    byId("arena-note").textContent = arena ? this.words(arena) : "";
    if (arena) this.draw(arena);
  }

  words(arena) {
    const left = arena.left_out ? ` The smallest ${formatted(arena.left_out)} buffers are not drawn.` : "";
    return `About ${formatted(arena.total)} bytes for a 32-bit build, before a margin: head ${formatted(arena.head)} (the picture), ` +
      `tail ${formatted(arena.tail)} (an estimate). The device may need more: measure the arena on the device.${left}`;
  }

  draw(arena) {
    const [from, to] = [Math.min(...arena.first, 0), Math.max(...arena.last, 0)];
    const [width, height] = [1000, 260];
    byId("arena-axis").replaceChildren(make("span", {}, `step ${formatted(from)}`), make("span", {}, "time"), make("span", {}, `step ${formatted(to)}`));
    byId("arena-scale").replaceChildren(make("span", {}, bytesText(arena.head)), make("span", {}, bytesText(Math.round(arena.head / 2))), make("span", {}, "0"));
    const [step, unit] = [width / (to - from + 1), height / Math.max(arena.head, 1)];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("aria-label",
      `${counted(arena.bytes.length, "buffer")} over ${counted(to - from + 1, "step")}, ${formatted(arena.head)} bytes high`);
    arena.bytes.forEach((bytes, number) => {
      const shape = this.element("rect", {
        x: (arena.first[number] - from) * step,
        y: height - (arena.offset[number] + bytes) * unit,
        width: Math.max((arena.last[number] - arena.first[number] + 1) * step, 1),
        height: Math.max(bytes * unit, 0.5),
        class: arena.scratch[number] ? "scratch" : "activation",
      });
      const title = this.element("title", {});
      title.textContent = this.title(arena, number);
      shape.append(title);
      this.svg.append(shape);
    });
    const largest = arena.bytes.map((_, number) => number).sort((one, other) => arena.bytes[other] - arena.bytes[one]);
    const headings = [["Buffer"], ["Bytes", "number"], ["Offset", "number"], ["Steps", "number"]];
    const rows = largest.slice(0, BUFFERS_LISTED).map((number) => cells(headings, [breakable(arena.name[number]),
      formatted(arena.bytes[number]), formatted(arena.offset[number]), `${arena.first[number]}–${arena.last[number]}`]));
    byId("arena-list").append(table(headings, rows, "The largest buffers"));
    if (!arena.resolver) return;
    byId("arena-list").append(make("h3", {}, "Resolver with the kernels that the model needs"),
      make("pre", { class: "log", tabindex: 0, role: "region", "aria-label": "Resolver" }, arena.resolver.join("\n")));
  }

  title(arena, number) {
    return `${arena.name[number]}: ${formatted(arena.bytes[number])} bytes at ${formatted(arena.offset[number])}, ` +
      `steps ${arena.first[number]} to ${arena.last[number]}`;
  }

  element(name, properties) {
    const made = document.createElementNS(this.svg.namespaceURI, name);
    for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
    return made;
  }
}
