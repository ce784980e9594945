// The page: the state of all choices, and the updates after a change.

const COLLAPSED_FROM = 400;

class Page {
  constructor() {
    this.shown = content.first ?? 0;
    this.other = content.views.length === 2 ? 1 - this.shown : -1;
    this.subgraph = 0;
    this.rows = ROWS_SHOWN;
    this.byTime = false;
    this.tab = "causes";
    this.found = [];
    this.closed = this.isLarge();
    readTheme();
    this.strips = [];
    this.drawings = [];
    this.arena = new ArenaPicture();
    this.share = new Share(this, options);
    this.fill();
    this.listen();
    this.arrange();
    this.goTo(fragment());
  }

  // Shows the target and selects the node that a fragment names, such as target=coreml&node=183.
  goTo(given) {
    const target = given.get("target");
    const model = Number(given.get("model") ?? 0);
    const isNamed = (view) => view.model === model && view.delegate === target;
    const numbers = content.views.flatMap((view, number) => (isNamed(view) ? [number] : []));
    const number = numbers[Number(given.get("view") ?? 0)] ?? numbers[0];
    if (number === undefined) return;
    this.subgraph = Math.min(Number(given.get("subgraph") ?? 0) || 0, content.views[number].subgraphs.length - 1);
    this.show(number);
    const position = given.has("node") ? this.side.positions.get(Number(given.get("node"))) : undefined;
    if (position !== undefined) this.select(this.side, position);
  }

  // Returns the fragment of the target that is shown and of the selected node.
  place() {
    const { model, delegate } = this.side.view;
    const same = content.views.flatMap((view, number) => (view.model === model && view.delegate === delegate ? [number] : []));
    const place = new URLSearchParams({ target: delegate });
    if (model) place.set("model", model);
    if (same.indexOf(this.shown) > 0) place.set("view", same.indexOf(this.shown));
    if (this.subgraph) place.set("subgraph", this.subgraph);
    if (this.chosen?.position !== undefined && this.chosen.side === this.side) place.set("node", this.side.graph.nodes[this.chosen.position]);
    return place.toString();
  }

  // Makes the address of the page the link to the place. The address of a result stays, because it is long.
  showAddress() {
    clearTimeout(this.addressing);
    if (fragment().has(RESULT)) return;
    this.addressing = setTimeout(() => {
      try {
        history.replaceState(null, "", `#${this.place()}`);
      } catch {
        // A page without an address, such as a frame, has no link.
      }
    }, 300);
  }

  isLarge() {
    const side = sideOf(this.shown, this.subgraph);
    return side.size > COLLAPSED_FROM && side.data.partitions.length > 1;
  }

  get side() {
    return sideOf(this.shown, this.subgraph);
  }

  besides(side) {
    if (this.other < 0) return undefined;
    return side.number === this.shown ? sideOf(this.other, this.subgraph) : sideOf(this.shown, this.subgraph);
  }

  // The label of a side with its letter, for the display of two sides.
  lettered(side) {
    return `${side.number === this.shown ? "A" : "B"}: ${side.label}`;
  }

  drawingOf(side) {
    return this.drawings.find((drawing) => drawing.side === side) || this.drawings[0];
  }

