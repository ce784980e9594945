/** Command lines for targets. */

/** The option with the Android version. All targets of the page have the same version. */
export const ANDROID = "android";

/** Return the option with the Android version. @param {import("./types.js").Form} form */
export function androidOption(form) {
  const found = form.delegates.flatMap(({ options }) => options).find(({ name }) => name === ANDROID);
  if (!found) throw new Error("no delegate has an Android version");
  return found;
}

/**
 * Return the text with the labels of the form instead of flags.
 * @param {string} text @param {import("./types.js").Option[]} options
 */
export function withLabels(text, options) {
  return text.replace(/--([a-z][\w-]*)(=[\w.]+)?/g, (whole, _, value) => {
    const flag = whole.split("=")[0];
    const option = options.find((one) => one.flag.split(" ")[0] === flag && !one.flag.includes(" "));
    return option ? `"${titleOf(option.name)}"${value ? ` ${value.slice(1)}` : ""}` : whole;
  });
}

/** Return the label of an option. @param {string} name */
export function titleOf(name) {
  if (name === "soc") return "SoC";
  const words = name.replaceAll("_", " ").replace(/\b(gpu|nnapi|cpu|fp16|qs8|qu8|pmu|xnnpack)\b/g, (word) => word.toUpperCase());
  return words === ANDROID ? "Android version" : words[0].toUpperCase() + words.slice(1);
}

/**
 * Return the arguments that describe a target. Options at their defaults are left out.
 * @param {import("./types.js").Target} target @param {import("./types.js").Form} form @returns {string[]}
 */
export function targetArguments(target, form) {
  if (target.delegate === "soc") return ["--soc", target.options.soc, ...commonArguments(target, form)];
  const options = form.delegates.find(({ name }) => name === target.delegate)?.options ?? [];
  const given = options.flatMap((option) => {
    const value = (option.name === ANDROID ? target.android : target.options[option.name]) ?? "";
    if (value === "" || value === option.defaults[target.defaults]) return [];
    const [flag, key] = option.flag.split(" "); // "--android" or "--option soc"
    return key ? [flag, `${key}=${value}`] : [`${flag}=${value}`];
  });
  return ["--delegate", target.delegate, ...commonArguments(target, form), ...given];
}

/**
 * Return the arguments that all targets share.
 * @param {{release: string, defaults: string}} target @param {import("./types.js").Form} form @returns {string[]}
 */
export function commonArguments({ release, defaults }, form) {
  return [
    ...(release === form.releases.default ? [] : ["--runtime", release]),
    ...(defaults === form.defaults.default ? [] : ["--defaults", defaults]),
  ];
}

/** Return a command as it is typed in a shell. @param {string[]} command */
export function asTyped(command) {
  const quoted = command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`));
  return ["delegate-sim", ...quoted].join(" ");
}

/** Return the argument for a path, which may look like an option. @param {string} path */
export const asArgument = (path) => (path.startsWith("-") ? `./${path}` : path);
