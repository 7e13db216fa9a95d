// Functions of node:fs that must not meet a file that is yet to be closed.
//
// On Windows a file that is removed keeps its name until its last handle is closed, and one that is open cannot be
// replaced; on NFS it lives on under another name and keeps its directory from being removed. So these wait for
// pending closes first. Nearly always there are none, and they do what they did.

import { native } from './native.js';

type AnyFunction = (...args: unknown[]) => unknown;

const NAMES = ['rename', 'rm', 'rmdir', 'unlink'] as const;

const arePending = (): boolean => native !== undefined && native.pendingCloses() > 0;

const closed = async (): Promise<void> => { await native?.waitForCloses(); };

/** As `own` by name, length and properties. */
function like(own: AnyFunction, wrapper: AnyFunction): AnyFunction {
  return Object.defineProperties(wrapper, Object.getOwnPropertyDescriptors(own));
}

function afterClosesSync(own: AnyFunction): AnyFunction {
  return like(own, function (this: unknown, ...args: unknown[]) {
    if (arePending()) native?.finishCloses();
    return Reflect.apply(own, this, args);
  });
}

function afterClosesLater(own: AnyFunction): AnyFunction {
  return like(own, function (this: unknown, ...args: unknown[]) {
    const callback: unknown = args.at(-1);
    // Without a callback it throws, which is not to come later.
    if (!arePending() || typeof callback !== 'function') return Reflect.apply(own, this, args);
    const call = (): unknown => Reflect.apply(own, this, args);
    // What it throws would have been thrown at the caller, who has gone on.
    closed().then(call).catch((error: unknown) => { process.nextTick(() => { throw error; }); });
    return undefined;
  });
}

function afterClosesPromised(own: AnyFunction): AnyFunction {
  return like(own, async function (this: unknown, ...args: unknown[]) {
    if (arePending()) await closed();
    return Reflect.apply(own, this, args);
  });
}

type Functions = Record<string, AnyFunction | undefined>;

function wrapped(names: readonly string[], functions: Functions, wrap: (own: AnyFunction) => AnyFunction): Functions {
  const made: Functions = {};
  for (const name of names) {
    const own = functions[name];
    if (typeof own === 'function') made[name] = wrap(own);
  }
  return made;
}

/** The functions of node:fs that remove or rename, waiting for pending closes. */
export function removing(fs: object): Functions {
  const sync = NAMES.map((name) => `${name}Sync`);
  return { ...wrapped(NAMES, fs as Functions, afterClosesLater), ...wrapped(sync, fs as Functions, afterClosesSync) };
}

/** Those of node:fs/promises. */
export function removingPromises(promises: object): Functions {
  return wrapped(NAMES, promises as Functions, afterClosesPromised);
}
