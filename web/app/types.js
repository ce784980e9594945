/**
 * Types of what passes between the page, its worker and Python. This module has no code.
 *
 * @typedef {{start: number, packages: string, snapshot: string, numpy: boolean, docs: string, codes: string}} Files
 * @typedef {{name: string, flag: string, type: "choice" | "boolean" | "integer" | "text" | "file", choices: string[],
 *   defaults: Record<string, string>, help: string}} Option
 * @typedef {{name: string, title: string, deprecated: string, summary: string, is_plugin: boolean, options: Option[],
 *   level: {option: string, release: string, by_release: Record<string, number>} | null}} Delegate
 * @typedef {{default_delegate: string, delegates: Delegate[], groups: [string, string[]][], releases: {choices: string[], default: string},
 *   defaults: {choices: string[], default: string}, accelerators: string[], socs: {name: string, also: string[]}[],
 *   further: [string, string, number][]}} Form
 * @typedef {{exit: number, output: string, error: string, needs: string | null, content?: Uint8Array<ArrayBuffer>,
 *   card?: {picture: string, markdown: string}}} Answer
 * @typedef {{path: string, file: string, name: string, size?: number, isWhole?: boolean}} Model
 * @typedef {{delegate: string, release: string, defaults: string, android: string, options: Record<string, string>}} Target
 */
export {};
