// The graph on a canvas, with pan and zoom. Partitions are boxes. Their nodes are drawn if they are large enough.

const NODE = { width: content.sizes.node[0], height: content.sizes.node[1] };
const SMALL = { width: content.sizes.small[0], height: content.sizes.small[1] };
const CLOSED = { width: content.sizes.closed[0], height: content.sizes.closed[1] };
const HEADER = content.sizes.header;
const GAP = 30;
const SMALLEST_NODE = 1;
const SMALLEST_LABEL = 11;
const SMALLEST_EDGES = 0.1;
const LARGEST_SCALE = 4;
const SMALLEST_MARK = 24;
// At a smaller scale, the labels of nodes are too small to read.
const READABLE = 0.7;
const MOST_BEGUN = 400;
const MARGIN = 20;
const inner = (length) => Math.max(length - 2 * MARGIN, length / 2);

let theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ground", "paper", "ink", "faint", "line", "accent", "delegated", "refused", "left", "mixed",
    "taken", "delegated-soft", "refused-soft", "left-soft", "taken-soft", "bad", "mark", "edge"];
  theme = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  theme.states = STATES.map((state) => theme[state]);
  theme.soft = STATES.map((state) => theme[`${state}-soft`]);
  theme.fills = theme.states.map((color, state) => ([REFUSED, LEFT].includes(state) ? hatched(color, theme.soft[state], state === LEFT) : color));
  theme.font = getComputedStyle(document.body).fontFamily;
}

// A pattern of lines in two colors, because states must differ without color too.
function hatched(color, ground, isLevel) {
  const tile = make("canvas", { width: 6, height: 6 });
  const context = tile.getContext("2d");
  context.fillStyle = ground;
  context.fillRect(0, 0, 6, 6);
  context.strokeStyle = color;
  context.lineWidth = isLevel ? 3 : 2.6;
  context.beginPath();
  for (const shift of isLevel ? [1.5] : [-6, 0, 6]) {
    context.moveTo(isLevel ? 0 : shift - 1, isLevel ? shift : 7);
    context.lineTo(isLevel ? 6 : shift + 7, isLevel ? shift : -1);
  }
  context.stroke();
  return context.createPattern(tile, "repeat");
}

// Cache of texts that are cut to a width. Every frame needs the same texts.
const fittedTexts = new Map();
function fitted(context, text, room) {
  const width = Math.floor(room / 4) * 4;
  const key = `${context.font}|${width}|${text}`;
  if (!fittedTexts.has(key)) {
    if (fittedTexts.size > 50000) fittedTexts.clear();
    fittedTexts.set(key, cutTo(context, text, width));
  }
  return fittedTexts.get(key);
}

function cutTo(context, text, room) {
  if (room < 12) return "";
  if (context.measureText(text).width <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low ? `${text.slice(0, low)}…` : "";
}

// The left, top, right and bottom of the rectangle around all rectangles.
function edgesOf(boxes) {
  const edges = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y, width, height] of boxes) {
    edges[0] = Math.min(edges[0], x);
    edges[1] = Math.min(edges[1], y);
    edges[2] = Math.max(edges[2], x + width);
    edges[3] = Math.max(edges[3], y + height);
  }
  return edges;
}

class Drawing {
  constructor(side, page) {
    this.page = page;
    this.canvas = make("canvas", { tabindex: 0, role: "application" });
    this.context = this.canvas.getContext("2d");
    this.pointers = new Map();
    this.element = make("div", {}, make("p", { class: "name" }), this.canvas);
    this.show(side);
    this.listen();
    new ResizeObserver(() => this.resized()).observe(this.canvas);
  }

  show(side) {
    this.side = side;
    this.places = undefined;
    this.canvas.setAttribute("aria-label",
      `Graph of ${side.label}: ${counted(side.size, "node")} in ` +
      `${counted(side.data.partitions.length, "partition")}. Arrow keys step through the nodes. The lists have the same content.`);
    this.element.firstChild.textContent = this.page.lettered(side);
    this.begin();
  }

  box(number) {
    return this.page.closed ? [...this.closedPlaces()[number], CLOSED.width, CLOSED.height] : this.side.data.boxes[number];
  }

