// The execution plan as a strip, with a cell for each node in execution order. A long strip has several lines.

class Strip {
  constructor(side, page) {
    this.page = page;
    this.canvas = make("canvas", { role: "img" });
    this.label = make("p", { class: "name" });
    this.element = make("div", { tabindex: 0, role: "group", "aria-label": "Execution plan" }, this.canvas);
    this.canvas.addEventListener("click", (event) => {
      const position = this.at(event);
      if (position !== undefined) this.page.select(this.side, position);
    });
    this.canvas.addEventListener("mousemove", (event) => {
      const position = this.at(event);
      this.canvas.title = position === undefined ? "" : this.words(position);
    });
    this.show(side);
    new ResizeObserver(() => this.paint()).observe(this.element);
  }

  show(side) {
    this.side = side;
    this.label.textContent = this.page.lettered(side);
    const on = side.states.filter((state) => state === DELEGATED).length;
    this.canvas.setAttribute("aria-label",
      `${counted(side.size, "node")} in execution order, ${counted(side.data.partitions.length, "partition")}: ` +
      `${formatted(on)} on ${side.view.delegate}, ${formatted(side.size - on)} ${side.view.words.left}`);
    this.paint();
  }

  words(position) {
    const { side } = this;
    return `node ${side.graph.nodes[position]} ${side.op(position)}, partition ${side.data.partition[position]}, ${side.state_word(position)}`;
  }

  measures() {
    const width = Math.max(this.element.clientWidth - 2, 40);
    const room = width / Math.max(this.side.size, 1);
    // The cells of a single line fill the line.
    const cell = Math.max(room, 3);
    const columns = room >= 3 ? Math.max(this.side.size, Math.floor(width / cell)) : Math.max(Math.floor(width / cell), 1);
    const rows = Math.ceil(this.side.size / columns);
    return { width, cell, columns, rows, height: rows > 6 ? 9 : rows > 1 ? 14 : 28, gap: rows > 1 ? 3 : 0 };
  }

  at(event) {
    const place = this.canvas.getBoundingClientRect();
    const { cell, columns, height, gap } = this.measures();
    const column = Math.floor((event.clientX - place.left - 1) / cell);
    if (column < 0 || column >= columns) return undefined;
    return this.side.order[Math.floor((event.clientY - place.top - 1) / (height + gap)) * columns + column];
  }

  paint() {
    const { side, canvas } = this;
    const { width, cell, columns, rows, height, gap } = this.measures();
    if (!this.element.clientWidth) return;
    const ratio = window.devicePixelRatio || 1;
    const total = rows * (height + gap) - gap + 2;
    canvas.style.height = `${total}px`;
    canvas.width = Math.round((width + 2) * ratio);
    canvas.height = Math.round(total * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const marks = this.page.marksOf(side);
    const faint = this.page.faintOf(side);
    const selected = this.page.selectedIn(side);
    side.order.forEach((position, place) => {
      const [x, y] = [(place % columns) * cell, Math.floor(place / columns) * (height + gap)];
      context.globalAlpha = !marks || marks.has(position) ? 1 : faint && faint.has(position) ? 0.6 : 0.3;
      context.fillStyle = theme.fills[side.states[position]];
      const last = place + 1 === side.order.length || side.data.partition[side.order[place + 1]] !== side.data.partition[position];
      context.fillRect(x, y, cell - (last ? Math.min(cell * 0.4, 2) : cell > 8 ? 0.6 : 0), height);
    });
    context.globalAlpha = 1;
    const place = side.place.get(selected.position);
    if (place === undefined) return;
    context.strokeStyle = theme.ink;
    context.lineWidth = 2;
    context.strokeRect((place % columns) * cell - 1, Math.floor(place / columns) * (height + gap) + 1, cell + 2, height - 2);
  }
}
