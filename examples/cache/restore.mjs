// A cache of dependencies for continuous integration.
// Usage: node restore.mjs LOCK-FILE DIRECTORY CACHE -- COMMAND...
//
// The key is the digest of the lock file. If CACHE has an archive of that name, it is unpacked to
// DIRECTORY. Otherwise COMMAND makes DIRECTORY, which is then packed. `pack` gives the archive its
// name when it is whole, so jobs that run at once never meet half of one.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { hashFiles, pack, removeTree, unpack } from 'smallfry';

/** Returns true if the directory came from the cache. */
export async function restore(lockFile, directory, cache, make) {
  const [digest] = await hashFiles([lockFile]);
  const archive = path.join(cache, `${path.basename(directory)}-${digest}.tar.gz`);
  await removeTree(directory, { force: true });
  if (fs.existsSync(archive)) {
    try {
      await unpack(archive, directory);
      return true;
    } catch (error) {
      // A cache is no reason to fail: what is damaged is made anew.
      console.error(`${archive}: ${error.message}`);
      await removeTree(directory, { force: true });
    }
  }
  await make();
  fs.mkdirSync(cache, { recursive: true });
  await pack(directory, archive, { level: 1 });
  return false;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const separator = process.argv.indexOf('--');
  const [lockFile, directory, cache] = process.argv.slice(2, separator);
  const [command, ...args] = separator < 0 ? [] : process.argv.slice(separator + 1);
  if (cache === undefined || command === undefined) {
    console.error('usage: node restore.mjs LOCK-FILE DIRECTORY CACHE -- COMMAND...');
    process.exit(2);
  }
  const make = () => {
    const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
    if (status !== 0) throw error ?? new Error(`${command} ended with ${status}`);
  };
  const found = await restore(lockFile, directory, cache, make);
  console.log(found ? `${directory} restored` : `${directory} made and kept`);
}