  // Places closed boxes in columns. The height of the columns is chosen so that the boxes are as large as possible.
  closedPlaces() {
    if (this.places) return this.places;
    const [width, height] = [this.canvas.clientWidth || 800, this.canvas.clientHeight || 500];
    const [across, down] = [CLOSED.width + GAP, CLOSED.height + GAP];
    const { rows } = this.side.data;
    let best = { scale: 0, columns: [] };
    for (let count = rows.length; count >= 1; count -= 1) {
      const columns = [];
      for (let start = 0; start < rows.length; start += count) columns.push(rows.slice(start, start + count));
      const places = columns.reduce((sum, column) => sum + Math.max(...column.map((row) => row.length)), 0);
      const scale = Math.min(width / (places * across), height / (count * down));
      if (scale > best.scale) best = { scale, columns };
      if (places * across > count * down * 8) break;
    }
    this.places = new Array(this.side.data.boxes.length);
    let left = 0;
    for (const column of best.columns) {
      column.forEach((row, place) => row.forEach((number, at) => { this.places[number] = [(left + at) * across, place * down]; }));
      left += Math.max(...column.map((row) => row.length));
    }
    return this.places;
  }

  nodeBox(position) {
    const { width, height } = this.side.small.has(position) ? SMALL : NODE;
    return [this.side.data.x[position], this.side.data.y[position], width, height];
  }

  bounds() {
    return edgesOf(this.side.data.boxes.map((box, number) => this.box(number)));
  }

