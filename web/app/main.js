/** The page: files come in, the worker simulates them, results are shown. */

import { androidOption, asArgument, asTyped, commonArguments, targetArguments } from "./commands.js";
import { rowsOf } from "./csv.js";
import { byId, fill, make, select } from "./dom.js";
import { Canceled, Engine } from "./engine.js";
import { TargetForm } from "./form.js";
import { fragmentOf, targetOf } from "./link.js";
import { headlineOf, showOverview } from "./overview.js";
import { Panels } from "./panels.js";
import { showCard } from "./card.js";
import { resultLink } from "./link.js";

/** Models that are simulated at once. Further models of a large bundle are simulated when they are chosen. */
const AT_ONCE = 8;
/** The card of a model, as a picture and as Markdown. */
const CARD = ["--report", "card=/out/card.svg", "--report", "card=/out/card.md"];

/** @type {import("./types.js").Files} */
const files = await (await fetch("files.json")).json();
/** @type {import("./types.js").Form} */
const form = await (await fetch("form.json")).json();
const engine = new Engine(files, showProgress);
const targetForm = new TargetForm(form, targetOf(location.hash, form), changed);
const panels = new Panels({ engine, busy, form, files, target: () => targetForm.target });
/** @type {{name: string, data: Blob}[]} */
let mounted = [];
/** @type {import("./types.js").Model[]} */
let models = [];
/** @type {import("./types.js").Model | undefined} */
let current;
/** Overviews by model, release and defaults. @type {Map<string, import("./overview.js").Overview | {problem: string}>} */
const overviews = new Map();
let hasChosenTarget = location.hash.length > 1;
/** Whether Python starts because a cancellation or a fault ended it. */
let isRestart = false;

// ---- Status

/** What the page waits for. The worker does one thing after the other. @type {{what: string, since: number}[]} */
const tasks = [];
let detail = "Starting";
/** @type {number | undefined} */
let share = 0;
/** @type {ReturnType<typeof setInterval> | undefined} */
let ticking;

/** @param {string} what @param {number | undefined} part */
function showProgress(what, part) {
  // A command names its model first, which the description of the task has already.
  detail = current && what.startsWith(`${current.path}: `) ? what.slice(current.path.length + 2) : what;
  if (isRestart && what === "Loading Python") detail = "Starting Python again";
  share = part;
  showStatus();
}

function showStatus() {
  const seconds = tasks.length ? Math.floor((performance.now() - tasks[0].since) / 1000) : 0;
  const parts = [tasks[0]?.what, detail].filter(Boolean);
  const progress = /** @type {HTMLProgressElement} */ (byId("progress"));
  byId("doing").textContent = parts.length ? parts.join(": ") + (seconds > 1 ? ` (${seconds} s)` : "") : "Ready";
  progress.hidden = !parts.length;
  if (share === undefined || !detail) progress.removeAttribute("value");
  else progress.value = share;
  byId("cancel").hidden = !tasks.length;
  // While there is work, the status stays in view wherever the user clicked.
  byId("status").classList.toggle("working", tasks.length > 0);
}

/**
 * Do slow work, with its description on the page and a button that cancels it.
 * @template T @param {string} what @param {() => Promise<T>} work @returns {Promise<T | undefined>}
 */
async function busy(what, work) {
  const task = { what, since: performance.now() };
  tasks.push(task);
  ticking ??= setInterval(showStatus, 1000);
  showProblem("");
  showStatus();
  try {
    return await work();
  } catch (fault) {
    isRestart = true;
    if (!(fault instanceof Canceled)) {
      const reason = fault instanceof Error ? fault.message : String(fault);
      const isMemory = /memory|allocation/i.test(reason);
      showProblem(`${what}: failed, because ${isMemory ? "it needs more memory than this page may use" : `the simulator stopped (${reason})`}. The simulator was started again. The command line may read this file.`);
    }
    return undefined;
  } finally {
    tasks.splice(tasks.indexOf(task), 1);
    if (tasks.length) tasks[0].since = performance.now();
    else {
      clearInterval(ticking);
      ticking = undefined;
    }
    detail = "";
    showStatus();
  }
}

