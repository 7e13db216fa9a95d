// `node --require smallfry/register`: smallfry's functions in node:fs itself, for the whole process.

import fs = require('node:fs');
import nodeModule = require('node:module');

import { spareStrangers } from './durability.js';
import { native } from './native.js';
import { removing, removingPromises } from './removing.js';
import { replaced, replacedPromises } from './replaced.js';

/**
 * Whether a function is still Node's own. Somebody else's (a package manager's archive, a mock, a tracer) is left in
 * place: it sees paths that native code would not. Node's own whole-file functions all read their options with an
 * internal helper, and those that remove or rename check their paths with one; what looks so is called without arguments,
 * which it refuses, and must have refused from Node's files.
 */
function isNodesOwn(candidate: unknown, name: string): boolean {
  if (typeof candidate !== 'function' || candidate.name !== name) return false;
  const text = Function.prototype.toString.call(candidate);
  if (!/\b(?:options = getOptions|getValidatedPath)\(/.test(text)) return false;
  return text.startsWith('async ') || refusesInside(candidate as () => unknown);
}

/** Whether `refuse()` throws with nothing but Node's own files on the stack above this one. */
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
    // Asking for the stack makes the engine call the function above.
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

// Without the addon native.ts has said so, and node:fs stays as it was.
if (native !== undefined) {
  replace(fs, { ...removing(fs), ...replaced });
  replace(fs.promises, { ...removingPromises(fs.promises), ...replacedPromises });
  spareStrangers();
  nodeModule.syncBuiltinESMExports();
}

// `smallfry try` asks for it once per trial.
const { SMALLFRY_COUNT: directory } = process.env;
if (directory) {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded only when asked for
  (require('./counting/index.js') as typeof import('./counting/index.js')).start(directory);
}
