// The measured times: a strip whose bars are as wide as their share of an inference, in running order.

const millisecondsText = (ms) => (ms === undefined ? "" : `${ms < 10 ? ms.toFixed(3) : numbers.format(Math.round(ms * 10) / 10)} ms`);

function timeStrip(side, page) {
  const { time } = side.view;
  if (!time) return null;
  const bars = time.bars.map((bar) => {
    const words = `${bar.label}: ${millisecondsText(bar.ms)}, ${share(bar.ms, time.total)}`;
    const here = bar.node && bar.node[0] === side.graph.index ? side.positions.get(bar.node[1]) : undefined;
    const element = make("button", { type: "button", class: `bar ${bar.kind}`, title: words, "aria-label": words,
      tabindex: -1, onclick: () => (here === undefined ? undefined : page.select(side, here)) });
    element.style.flexGrow = String(bar.ms);
    return element;
  });
  const label = `Measured time in running order (${time.profile}): ${millisecondsText(time.total)} in one inference; width is time`;
  return make("div", { class: "times" }, make("p", { class: "name" }, breakable(label)),
    make("div", { class: "bars", role: "group", "aria-label": label }, ...bars));
}

function byTimeButton(page) {
  return make("p", {}, make("button", { type: "button", "aria-pressed": String(page.byTime), onclick: () => page.sortByTime() }, "Sort by time"));
}

function sortedByTime(items, msOf, page) {
  return page.byTime ? [...items].sort((one, other) => (msOf(other) ?? -1) - (msOf(one) ?? -1)) : items;
}