  // Fills the parts of the page that never change.
  fill() {
    const title = (view) => (content.models.length > 1 ? `${content.models[view.model].name}: ` : "");
    content.views.forEach((view, number) => {
      const text = `${title(view)}${sideOf(number, 0).title}`;
      byId("shown").append(make("option", { value: number }, text));
      byId("beside").append(make("option", { value: number }, text));
    });
    byId("beside").prepend(make("option", { value: -1, selected: true }, "nothing"));
    byId("beside-label").hidden = content.views.length < 2;
    byId("targets-section").hidden = content.views.length < 2;
    byId("targets-section").open = cardsElement().hidden;
    const most = Math.max(...content.views.map((view) => view.subgraphs.length));
    byId("subgraph-label").hidden = most < 2;
    for (let number = 0; number < most; number += 1) byId("subgraph").append(make("option", { value: number }, String(number)));
    const used = new Set(content.views.flatMap((view) => view.subgraphs.flatMap((subgraph) => subgraph.states
      .map((state) => (state === DELEGATED && view.fails ? TAKEN : state)))));
    byId("legend").append(...[...used].sort().map((number) => make("span", {},
      make("span", { class: `swatch ${STATES[number]}`, "aria-hidden": "true" }),
      [...new Set(content.views.map((view) => stateWords(view.words)[number]))].join(" / "))));
    const rules = content.views.every((view) => view.micro) ? "the rules of the runtime's kernels" : "the delegate's rules";
    byId("footer").append(make("p", {}, `Made by delegate-sim ${content.version}. The results are simulated with ${rules}. ` +
      "Multiply-adds and bytes are counts, not an estimate of latency."));
    this.tabs = [["causes", "Causes"], ["node", "Node"], ["boundaries", "Boundaries"], ["nodes", "Nodes"], ["differences", "Differences"]];
    byId("panel-nodes").after(make("div", { id: "panel-differences", role: "tabpanel", tabindex: 0 }));
    for (const [name, text] of this.tabs) {
      byId("tabs").append(make("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => this.showTab(name) }, text));
      byId(`panel-${name}`).setAttribute("aria-labelledby", `tab-${name}`);
    }
  }

  listen() {
    addEventListener("hashchange", () => this.goTo(fragment()));
    cardsElement().addEventListener("click", (event) => {
      const chosen = event.target.closest("a");
      if (!chosen) return;
      event.preventDefault();
      this.goTo(new URLSearchParams(chosen.getAttribute("href").slice(1)));
      byId("verdicts").scrollIntoView({ block: "start" });
    });
    const choose = (id, action) => byId(id).addEventListener("change", () => action(Number(byId(id).value)));
    choose("shown", (number) => this.show(number));
    choose("beside", (number) => {
      this.other = number;
      this.tab = number >= 0 ? "differences" : "causes";
      this.arrange();
    });
    choose("subgraph", (number) => {
      this.subgraph = number;
      this.forget();
      this.arrange();
    });
    byId("search").addEventListener("input", () => this.search());
    byId("search").addEventListener("keydown", (event) => event.key === "Enter" && this.step(event.shiftKey ? -1 : 1));
    byId("next").addEventListener("click", () => this.step(1));
    byId("previous").addEventListener("click", () => this.step(-1));
    byId("in").addEventListener("click", () => this.drawings.forEach((drawing) => drawing.zoom(1.5)));
    byId("out").addEventListener("click", () => this.drawings.forEach((drawing) => drawing.zoom(1 / 1.5)));
    byId("fit").addEventListener("click", () => this.drawings.forEach((drawing) => drawing.fit()));
    byId("closed").addEventListener("click", () => this.setClosed(!this.closed));
    byId("tabs").addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const names = this.tabs.map(([name]) => name).filter((name) => !byId(`tab-${name}`).hidden);
      this.showTab(names[(names.indexOf(this.tab) + step + names.length) % names.length]);
      byId(`tab-${this.tab}`).focus();
    });
    for (const query of ["(prefers-color-scheme: dark)", "print"]) {
      matchMedia(query).addEventListener("change", () => {
        readTheme();
        this.paint();
      });
    }
  }

  // Clears the selection in the graph.
  forget() {
    this.chosen = undefined;
    this.cause = undefined;
    this.found = [];
    byId("search").value = "";
    byId("matches").textContent = "";
    this.rows = ROWS_SHOWN;
  }

  show(number) {
    const before = this.chosen && sideOf(this.shown, this.subgraph);
    const position = before && this.chosen.position;
    this.shown = number;
    if (this.other === number) this.other = -1;
    this.forget();
    const kept = position === undefined ? undefined : before.partner(position, this.side);
    this.arrange();
    if (kept !== undefined) this.select(this.side, kept);
    this.showAddress();
  }

  // Updates the whole page for the sides that are shown.
  arrange() {
    const shown = [this.side, ...(this.other >= 0 ? [sideOf(this.other, this.subgraph)] : [])];
    byId("shown").value = this.shown;
    byId("beside").value = this.other;
    for (const option of byId("beside").options) option.hidden = option.disabled = Number(option.value) === this.shown;
    const { model } = this.side;
    byId("model").replaceChildren(breakable(model.name));
    byId("about").textContent = `${bytesText(model.bytes)}, ${counted(this.side.view.measures.nodes, "node")}, sha256 ${model.sha256.slice(0, 12)}`;
    this.strips = shown.map((side) => new Strip(side, this));
    byId("strips").replaceChildren(...this.strips.flatMap((strip) => [...(shown.length > 1 ? [strip.label] : []), strip.element,
      timeStrip(strip.side, this)].filter((part) => part !== null)));
    this.drawings = shown.map((side) => new Drawing(side, this));
    byId("drawings").replaceChildren(...this.drawings.map((drawing) => drawing.element));
    byId("drawings").className = shown.length > 1 ? "two" : "";
    this.drawings.forEach((drawing) => { drawing.element.firstChild.hidden = shown.length < 2; });
    this.moved = this.other < 0 ? undefined : new Map(shown.map((side) => {
      const { moved, alone } = side.differences(this.besides(side));
      return [side, new Set([...moved, ...alone])];
    }));
    byId("tab-differences").hidden = this.other < 0;
    if (this.other < 0 && this.tab === "differences") this.tab = "causes";
    this.verdicts(shown);
    this.arena.show(model);
    this.setClosed(this.closed);
    this.showTab(this.tab);
    this.strips.forEach((strip) => strip.paint());
    this.drawings.forEach((drawing) => drawing.resized());
  }