/** @param {string} text */
function showProblem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = !text;
}

// ---- Files

/** @param {Iterable<File>} chosen */
async function add(chosen) {
  const added = [...chosen].map((file) => ({ name: freeName(file.name), data: /** @type {Blob} */ (file) }));
  if (!added.length) return;
  /** @type {string[]} */
  const problems = [];
  /** @type {import("./types.js").Model[]} */
  const found = [];
  await ready;
  await busy(`Reading ${added.length === 1 ? added[0].name : `${added.length} files`}`, async () => {
    mounted = [...mounted, ...added];
    await engine.mount(mounted);
    for (const { name, data } of added) {
      const inside = await engine.models(asArgument(name));
      if (inside.error) problems.push(inside.error);
      else if (!inside.models.length) problems.push(`${name}: there is no model in this file`);
      const isBundle = inside.models.some((path) => path !== asArgument(name));
      if (isBundle && /\.litertlm$/i.test(name)) found.push({ path: asArgument(name), file: name, name: `${name} (whole bundle)`, isWhole: true });
      for (const path of inside.models) found.push({ path, file: name, name: isBundle ? path : name, size: isBundle ? undefined : data.size });
    }
  });
  models = [...models, ...found];
  mounted = mounted.filter(({ name }) => models.some(({ file }) => file === name));
  if (problems.length) showProblem(problems.join("\n"));
  if (!found.length) {
    showModels();
    return;
  }
  const before = current;
  if (before) showModels();
  else choose(found[0]);
  for (const model of found.slice(0, AT_ONCE)) {
    if (!models.includes(model)) continue;
    const overview = await overviewOf(model);
    if (!overview) break;
    // A file that cannot be simulated does not take the place of a result, and a choice of the user counts.
    const isFree = current === before || (current && isFailed(current));
    if (current !== model && isFree && !("problem" in overview)) choose(model);
  }
}

/** @param {string} name */
function freeName(name) {
  const names = new Set(mounted.map((file) => file.name));
  const [, stem, ending] = /** @type {RegExpExecArray} */ (/^(.*?)(\.[^.]*)?$/s.exec(name));
  let free = name;
  for (let number = 2; names.has(free); number += 1) free = `${stem} (${number})${ending ?? ""}`;
  return free;
}

/** @param {string} file */
async function remove(file) {
  mounted = mounted.filter(({ name }) => name !== file);
  models = models.filter((model) => model.file !== file);
  for (const key of overviews.keys()) if (!models.some(({ path }) => key.startsWith(`${path}\n`))) overviews.delete(key);
  panels.forget();
  if (current?.file === file) current = undefined;
  showModels();
  await engine.mount(mounted);
  if (models.length && !current) choose(models[0]);
}

function showModels() {
  byId("models").hidden = !models.length;
  if (!current) byId("overview").hidden = byId("list").hidden = byId("target").hidden = true;
  byId("skip").hidden = !models.length;
  document.body.classList.toggle("has-models", models.length > 0);
  const entries = models.map((model, index) => {
    const name = make("button", { type: "button", className: "model", "aria-pressed": String(model === current) }, model.name);
    name.addEventListener("click", () => choose(model));
    const parts = [name, make("span", { className: isFailed(model) ? "verdict bad" : "verdict" }, verdictOf(model))];
    if (models.findIndex(({ file }) => file === model.file) === index) {
      const close = make("button", { type: "button", className: "close", title: "Remove", "aria-label": `Remove ${model.file}` }, "×");
      close.addEventListener("click", () => remove(model.file));
      parts.push(close);
    }
    return make("li", {}, ...parts);
  });
  byId("model-list").replaceChildren(...entries);
}

/** @param {import("./types.js").Model} model */
function verdictOf(model) {
  const overview = overviews.get(keyOf(model));
  if (!overview || models.length === 1) return model.size === undefined ? "" : bytes(model.size);
  return "problem" in overview ? overview.problem : overview.headline;
}

/** @param {import("./types.js").Model} model */
function isFailed(model) {
  const overview = overviews.get(keyOf(model));
  return overview !== undefined && "problem" in overview;
}