  resized() {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!width || (this.canvas.width === Math.round(width * ratio) && this.canvas.height === Math.round(height * ratio))) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.places = undefined;
    if (this.again) this.again();
    this.paint();
  }

  zoomTo(left, top, right, bottom, largest = 1.4) {
    const [width, height] = [this.canvas.clientWidth || 800, this.canvas.clientHeight || 500];
    this.scale = Math.min(inner(width) / (right - left), inner(height) / (bottom - top), largest);
    this.x = width / 2 - ((left + right) / 2) * this.scale;
    this.y = height / 2 - ((top + bottom) / 2) * this.scale;
    this.redraw();
  }

  fit() {
    this.zoomTo(...this.bounds());
    this.smallest = this.scale / 2;
    this.again = this.fit;
  }

  // Shows the whole drawing. If its labels would be too small to read, shows the first nodes instead.
  begin() {
    this.fit();
    const { side } = this;
    if (!this.page.closed && this.scale < READABLE && side.size && side.size <= MOST_BEGUN) {
      const [left, top, right] = this.bounds();
      const [width, height] = [this.canvas.clientWidth || 800, this.canvas.clientHeight || 500];
      this.scale = READABLE;
      const [x] = this.nodeBox(side.order.find((position) => !side.small.has(position)) ?? 0);
      this.x = this.start(width, x + NODE.width / 2, left, right);
      this.y = (height - inner(height)) / 2 - top * this.scale;
    }
    this.again = this.begin;
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.smallest), LARGEST_SCALE);
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.again = undefined;
    this.redraw();
  }

  reveal(position) {
    if (this.page.closed) this.bring([this.box(this.side.data.partition[position])], 0.5);
    else this.bring([this.nodeBox(position)], 0.75);
  }

  revealMarks(positions) {
    const { partition } = this.side.data;
    if (this.page.closed) this.bring([...new Set(positions.map((position) => partition[position]))].map((number) => this.box(number)));
    else this.bring(positions.map((position) => this.nodeBox(position)));
  }

  openBox(number) {
    const [x, y, width, height] = this.box(number);
    this.again = undefined;
    this.zoomTo(x, y, x + width, y + height);
  }

  // Brings all rectangles into view. Nothing moves if they are already in view. The scale changes only if the rectangles do not fit
  // or are too small.
  bring(boxes, least) {
    if (!boxes.length) return;
    const [left, top, right, bottom] = edgesOf(boxes);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const [x, y] = [left * this.scale + this.x, top * this.scale + this.y];
    const inside = x >= 0 && y >= 0 && right * this.scale + this.x <= width && bottom * this.scale + this.y <= height;
    const smallest = least ?? SMALLEST_MARK / Math.max(right - left, bottom - top);
    if (inside && this.scale >= smallest) return;
    const largest = Math.min(inner(width) / (right - left), inner(height) / (bottom - top));
    this.scale = Math.min(Math.max(this.scale, smallest), largest);
    const whole = this.bounds();
    this.x = this.start(width, (left + right) / 2, whole[0], whole[2]);
    this.y = this.start(height, (top + bottom) / 2, whole[1], whole[3]);
    this.again = undefined;
    this.redraw();
  }

  // The start of the drawing on an axis, so that `middle` is in the middle of `room`. Near an edge, the drawing fills the room instead.
  start(room, middle, from, to) {
    const [first, last] = [MARGIN - from * this.scale, room - MARGIN - to * this.scale];
    return first <= last ? (first + last) / 2 : Math.min(Math.max(room / 2 - middle * this.scale, last), first);
  }

  pick(clientX, clientY) {
    const place = this.canvas.getBoundingClientRect();
    const [x, y] = [(clientX - place.left - this.x) / this.scale, (clientY - place.top - this.y) / this.scale];
    for (let number = 0; number < this.side.data.boxes.length; number += 1) {
      const [left, top, width, height] = this.box(number);
      if (x < left || y < top || x > left + width || y > top + height) continue;
      if (!this.page.closed && this.scale * NODE.height >= SMALLEST_NODE) {
        for (const position of this.side.data.partitions[number].nodes) {
          const [nodeX, nodeY, nodeWidth, nodeHeight] = this.nodeBox(position);
          if (x >= nodeX && x <= nodeX + nodeWidth && y >= nodeY && y <= nodeY + nodeHeight) return { number, position };
        }
      }
      return { number };
    }
    return {};
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const place = canvas.getBoundingClientRect();
      const step = event.deltaMode === 1 ? 18 : 1;
      this.zoom(Math.exp(-event.deltaY * step * 0.0016), event.clientX - place.left, event.clientY - place.top);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
      this.moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => this.dragged(event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => {
        if (end === "pointerup" && this.pointers.size === 1 && this.moved < 5) this.clicked(event);
        this.pointers.delete(event.pointerId);
      });
    }
    canvas.addEventListener("dblclick", (event) => {
      const { number } = this.pick(event.clientX, event.clientY);
      if (number !== undefined) this.page.open(this, number);
    });
    canvas.addEventListener("keydown", (event) => this.page.key(event, this));
  }

  dragged(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const now = [event.clientX, event.clientY];
    this.moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    if (others.length) {
      const place = this.canvas.getBoundingClientRect();
      const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
      const middle = [(now[0] + others[0][0]) / 2 - place.left, (now[1] + others[0][1]) / 2 - place.top];
      this.zoom(distance(now, others[0]) / distance(before, others[0]), ...middle);
    }
    this.x += (now[0] - before[0]) / (others.length + 1);
    this.y += (now[1] - before[1]) / (others.length + 1);
    this.again = undefined;
    this.pointers.set(event.pointerId, now);
    this.redraw();
  }

  clicked(event) {
    const { number, position } = this.pick(event.clientX, event.clientY);
    if (position !== undefined) this.page.select(this.side, position, this);
    else if (number !== undefined) this.page.selectPartition(this.side, number, this);
  }

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.pending = false;
    const { context, canvas, side } = this;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    this.marks = this.page.marksOf(side);
    this.faint = this.page.faintOf(side);
    this.selected = this.page.selectedIn(side);
    const seen = [];
    for (let number = 0; number < side.data.boxes.length; number += 1) {
      const [x, y, width, height] = this.box(number);
      const at = [x * this.scale + this.x, y * this.scale + this.y, width * this.scale, height * this.scale];
      if (at[0] < canvas.clientWidth && at[1] < canvas.clientHeight && at[0] + at[2] > 0 && at[1] + at[3] > 0) seen.push([number, at]);
    }
    const hasEdges = !this.page.closed && this.scale > SMALLEST_EDGES;
    if (hasEdges) this.paintEdges(true);
    else this.paintBoundaries();
    for (const [number, at] of seen) this.paintBox(number, at);
    if (hasEdges) this.paintEdges(false);
    if (!this.page.closed && this.scale * NODE.height >= SMALLEST_NODE) this.paintNodes(seen.map(([number]) => number));
    if (this.selected.position !== undefined && !this.page.closed) this.paintSelected();
  }

  // The lines between boxes, from the lower to the upper edge, or to the next column of boxes.
  paintBoundaries() {
    const { context } = this;
    const drawsFar = this.side.boundaries.length <= 40;
    for (const { from, to } of this.side.boundaries) {
      const near = to - from === 1;
      const chosen = from === this.selected.partition || to === this.selected.partition;
      if (!near && !chosen && !drawsFar) continue;
      const path = new Path2D();
      if (!this.line(path, this.onCanvas(this.box(from)), this.onCanvas(this.box(to)), CLOSED.height * this.scale)) continue;
      context.strokeStyle = chosen ? theme.accent : theme.edge;
      context.globalAlpha = chosen ? 1 : near ? 0.8 : 0.3;
      context.lineWidth = near || chosen ? 1.6 : 1;
      context.stroke(path);
    }
    context.globalAlpha = 1;
  }

  onCanvas([x, y, width, height]) {
    return [x * this.scale + this.x, y * this.scale + this.y, width * this.scale, height * this.scale];
  }

  // Adds the line between two rectangles on the canvas to a path, unless the line is out of view. Downwards, the line is straight, or
  // an arc around what is between if the distance is more than `between`. To another column, the line leaves and enters at the sides.
  line(path, [x, y, width, height], [toX, toY, toWidth, toHeight], between) {
    const [right, bottom] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const room = NODE.width * this.scale;
    if (Math.max(x + width, toX + toWidth) + room < 0 || Math.min(x, toX) > right || Math.max(y, toY) + toHeight < 0
      || Math.min(y, toY) > bottom) return false;
    const down = toY - y - height;
    const aside = Math.abs(toX + toWidth / 2 - x - width / 2);
    const isDown = down > 0 && (aside < room || down < 2 * NODE.height * this.scale);
    if (isDown && (down < between || aside > room / 2)) {
      path.moveTo(x + width / 2, y + height);
      path.lineTo(toX + toWidth / 2, toY);
    } else if (isDown) {
      const bend = Math.max(x + width, toX + toWidth) + Math.min(14 * this.scale + down / 14, room / 2);
      path.moveTo(x + width, y + height / 2);
      path.bezierCurveTo(bend, y + height / 2, bend, toY + toHeight / 2, toX + toWidth, toY + toHeight / 2);
    } else {
      const sign = toX > x ? 1 : -1;
      const [start, end] = sign > 0 ? [x + width, toX] : [x, toX + toWidth];
      const bend = sign * Math.min(Math.max(Math.abs(end - start) / 2, 16 * this.scale), 90);
      path.moveTo(start, y + height / 2);
      path.bezierCurveTo(start + bend, y + height / 2, end - bend, toY + toHeight / 2, end, toY + toHeight / 2);
    }
    return true;
  }

  edge(path, from, to) {
    const { partition } = this.side.data;
    const between = partition[from] === partition[to] ? NODE.height : HEADER + 2 * NODE.height;
    this.line(path, this.onCanvas(this.nodeBox(from)), this.onCanvas(this.nodeBox(to)), between * this.scale);
  }

  // The edges in partitions, or between them. An edge between partitions is a copy between processors, so its line is thicker. Boxes
  // hide its ends.
  paintEdges(isBetween) {
    const { context, side } = this;
    const { partition } = side.data;
    const path = new Path2D();
    for (const [from, to] of side.edges) {
      if (!side.small.has(from) && (partition[from] !== partition[to]) === isBetween) this.edge(path, from, to);
    }
    context.strokeStyle = theme.edge;
    context.globalAlpha = 0.8;
    context.lineWidth = isBetween ? 2 : 1;
    context.stroke(path);
    context.globalAlpha = 1;
  }

  paintBox(number, [x, y, width, height]) {
    const { context, side } = this;
    const partition = side.data.partitions[number];
    const state = boxState(side, partition);
    const marked = this.marks ? partition.nodes.reduce((sum, position) => sum + this.marks.has(position), 0) : 0;
    const chosen = this.selected.partition === number;
    const withNodes = !this.page.closed && this.scale * NODE.height >= SMALLEST_NODE;
    const pale = this.marks && !marked && !withNodes && !(this.faint && partition.nodes.some((position) => this.faint.has(position)));
    context.globalAlpha = pale ? 0.35 : 1;
    context.fillStyle = withNodes || height > 12 ? theme.soft[state] : theme.states[state];
    context.strokeStyle = chosen || marked ? theme.mark : theme.states[state];
    context.lineWidth = chosen || (marked && !withNodes) ? 3 : 1.3;
    context.beginPath();
    context.roundRect(x, y, width, height, Math.min(7, height / 3, width / 3));
    context.fill();
    context.stroke();
    const size = Math.round(Math.min(12, Math.max(8, 13 * this.scale)));
    const rows = this.page.closed ? Math.floor(height / (size * 1.25)) : Number(HEADER * this.scale >= size * 1.25);
    if (rows >= 1 && width > 56) {
      const place = side.data.partitioned ? `${number} ${partition.delegated ? side.view.delegate : side.elsewhere}, ` : `${side.elsewhere}, `;
      const operators = operatorsText(partition);
      const found = marked ? `${counted(marked, "node")} marked` : `in ${bytesText(partition.bytes[0])}, out ${bytesText(partition.bytes[1])}`;
      const texts = [`${place}${counted(partition.nodes.length, "node")}`, operators, ...(this.page.closed ? [found] : [])];
      context.textAlign = "left";
      texts.slice(0, rows).forEach((text, row) => {
        context.font = `${row ? "" : "600 "}${size}px ${theme.font}`;
        context.fillStyle = row === 2 && !marked ? theme.faint : theme.ink;
        context.fillText(fitted(context, text, width - 10), x + 6, y + size * 1.25 * (row + 1) - 1);
      });
    }
    context.globalAlpha = 1;
  }

  paintNodes(numbers) {
    const { context, side, scale } = this;
    const [right, bottom] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const shown = [];
    const paths = STATES.map(() => new Path2D());
    const unmarked = new Path2D();
    const faint = STATES.map(() => new Path2D());
    const marks = new Path2D();
    const moved = new Path2D();
    const differing = this.page.movedOf(side);
    // At small scales, nodes have no round corners and no outline, because an outline hides a small node. Unmarked nodes are pale.
    const corner = NODE.height * scale > 8 ? Math.min(4, 7 * scale) : 0;
    for (const number of numbers) {
      for (const position of side.data.partitions[number].nodes) {
        const [left, top, width, height] = this.onCanvas(this.nodeBox(position));
        if (left > right || top > bottom || left + width < 0 || top + height < 0) continue;
        shown.push(position);
        const isMarked = !this.marks || this.marks.has(position);
        const path = (isMarked ? paths : this.faint && this.faint.has(position) ? faint : [])[side.states[position]] ?? unmarked;
        if (corner) path.roundRect(left, top, width, height, corner);
        else path.rect(left, top, width, height);
        if (corner && this.marks && this.marks.has(position)) marks.rect(left - 2, top - 2, width + 4, height + 4);
        const around = corner ? 3 : 0;
        if (differing && differing.has(position)) moved.rect(left - around, top - around, width + 2 * around, height + 2 * around);
      }
    }
    theme.states.forEach((color, state) => {
      const isFramed = corner && [REFUSED, LEFT].includes(state);
      context.fillStyle = isFramed ? theme.paper : theme.fills[state];
      context.fill(paths[state]);
      if (!isFramed) return;
      context.lineWidth = 2;
      context.strokeStyle = color;
      context.setLineDash(state === LEFT ? [4, 3] : []);
      context.stroke(paths[state]);
      context.setLineDash([]);
    });
    context.globalAlpha = 0.5;
    theme.states.forEach((color, state) => {
      context.fillStyle = color;
      context.fill(faint[state]);
    });
    context.fillStyle = theme.edge;
    context.globalAlpha = 0.4;
    context.fill(unmarked);
    context.globalAlpha = 1;
    context.strokeStyle = theme.mark;
    context.lineWidth = 2.5;
    context.stroke(marks);
    if (corner) context.setLineDash([5, 3]);
    else context.lineWidth = 1;
    context.strokeStyle = theme.bad;
    context.stroke(moved);
    context.setLineDash([]);
    context.textAlign = "left";
    for (const position of shown) {
      const [left, top, width, height] = this.onCanvas(this.nodeBox(position));
      if (height < SMALLEST_LABEL) continue;
      const size = Math.round(Math.min(height * 0.43, 15) * 2) / 2;
      const isFramed = [REFUSED, LEFT].includes(side.states[position]) && (!this.marks || this.marks.has(position));
      context.font = `${size}px ${theme.font}`;
      context.fillStyle = isFramed ? theme.ink : theme.paper;
      context.fillText(fitted(context, side.op(position), width - size * 0.5), left + size * 0.3, top + height * 0.66);
    }
  }

  paintSelected() {
    const { context, side } = this;
    const { position } = this.selected;
    const lines = new Path2D();
    for (const node of side.sources(position)) this.edge(lines, node, position);
    for (const node of side.targets(position)) this.edge(lines, position, node);
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    context.stroke(lines);
    const [left, top, width, height] = this.onCanvas(this.nodeBox(position));
    context.lineWidth = 3;
    context.strokeStyle = theme.ink;
    context.strokeRect(left - 3, top - 3, width + 6, height + 6);
  }
}