  verdicts(shown) {
    byId("verdicts").replaceChildren(...shown.map((side) => verdictCard(side, shown.length > 1 ? this.lettered(side) : "")));
    byId("verdicts").className = shown.length > 1 ? "two" : "";
    byId("targets").replaceChildren(targetsTable(this));
    byId("strip-note").textContent = `in execution order; each cell is a node${this.side.data.partitioned ? ", and each gap is a boundary" : ""}`;
  }

  setClosed(closed) {
    this.closed = closed;
    byId("closed").setAttribute("aria-pressed", String(closed));
    byId("closed").hidden = this.side.data.partitions.length < 2;
    if (byId("closed").hidden) this.closed = false;
    this.drawings.forEach((drawing) => drawing.begin());
  }

  // Scrolls to the drawing if it is above the lists, on a narrow screen.
  showDrawing(side) {
    this.drawingOf(side).element.scrollIntoView({ block: "nearest" });
  }

  showInside(side, number) {
    this.open(this.drawingOf(side), number);
    this.showDrawing(side);
  }

  open(drawing, number) {
    if (this.closed) this.setClosed(false);
    drawing.openBox(number);
  }

  showTab(name) {
    const inPanel = document.activeElement.closest("[role=tabpanel]");
    this.tab = name;
    for (const [other] of this.tabs) {
      byId(`tab-${other}`).setAttribute("aria-selected", String(other === name));
      byId(`tab-${other}`).tabIndex = other === name ? 0 : -1;
      byId(`panel-${other}`).hidden = other !== name;
    }
    this.fillPanels();
    // The element with the focus may be gone, for example a link to a node.
    if (inPanel) byId(`panel-${name}`).focus();
  }

  fillPanels() {
    const side = this.chosen ? this.chosen.side : this.side;
    const panels = { causes: causesPanel, node: nodePanel, boundaries: boundariesPanel, nodes: nodesPanel };
    for (const [name] of this.tabs) {
      // Hidden panels are only filled for printing: the causes and the boundaries.
      const wanted = name === this.tab || name === "causes" || name === "boundaries";
      const parts = !wanted ? [] : name === "differences" ? (this.other < 0 ? [] : differencesPanel(this.side, this.besides(this.side), this)) : panels[name](side, this);
      const about = this.other >= 0 && name !== "differences" ? [make("p", { class: "name" }, breakable(this.lettered(side)))] : [];
      byId(`panel-${name}`).replaceChildren(...about, ...parts.filter((part) => part !== null));
    }
  }

  sortByTime() {
    this.byTime = !this.byTime;
    this.fillPanels();
  }

  showMore() {
    this.rows += ROWS_SHOWN * 2;
    this.fillPanels();
  }

  // Positions of the marked nodes, or undefined: the nodes of the chosen cause, or the results of the search.
  marksOf(side) {
    if (this.cause !== undefined && side.number === (this.chosenCauseView ?? this.shown)) return ownPositions(side, side.view.causes[this.cause]);
    const text = byId("search").value.trim().toLowerCase();
    if (!text) return undefined;
    if (!this.searched || this.searched.text !== text) this.searched = { text, found: new Map() };
    if (!this.searched.found.has(side)) this.searched.found.set(side, new Set(this.matching(side, text)));
    return this.searched.found.get(side);
  }

  // Positions of the nodes that the fix of the chosen cause also frees, or undefined.
  faintOf(side) {
    if (this.cause === undefined || side.number !== (this.chosenCauseView ?? this.shown)) return undefined;
    return causePositions(side, side.view.causes[this.cause]);
  }

  movedOf(side) {
    return this.moved && this.moved.get(side);
  }

  selectedIn(side) {
    if (!this.chosen) return {};
    if (this.chosen.side === side) return this.chosen;
    if (this.chosen.position === undefined || !this.besides(side)) return {};
    const position = this.chosen.side.partner(this.chosen.position, side);
    return position === undefined ? {} : { position, partition: side.data.partition[position] };
  }