/** @param {number} size */
const bytes = (size) => (size < 1e6 ? `${Math.ceil(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`);

// ---- Overview

const shared = () => ({ release: select("release").value, defaults: select("defaults").value, android: select("android").value });
/** @param {import("./types.js").Model} model */
const keyOf = (model) => [model.path, ...Object.values(shared())].join("\n");

/** Overviews that are being made. @type {Map<string, Promise<import("./overview.js").Overview | {problem: string} | undefined>>} */
const coming = new Map();

/** Overviews that are missing because their simulation was ended. @type {Set<string>} */
const missing = new Set();

/** @param {import("./types.js").Model} model */
async function overviewOf(model) {
  const key = keyOf(model);
  const known = overviews.get(key);
  if (known) return known;
  const found = coming.get(key) ?? simulateAll(model);
  coming.set(key, found);
  missing.delete(key);
  if (model === current) showCurrent();
  const overview = await found;
  coming.delete(key);
  if (overview) overviews.set(key, overview);
  else missing.add(key);
  showModels();
  if (model === current) showCurrent();
  return overview;
}

/** @param {import("./types.js").Model} model */
function simulateAll(model) {
  return busy(`Simulating ${model.name} on all targets`, async () => {
    const android = androidOption(form);
    const { defaults, android: version } = shared();
    const own = version === android.defaults[defaults] ? [] : [`${android.flag}=${version}`];
    const command = ["analyze", model.path, ...(model.isWhole ? [] : CARD), ...commonArguments(shared(), form), ...own];
    if (!model.isWhole) command.push("--report", "csv=/out/overview.csv");
    const answer = await engine.run(command, model.isWhole ? undefined : "overview.csv");
    const rows = answer.content ? rowsOf(new TextDecoder().decode(answer.content)).filter(({ outcome }) => outcome) : [];
    if (answer.exit > 1 && !rows.length) return { problem: answer.error };
    return { headline: headlineOf(answer.output), text: answer.output, rows, note: answer.error, card: answer.card };
  });
}

/** Return the link to the result of a model on all targets. @param {import("./types.js").Model} model */
async function linkOf(model) {
  const command = ["report", model.path, ...commonArguments(shared(), form), "--output", "/out/report.html"];
  const answer = await busy(`Making the link to ${model.name}`, () => engine.run(command, "report.html"));
  return answer?.content && resultLink(new TextDecoder().decode(answer.content));
}

/** @param {import("./types.js").Model} model */
function choose(model) {
  current = model;
  showProblem("");
  showModels();
  showCurrent();
  overviewOf(model);
  if (!isFailed(model)) panels.refresh();
}

/** The model that the table shows, perhaps for another release than the chosen one until that is simulated. @type {unknown} */
let inTable;

function showCurrent() {
  if (!current) return;
  const overview = overviews.get(keyOf(current));
  const hasFailed = overview !== undefined && "problem" in overview;
  if (hasFailed) showProblem(overview.problem);
  byId("target").hidden = hasFailed;
  if (overview && !hasFailed) {
    if (overview.note) showProblem(overview.note);
    showOverview(overview, { form, android: select("android").value, chosen: targetForm.target.delegate, choose: openTarget });
    byId("card").hidden = !overview.card;
    const model = current;
    if (overview.card) showCard(byId("card"), overview.card, () => linkOf(model));
    inTable = current;
  }
  const isMissing = !overview && missing.has(keyOf(current));
  byId("missing").hidden = !isMissing;
  byId("missing-why").textContent = "There is no result, because the simulation was ended.";
  byId("overview").hidden = byId("list").hidden = hasFailed || (inTable !== current && !isMissing);
  for (const id of ["headline", "overview-scroll", "overview-text"]) byId(id).classList.toggle("stale", !overview);
  panels.setModels(current, models);
  if (hasChosenTarget && overview) {
    hasChosenTarget = false;
    byId("linked-target").hidden = true;
    panels.run();
    showTabs();
  }
}

/** Bring the result into view, where it is not beside the targets. */
function showTabs() {
  if (byId("target").getBoundingClientRect().left < 100) byId("tabs").scrollIntoView({ behavior: "smooth" });
}

