// Notices that a program is about to use node:fs/promises. Node loads it only when it is asked for,
// and that takes longer than all of `register`.

import diagnostics = require('node:diagnostics_channel');
import fs = require('node:fs');
import nodeModule = require('node:module');

/** The internal function that `require` calls, which tools may replace. */
interface Loader {
  _load: (request: string, ...rest: unknown[]) => unknown;
}

/** Published before an import, and before Node loads an entry point that is an ES module. */
const IMPORTS = 'tracing:module.import:start';
/** The first major version of Node all of whose releases publish it. */
const PUBLISHES_IMPORTS = 24;

/**
 * Calls `listener` once, before the program gets functions of node:fs/promises. They may be got by
 * `fs.promises`, by `require`, or by an import. The first import of any module counts, since
 * nothing tells what else it imports.
 */
export function whenPromisesAreUsed(listener: () => void): void {
  const own = Object.getOwnPropertyDescriptor(fs, 'promises');
  if (Number.parseInt(process.versions.node, 10) < PUBLISHES_IMPORTS || own?.get === undefined || own.configurable !== true) {
    listener();
    return;
  }
  const loader = nodeModule as unknown as Loader;
  const { _load: load } = loader;

  let isUsed = false;
  const use = (): void => {
    // Tools that have wrapped or copied one of the three may come again.
    if (isUsed) return;
    isUsed = true;
    Object.defineProperty(fs, 'promises', own);
    if (loader._load === noticing) loader._load = load;
    diagnostics.unsubscribe(IMPORTS, use);
    listener();
  };
  Object.defineProperty(fs, 'promises', {
    ...own,
    get() {
      use();
      return fs.promises;
    },
  });
  function noticing(this: unknown, request: string, ...rest: unknown[]): unknown {
    if (request === 'fs/promises' || request === 'node:fs/promises') use();
    return load.call(this, request, ...rest);
  }
  loader._load = noticing;
  diagnostics.subscribe(IMPORTS, use);
}
