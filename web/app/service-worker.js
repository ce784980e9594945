/**
 * Keeps the page's files, so that the page works without a network, and answers only for these files, with the page's policy.
 * A new version takes over when the last page with the old one is closed.
 */

/** @type {{version: string, policy: string, files: {path: string, integrity: string}[]}} */
const MANIFEST = JSON.parse("{{manifest}}");
const CACHE = `delegate-sim-${MANIFEST.version}`;
const BASE = new URL(".", location.href).href;
const worker = /** @type {any} */ (self);

async function install() {
  const cache = await caches.open(CACHE);
  for (const { path, integrity } of MANIFEST.files) {
    const response = await fetch(BASE + path, { integrity });
    if (!response.ok) throw new Error(`${path}: status ${response.status}`);
    const headers = { "Content-Type": response.headers.get("Content-Type") ?? "", "Content-Security-Policy": MANIFEST.policy };
    await cache.put(BASE + path, new Response(response.body, { headers }));
  }
}

async function activate() {
  for (const name of await caches.keys()) if (name.startsWith("delegate-sim-") && name !== CACHE) await caches.delete(name);
  await worker.clients.claim();
}

/** @param {Request} request */
async function answer(request) {
  const address = request.url.split(request.mode === "navigate" ? /[?#]/ : "#")[0];
  const kept = await (await caches.open(CACHE)).match(address === BASE ? `${BASE}index.html` : address);
  return kept ?? Response.error();
}

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(install()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(activate()));
worker.addEventListener("fetch", (/** @type {any} */ event) => event.respondWith(answer(event.request)));