/** Choose a target in the table: its defaults, and its report. @param {string} delegate */
function openTarget(delegate) {
  const target = targetForm.target;
  if (target.delegate !== delegate) targetForm.show({ ...target, delegate, options: {} });
  submit("report");
  byId("tab-report").focus({ preventScroll: true });
  showTabs();
}

/** Show a result of the target in the form. @param {string} [result] */
function submit(result) {
  showAddress();
  panels.run(result);
  showCurrent();
}

/** Make the address of the page the link to the target. */
function showAddress() {
  history.replaceState(null, "", `#${fragmentOf(targetForm.target, form)}`);
}

/** The user changed the target in the form. */
function changed() {
  const { android } = targetForm.target;
  const isOther = select("android").value !== android;
  select("android").value = android;
  showAddress();
  showModels();
  showCurrent();
  if (current && isOther) overviewOf(current);
  panels.refresh();
}

// ---- Start

function listenForFiles() {
  const input = /** @type {HTMLInputElement} */ (byId("files"));
  byId("choose").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    add([...(input.files ?? [])]);
    input.value = "";
  });
  byId("example").addEventListener("click", async () => {
    const response = await fetch("example.tflite");
    add([new File([await response.blob()], "example.tflite")]);
  });
  byId("cancel").addEventListener("click", () => engine.cancel());
  for (const kind of ["dragover", "dragenter"]) {
    addEventListener(kind, (event) => {
      event.preventDefault();
      document.body.classList.add("dragging");
    });
  }
  addEventListener("dragleave", (event) => {
    if (!(/** @type {DragEvent} */ (event).relatedTarget)) document.body.classList.remove("dragging");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    add([...(event.dataTransfer?.files ?? [])]);
  });
}

function listenForSettings() {
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  byId("link").addEventListener("click", async () => {
    showAddress();
    try {
      await navigator.clipboard.writeText(location.href);
      byId("linked").textContent = "Copied. The link has the target and its options, not the model.";
    } catch {
      byId("linked").textContent = "The address of this page is the link: it has the target and its options, not the model.";
    }
  });
  for (const id of ["release", "defaults", "android"]) {
    select(id).addEventListener("change", () => {
      targetForm.show({ ...targetForm.target, ...shared() });
      showAddress();
      showModels();
      if (!current) return;
      showCurrent();
      overviewOf(current);
      panels.refresh();
    });
  }
  byId("again").addEventListener("click", () => current && overviewOf(current));
  addEventListener("hashchange", () => {
    hasChosenTarget = !current;
    showTarget(targetOf(location.hash, form));
    if (!current) return;
    submit();
    overviewOf(current);
  });
}

/** @param {import("./types.js").Target} target */
function showTarget(target) {
  const { choices, default: release } = form.releases;
  fill(select("release"), choices.includes(release) ? choices : [release, ...choices], target.release);
  fill(select("defaults"), form.defaults.choices, target.defaults);
  fill(select("android"), androidOption(form).choices, target.android);
  for (const option of select("defaults").options) option.text = option.value === "api" ? "the delegate's API" : "benchmark_model";
  targetForm.show(target);
  const link = byId("linked-target");
  link.hidden = !hasChosenTarget;
  link.textContent = `This link is for ${asTyped(["report", "MODEL", ...targetArguments(target, form)])}. Drop the model to see its report.`;
}

/** Links to the documentation open beside this page. A build that has none shows only their text. */
for (const link of document.querySelectorAll("a.docs")) {
  if (files.docs) Object.assign(link, { href: files.docs, target: "_blank", rel: "noopener" });
  else link.replaceWith(link.textContent ?? "");
}
byId("no-numpy").hidden = files.numpy;
listenForFiles();
showStatus();
showTarget(targetForm.target);
listenForSettings();
/** Files may come before Python is there. They wait for this. */
const ready = engine.started();
try {
  await ready;
  document.body.classList.add("ready");
  if ("serviceWorker" in navigator) navigator.serviceWorker.register("service-worker.js").catch(() => {});
} catch (fault) {
  showProblem(`The simulator cannot be started in this browser: ${fault instanceof Error ? fault.message : fault}`);
}
detail = "";
showStatus();
