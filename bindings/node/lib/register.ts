// Puts smallfry's functions into node:fs itself, for the whole process:
// `node --require smallfry/register`.

import fs = require('node:fs');
import nodeModule = require('node:module');

import { ignoreForeignReplace } from './durability.js';
import { native } from './native.js';
import { removing, removingPromises } from './removing.js';
import { replaced, replacedPromises } from './replaced.js';

/**
 * Tells whether a function is still Node's own. A function that a package manager, a mock or a
 * tracer has put there is left in place: it sees paths that native code would not. Node's own
 * whole-file functions all read their options with an internal helper, and the functions that
 * remove or rename check their paths with one. A function that looks so is called without
 * arguments, and must refuse that from Node's own files.
 */
function isNodesOwn(candidate: unknown, name: string): boolean {
  if (typeof candidate !== 'function' || candidate.name !== name) return false;
  const text = Function.prototype.toString.call(candidate);
  if (!/\b(?:options = getOptions|getValidatedPath)\(/.test(text)) return false;
  return text.startsWith('async ') || refusesInside(candidate as () => unknown);
}

/** Tells whether `refuse()` throws with only Node's own files on the stack above this one. */
function refusesInside(refuse: () => unknown): boolean {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- only put back as it was
  const { prepareStackTrace, stackTraceLimit } = Error;
  let files: (string | null | undefined)[] = [];
  Error.stackTraceLimit = 20;
  Error.prepareStackTrace = (_error, sites) => {
    files = sites.map((site) => site.getFileName());
    return '';
  };
  try {
    refuse();
  } catch (error) {
    // Reading the stack makes the engine call the function above.
    String((error as Error).stack);
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
  const above = files.slice(0, Math.max(files.indexOf(__filename), 0));
  return above.length > 0 && above.every((file) => file?.startsWith('node:'));
}

function replace<T extends object>(target: T, functions: Partial<T>): void {
  for (const [name, value] of Object.entries(functions)) {
    if (isNodesOwn((target as Record<string, unknown>)[name], name)) {
      (target as Record<string, unknown>)[name] = value;
    }
  }
}

// Without the addon, native.ts has printed a warning, and node:fs stays as it was.
if (native !== undefined) {
  replace(fs, { ...removing(fs), ...replaced });
  replace(fs.promises, { ...removingPromises(fs.promises), ...replacedPromises });
  ignoreForeignReplace();
  nodeModule.syncBuiltinESMExports();
}

// `smallfry try` sets this to have calls counted.
const { SMALLFRY_COUNT: directory } = process.env;
if (directory) {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- rarely needed
  (require('./counting/index.js') as typeof import('./counting/index.js')).start(directory);
}
