// Copies the addon that cargo built to the name under which lib/addon.ts looks for it.
// Usage: node scripts/place-addon.mjs CARGO_RELEASE_DIRECTORY

import { copyFileSync, readdirSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node scripts/place-addon.mjs CARGO_RELEASE_DIRECTORY');
  process.exit(2);
}
const here = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { addonNames } = createRequire(import.meta.url)('../dist/addon.js');
const built = { darwin: 'libsmallfry_node.dylib', win32: 'smallfry_node.dll' }[process.platform] ?? 'libsmallfry_node.so';
const isMusl = process.platform === 'linux' && readdirSync('/lib').some((name) => name.startsWith('ld-musl-'));
const target = path.join(here, addonNames().at(isMusl ? -1 : 0));
// Renamed into place, so that a process which has the old one mapped keeps it whole.
copyFileSync(path.join(directory, built), `${target}.new`);
renameSync(`${target}.new`, target);
