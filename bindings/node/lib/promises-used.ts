// Notices that a program is about to use node:fs/promises. Node loads it only when it is asked for,
// and that takes longer than all of `register`.

import fs = require('node:fs');

/** The internal function that `require` calls, which tools may replace. */
interface Loader {
  _load: (request: string, ...rest: unknown[]) => unknown;
}

/** Published before an import, and before Node loads an entry point that is an ES module. */
const IMPORTS = 'tracing:module.import:start';

// Node 20 does not load it by itself, and publishes nothing.
// eslint-disable-next-line @typescript-eslint/no-require-imports -- as above
const diagnostics = () => require('node:diagnostics_channel') as typeof import('node:diagnostics_channel');

/** Tells whether Node has loaded what imports ES modules. Node 24 always has. */
const mayImport = (): boolean =>
  (process as unknown as { moduleLoadList: string[] }).moduleLoadList.includes('NativeModule internal/modules/esm/module_map');

/**
 * Calls `listener` once, before the program gets functions of node:fs/promises. They may be got by
 * `fs.promises`, by `require`, or by an import. The first import of any module counts, since
 * nothing tells what else it imports.
 *
 * Not noticed: `process.getBuiltinModule`, and in Node 20 an import that a program makes later than
 * in its first turn.
 *
 * @param loader the class of modules
 */
export function whenPromisesAreUsed(loader: object, listener: () => void): void {
  const own = Object.getOwnPropertyDescriptor(fs, 'promises');
  if (own?.get === undefined || own.configurable !== true) {
    listener();
    return;
  }
  const ownHolder = Object.defineProperty({}, 'promises', own);
  const requires = loader as Loader;
  const { _load: load } = requires;
  const major = Number.parseInt(process.versions.node, 10);
  let isUsed = false;

  const use = (): void => {
    // Tools that have wrapped or copied one of these may come again.
    if (isUsed) return;
    isUsed = true;
    Object.defineProperty(fs, 'promises', own);
    if (requires._load === noticing) requires._load = load;
    if (major >= 22) diagnostics().unsubscribe(IMPORTS, use);
    listener();
  };
  Object.defineProperty(fs, 'promises', {
    ...own,
    get() {
      use();
      return Reflect.get(ownHolder, 'promises') as typeof fs.promises;
    },
  });
  function noticing(this: unknown, request: string, ...rest: unknown[]): unknown {
    if (request === 'fs/promises' || request === 'node:fs/promises') use();
    return load.call(this, request, ...rest);
  }
  requires._load = noticing;
  if (major >= 22) diagnostics().subscribe(IMPORTS, use);
  // The first releases of Node 22 do not publish it.
  if (major < 24) queueMicrotask(() => { if (mayImport()) use(); });
}
