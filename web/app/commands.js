/** Command lines for targets. */


/**
 * Return the arguments that describe a target. Options at their defaults are left out.
 * @param {import("./types.js").Target} target @param {import("./types.js").Form} form @returns {string[]}
 */
export function targetArguments(target, form) {
  if (target.delegate === "soc") return ["--soc", target.options.soc, ...commonArguments(target, form)];
  const options = form.delegates.find(({ name }) => name === target.delegate)?.options ?? [];
  const given = options.flatMap((option) => {
    const value = target.options[option.name] ?? "";
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
