// Builds a site again for each file that is saved.
// Usage: node watch.mjs CONTENT SITE
//
// Editors save a file by writing it, by replacing it, or both, and a checkout saves hundreds at
// once. So changes are gathered until none has come for a moment. Then the site is built: pages that
// come out as they were are left alone, and only those that differ are written.

import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from '../site/build.mjs';

/** The time for which nothing must have changed, in milliseconds. */
const QUIET = 20;

/** Builds until `signal` says stop. `onBuilt` gets what each build has written. */
export async function watch(content, site, { signal, onBuilt }) {
  let timer;
  let building = Promise.resolve();
  // One build at a time: what is saved meanwhile is for the next.
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { building = building.then(() => build(content, site)).then(onBuilt); }, QUIET);
  };
  const watcher = fs.watch(content, { recursive: true, signal });
  watcher.on('change', later);
  onBuilt(await build(content, site));
  await new Promise((resolve, reject) => {
    watcher.on('close', resolve);
    watcher.on('error', (error) => (error.name === 'AbortError' ? resolve() : reject(error)));
  });
  clearTimeout(timer);
  await building;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [content, site] = process.argv.slice(2);
  if (site === undefined) {
    console.error('usage: node watch.mjs CONTENT SITE');
    process.exit(2);
  }
  await watch(content, site, { onBuilt: ({ pages, written }) => { console.log(`${pages} pages, ${written} files written`); } });
}
