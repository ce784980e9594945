// The verdicts on the sides that are shown, and the table of all targets.

function verdictCard(side, label) {
  const { view } = side;
  const log = [...view.log_lines, ...view.warnings.map((warning) => `warning: ${warning}`)].join("\n");
  return make("div", { class: `verdict ${view.grade}` },
    label ? make("p", { class: "name" }, breakable(label)) : null,
    make("p", { class: "headline" }, breakable(`${view.headline}.`)),
    side.fails || !side.size ? null : make("ul", { class: "facts" }, ...factsOf(view)),
    view.api_defaults ? make("p", {}, breakable(`${view.api_defaults}.`)) : null,
    view.note ? make("p", {}, breakable(view.note)) : null,
    ...refusalParts(view),
    log ? make("pre", { class: "log", tabindex: 0, role: "region", "aria-label": `What the runtime prints${label ? `, ${label}` : ""}` }, log) : null);
}

function measureText({ key, unit }, measures) {
  return (unit === "bytes" ? bytesText : formatted)(measures[key]);
}

function factsOf({ measures, micro, words }) {
  const facts = [
    [share(measures.delegated_nodes, measures.nodes), `of nodes (${formatted(measures.delegated_nodes)} of ${formatted(measures.nodes)})`],
    ...(measures.multiply_adds ? [[share(measures.delegated_multiply_adds, measures.multiply_adds), "of multiply-adds"]] : []),
  ];
  const boundaries = micro ? [] : [
    [formatted(measures.partitions), measures.partitions === 1 ? "partition" : "partitions"],
    [formatted(measures.delegate_kernels), measures.delegate_kernels === 1 ? words.kernel : words.kernels],
    ...content.further.map((column) => [measureText(column, measures), column.title]),
  ];
  return [...facts, ...boundaries].map(([value, name]) => make("li", {}, make("b", {}, value), " ", make("span", {}, name)));
}

// The parts of a refusal that are not in the headline: the code, the hint, and the message if the headline is shortened.
function refusalParts({ refusal, headline }) {
  if (!refusal) return [];
  const message = refusal.message.replace(/\.$/, "");
  return [
    make("p", {}, codeLink(refusal.code), headline.includes(message) ? "" : ` ${refusal.message}`),
    refusal.hint ? make("p", { class: "change" }, breakable(refusal.hint)) : null,
  ];
}

function targetsTable(page) {
  const headings = [["target", "target"], ["nodes", "number"], ["multiply-adds", "number"],
    ["partitions", "number rest"], ...content.further.map(({ title }) => [title, "number rest"])];
  const rows = content.views.map((view, number) => {
    const { measures, micro } = view;
    const show = () => {
      page.show(number);
      // The table is replaced, so the focus must be restored.
      byId("targets").querySelectorAll("button")[number].focus();
    };
    const side = sideOf(number, 0);
    const target = make("div", {}, link(content.models.length > 1 ? side.label : side.title, show), make("p", { class: "summary" }, breakable(view.summary)));
    const row = cells(headings, [target,
      share(measures.delegated_nodes, measures.nodes),
      measures.multiply_adds ? share(measures.delegated_multiply_adds, measures.multiply_adds) : "–",
      micro ? "–" : formatted(measures.partitions), ...content.further.map((column) => (micro ? "–" : measureText(column, measures)))]);
    row.className = `${view.grade}${number === page.shown ? " current" : ""}`;
    return row;
  });
  return table(headings, rows, "Targets");
}
