// Copies the addon that cargo built to the name under which lib/core/addon.ts looks for it. On
// Linux its debug information goes to a file beside it.
// Usage: node scripts/place-addon.mjs CARGO_RELEASE_DIRECTORY

import { execFileSync } from 'node:child_process';
import { copyFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node scripts/place-addon.mjs CARGO_RELEASE_DIRECTORY');
  process.exit(2);
}
const here = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const built = { darwin: 'libsmallfry_node.dylib', win32: 'smallfry_node.dll' }[process.platform] ?? 'libsmallfry_node.so';
// A system can have both C libraries: Node's own counts.
const isMusl = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined;
const abi = { linux: isMusl ? '-musl' : '-gnu', win32: '-msvc' }[process.platform] ?? '';
const target = path.join(here, `smallfry.${process.platform}-${process.arch}${abi}.node`);
copyFileSync(path.join(directory, built), `${target}.new`);
if (process.platform === 'linux') {
  // Debuggers and profilers find the second file by its name in the first.
  const objcopy = (...args) => execFileSync('objcopy', args, { stdio: 'inherit' });
  objcopy('--only-keep-debug', `${target}.new`, `${target}.debug`);
  objcopy('--strip-unneeded', `--add-gnu-debuglink=${target}.debug`, `${target}.new`);
}
// Renamed into place, so that a process which has the old one mapped keeps it whole.
renameSync(`${target}.new`, target);
