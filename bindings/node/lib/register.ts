// `node --require smallfry/register`: smallfry's functions in node:fs itself, for the whole process.

import fs = require('node:fs');
import nodeModule = require('node:module');

import { native } from './native.js';
import { replaced, replacedPromises } from './replaced.js';

/**
 * Whether a function is still Node's own. Somebody else's (a package manager's archive, a mock, a tracer) is left in
 * place: it sees paths that native code would not. Node's own whole-file functions all begin by reading their options
 * with an internal helper, which no replacement can reach.
 */
function isNodesOwn(candidate: unknown, name: string): boolean {
  if (typeof candidate !== 'function' || candidate.name !== name) return false;
  const text = Function.prototype.toString.call(candidate);
  return /^(?:async )?function \w+\(path/.test(text) && /\boptions = getOptions\(/.test(text);
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
  replace(fs, replaced as Partial<typeof fs>);
  replace(fs.promises, replacedPromises as Partial<typeof fs.promises>);
  nodeModule.syncBuiltinESMExports();
}
