// Keeps the files of a site without a server, so that it works offline. `scripts/website.py` fills in the version and the files.
const VERSION = "{{version}}";
// A host can have several versions of the site, each with its own scope.
const OWN = `cambio-${self.registration.scope}-`;
const NAME = OWN + VERSION;
// The files of the pages and the program, and the networks and published runs, which are loaded when a match has begun.
const FILES = [{{files}}];
const LATER = [{{later}}];

// Bypasses the browser's own cache, which may have files of different versions.
const fresh = (files) => files.map((file) => new Request(file, { cache: "no-cache" }));

async function keepLater() {
  const cache = await caches.open(NAME);
  const kept = await Promise.all(LATER.map((file) => cache.match(file)));
  await cache.addAll(fresh(LATER.filter((_, number) => !kept[number])));
}

// A page sends a message when a match has begun, and "activate" when the person wants the new version.
self.addEventListener("message", (event) => {
  event.waitUntil(event.data === "activate" ? self.skipWaiting() : keepLater().catch(() => {}));
});

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(fresh(FILES))));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith(OWN) && name !== NAME);
    const had = await Promise.all(old.map((cacheName) => caches.match(LATER[0], { cacheName })));
    await Promise.all(old.map((name) => caches.delete(name)));
    await self.clients.claim();
    // Not awaited, because pages do not need these files to begin.
    if (had.some(Boolean)) keepLater().catch(() => {});
  })());
});

// Answers with the kept files. The query of a page's address is read by the page.
self.addEventListener("fetch", (event) => {
  const address = new URL(event.request.url);
  if (event.request.method !== "GET" || !address.href.startsWith(self.registration.scope)) return;
  event.respondWith((async () => {
    const cache = await caches.open(NAME);
    const kept = await cache.match(event.request, { ignoreSearch: true });
    if (kept) return kept;
    const answer = await fetch(event.request);
    if (answer.ok && LATER.some((file) => address.pathname.endsWith(`/${file}`))) cache.put(event.request, answer.clone());
    return answer;
  })());
});
