/** The worker as the page sees it: requests in order, progress, and a new worker after a cancellation or a crash. */


export class Canceled extends Error {}
export class Crashed extends Error {}

const BASE = new URL(".", location.href).href;

export class Engine {
  /** @type {Worker | undefined} */
  #worker;
  #next = 1;
  /** @type {Map<number, {resolve: (result: any) => void, reject: (fault: Error) => void}>} */
  #pending = new Map();
  /** @type {Promise<void>} */
  #started;
  /** @type {{name: string, data: Blob}[]} */
  #mounted = [];
  #files;
  #onProgress;
  #isReady = false;

  /**
   * @param {import("./types.js").Files} files
   * @param {(what: string, share: number | undefined) => void} onProgress
   */
  constructor(files, onProgress) {
    this.#files = files;
    this.#onProgress = onProgress;
    this.#started = this.#start();
  }

  /** Wait until Python is there. */
  started() {
    return this.#started;
  }

  /** Make files readable for commands, each by its name. @param {{name: string, data: Blob}[]} blobs */
  async mount(blobs) {
    this.#mounted = blobs;
    await this.#ask("mount", blobs);
  }

  /** @param {string} path @returns {Promise<{models: string[], error: string}>} */
  models(path) {
    return this.#ask("models", path);
  }

  /**
   * Run a command; `file` is the name of the file that it writes, if the answer is to have its content.
   * @param {string[]} command @param {string} [file] @returns {Promise<import("./types.js").Answer>}
   */
  run(command, file) {
    return this.#ask("run", command, file);
  }

  /** End the worker with all that it is at, and start a new one. */
  cancel() {
    this.#restart(new Canceled("canceled"));
  }

  /** @param {string} call @param {any[]} values */
  async #ask(call, ...values) {
    await this.#started;
    return this.#send(call, values);
  }

  /** @param {string} call @param {any[]} values @returns {Promise<any>} */
  #send(call, values) {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#pending.set(id, { resolve, reject });
      this.#worker?.postMessage({ id, call, values });
    });
  }

  /** @param {Error} reason */
  #restart(reason) {
    this.#worker?.terminate();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#isReady = false;
    this.#started = this.#start();
    for (const { reject } of pending) reject(reason);
  }

  async #start() {
    // A worker from a blob has the policy of this page; a worker from an address would have none.
    const script = new Blob([`import ${JSON.stringify(`${BASE}worker.js`)};`], { type: "text/javascript" });
    const address = URL.createObjectURL(script);
    const worker = new Worker(address, { type: "module" });
    this.#worker = worker;
    try {
      await new Promise((resolve, reject) => {
        worker.onmessage = resolve;
        worker.onerror = () => reject(new Error("the worker cannot be started"));
      });
    } finally {
      URL.revokeObjectURL(address);
    }
    worker.onmessage = (event) => this.#receive(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      if (this.#isReady) this.#restart(new Crashed(event.message));
    };
    await this.#send("start", [BASE, this.#files, Boolean(navigator.serviceWorker?.controller)]);
    await this.#send("mount", [this.#mounted]);
    this.#isReady = true;
  }

  /** @param {any} message */
  #receive({ id, result, error, progress, share }) {
    if (progress !== undefined) {
      this.#onProgress(progress, share);
      return;
    }
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) {
      pending?.resolve(result);
    } else {
      // What Python itself can handle is an exit code; anything else leaves the worker in an unknown state.
      pending?.reject(new Crashed(error));
      if (this.#isReady) this.#restart(new Crashed(error));
    }
  }
}