  matching(side, text) {
    const found = [];
    const tensorHits = side.graph.tensors.name.map((name) => name.toLowerCase().includes(text));
    const reasonHits = side.view.reasons.map((reason) => reason.code.toLowerCase().includes(text));
    for (const position of side.order) {
      const hit = String(side.graph.nodes[position]) === text || side.op(position).toLowerCase().includes(text)
        || side.graph.outputs[position].some((tensor) => tensorHits[tensor]) || side.graph.inputs[position].some((tensor) => tensorHits[tensor])
        || (side.data.reasons[position] || []).some((number) => reasonHits[number]);
      if (hit) found.push(position);
    }
    return found;
  }

  search() {
    this.cause = undefined;
    const marks = this.marksOf(this.side);
    this.found = marks ? this.side.order.filter((position) => marks.has(position)) : [];
    this.match = -1;
    byId("matches").textContent = marks ? (this.found.length ? counted(this.found.length, "node") : "nothing found") : "";
    this.fillPanels();
    this.paint();
  }

  step(by) {
    if (!this.found.length) return;
    this.match = this.match < 0 && by < 0 ? this.found.length - 1 : (this.match + by + this.found.length) % this.found.length;
    byId("matches").textContent = `${formatted(this.match + 1)} of ${formatted(this.found.length)}`;
    this.select(this.side, this.found[this.match]);
  }

  // Marks the nodes of a cause and brings them into view. Without a cause, removes all marks.
  chooseCause(number) {
    this.chosenCauseView = this.chosen ? this.chosen.side.number : this.shown;
    byId("search").value = "";
    byId("matches").textContent = "";
    this.cause = number;
    const panel = byId("panel-causes");
    const top = panel.scrollTop;
    this.fillPanels();
    if (number !== undefined) panel.querySelectorAll(".causes > li > button")[number].focus({ preventScroll: true });
    panel.scrollTop = top;
    const side = sideOf(this.chosenCauseView, this.subgraph);
    if (number !== undefined) {
      const marks = this.marksOf(side);
      this.drawingOf(side).revealMarks([...marks]);
      this.announce(marksText(side, side.view.causes[number]));
    }
    this.paint();
  }

  // Selects a node and brings it into view. Nothing moves in the drawing `clicked`, where the user clicked the node.
  select(side, position, clicked) {
    this.chosen = { side, position, partition: side.data.partition[position] };
    this.showTab("node");
    for (const drawing of this.drawings) {
      const own = this.selectedIn(drawing.side).position;
      if (own !== undefined && drawing !== clicked) drawing.reveal(own);
    }
    this.paint();
    const reasons = side.reasons(position).map((reason) => reason.message).join("; ");
    this.showAddress();
    this.announce(`Node ${side.graph.nodes[position]} ${side.op(position)}, ${side.state_word(position)}${reasons ? `: ${reasons}` : ""}`);
  }

  // Selects a partition and brings it into view, without the marks of a cause, which would hide its nodes.
  selectPartition(side, number, clicked) {
    this.cause = undefined;
    this.chosen = { side, partition: number };
    this.showTab("node");
    const drawing = this.drawingOf(side);
    if (drawing !== clicked) drawing.bring([drawing.box(number)]);
    this.paint();
    const partition = side.data.partitions[number];
    this.announce(`Partition ${number} on ${partition.delegated ? side.view.delegate : side.view.words.elsewhere}, ${counted(partition.nodes.length, "node")}`);
  }

  key(event, drawing) {
    const { side } = drawing;
    const position = this.selectedIn(side).position;
    const place = position === undefined ? -1 : side.place.get(position);
    const go = (to) => to !== undefined && this.select(side, to);
    const actions = {
      ArrowRight: () => go(side.order[Math.min(place + 1, side.size - 1)]),
      ArrowLeft: () => go(side.order[Math.max(place - 1, 0)]),
      ArrowDown: () => go(position === undefined ? side.order[0] : side.targets(position)[0]),
      ArrowUp: () => go(position === undefined ? side.order[0] : side.sources(position)[0]),
      Home: () => go(side.order[0]),
      End: () => go(side.order[side.size - 1]),
      Enter: () => this.open(drawing, this.selectedIn(side).partition ?? 0),
      "+": () => drawing.zoom(1.4),
      "-": () => drawing.zoom(1 / 1.4),
      0: () => drawing.fit(),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  announce(text) {
    byId("announcer").textContent = text;
  }

  paint() {
    this.strips.forEach((strip) => strip.paint());
    this.drawings.forEach((drawing) => drawing.redraw());
  }
}

// Hidden drawings have no size.
document.body.classList.add("ready");
const page = new Page();
