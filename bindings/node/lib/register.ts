// Puts smallfry's functions into node:fs itself, for the whole process:
// `node --require smallfry/register`.

import fs = require('node:fs');

import { hasLoadedPromises, isNodesOwn, runsFirst } from './nodes-own.js';
import { facts, rememberPromises } from './original.js';
import { whenPromisesAreUsed } from './promises-used.js';
import { functions, promises, spareFirstCalls, whenLoaded } from './stubs.js';

type Functions = Record<string, unknown>;

/** The functions that were replaced: where, and what was there. */
const replaced: { target: Functions; name: string; own: unknown; stub: unknown }[] = [];

/** Replaces functions of `target` that are Node's own. `areOwn` says that all of them are. */
function replace(target: object, stubs: object, areOwn: boolean): void {
  const functions = target as Functions;
  // Some of Node's functions call others, so all are looked at before any is replaced.
  const names = Object.keys(stubs).filter((name) => (
    areOwn || (functions[name] !== (stubs as Functions)[name] && isNodesOwn(functions[name], name))
  ));
  for (const name of names) {
    const stub = (stubs as Functions)[name];
    replaced.push({ target: functions, name, own: functions[name], stub });
    functions[name] = stub;
  }
}

/** Puts Node's own functions back. */
function restore(): void {
  for (const { target, name, own, stub } of replaced) {
    if (target[name] === stub) target[name] = own;
  }
  updateImports();
}

/** Gives ES modules that have imported a function from node:fs the one that is there now. */
function updateImports(): void {
  // Loading this takes longer than all that `replace` does.
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- as above
  (require('node:module') as typeof import('node:module')).syncBuiltinESMExports();
}

if ((process as { permission?: unknown }).permission !== undefined) {
  try {
    // The core warns that it cannot be used.
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- rarely needed
    require('./core.js');
  } catch {
    // The permission model does not let the program read the core.
    process.emitWarning('smallfry: the permission model is on; node:fs is used as it is', { code: 'SMALLFRY_NOT_NATIVE' });
  }
} else if (!process.execArgv.includes('--expose-internals')) {
  // With that flag a program can replace parts of node:fs that no check of smallfry sees.
  const isFirst = runsFirst(module);
  replace(fs, functions, isFirst);
  Object.assign(facts, { runsFirst: isFirst, stubs: functions });
  spareFirstCalls();
  if (!isFirst) updateImports();
  let isUsable = true;
  whenPromisesAreUsed(module.constructor, () => {
    if (!isUsable) return;
    rememberPromises();
    const areLoaded = hasLoadedPromises();
    replace(fs.promises, promises, isFirst && !areLoaded);
    facts.promiseStubs = promises;
    if (!isFirst || areLoaded) updateImports();
  });
  whenLoaded(({ native, ignoreForeignReplace }) => {
    isUsable = native !== undefined;
    if (isUsable) ignoreForeignReplace();
    else restore();
  });
}

// `smallfry try` sets this to have calls counted.
const { SMALLFRY_COUNT: directory } = process.env;
if (directory) {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- rarely needed
  (require('./counting.js') as typeof import('./counting.js')).start(directory);
}
