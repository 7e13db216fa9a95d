// Functions of node:fs that remove or rename files, and wait for pending closes first.
//
// On Windows a removed file keeps its name until its last handle is closed, and an open file cannot
// be replaced. So there all of these functions wait for pending closes first.
//
// On NFS a file that is removed while it is open lives on under another name, and its directory
// cannot be removed. So on other systems the functions that remove directories wait.
//
// A file server may get the contents of a file only when the file is closed, and that can fail. So
// on every system a file is renamed only after it was closed, and not at all if its close failed.
//
// Nearly always no close is pending. Then the functions only call those of node:fs.

import { failure } from './many.js';
import { native } from './native.js';
import { nativePath } from './options.js';

type AnyFunction = (...args: unknown[]) => unknown;

const isWindows = process.platform === 'win32';

const NAMES = isWindows ? ['rename', 'rm', 'rmdir', 'unlink'] : ['rename', 'rm', 'rmdir'];

/** Tells whether a call of `name` waits for closes. */
function mustWait(name: string, args: readonly unknown[]): boolean {
  if (native === undefined || native.hasCloses() === 0) return false;
  // `rm` removes directories only with `recursive`.
  return isWindows || name !== 'rm' || (args[1] as { recursive?: unknown } | null | undefined)?.recursive === true;
}

/** Throws the error of closing a file that is to be renamed. */
function confirm(name: string, [from]: readonly unknown[]): void {
  if (name !== 'rename') return;
  const path = nativePath(from);
  if (path === undefined) return; // node:fs refuses it.
  const error = native?.confirmClose(typeof path === 'string' ? path : Buffer.from(path).toString());
  if (error !== undefined) throw failure(error, '');
}

const awaitPendingCloses = async (): Promise<void> => { await native?.waitForCloses(); };

/**
 * Tells whether node:fs takes the arguments of a call with a callback. For other arguments it
 * throws, and it must do so before the call returns.
 */
function isTaken(name: string, args: readonly unknown[]): boolean {
  const paths = name === 'rename' ? 2 : 1;
  if (args.length < paths || !args.slice(0, paths).every(isPath)) return false;
  const [first, second] = args.slice(paths);
  if (typeof first === 'function') return true;
  return (name === 'rm' || name === 'rmdir') && typeof second === 'function' && areOptions(name, first);
}

function isPath(value: unknown): boolean {
  const path = nativePath(value);
  return typeof path === 'string' ? !path.includes('\0') : path?.includes(0) === false;
}

function areOptions(name: string, options: unknown): boolean {
  if (options === undefined) return true;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return false;
  // New versions of Node refuse this deprecated option.
  if (name === 'rmdir' && 'recursive' in options) return false;
  const { recursive, force, retryDelay, maxRetries }: Record<string, unknown> = {
    recursive: false, force: false, retryDelay: 0, maxRetries: 0, ...options,
  };
  return typeof recursive === 'boolean' && typeof force === 'boolean' && isCount(retryDelay) && isCount(maxRetries);
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;

function afterClosesSync(own: AnyFunction, name: string): AnyFunction {
  return (...args) => {
    if (mustWait(name, args)) {
      // Elsewhere `rename` waits for the file itself only.
      if (isWindows || name !== 'rename') native?.finishCloses();
      confirm(name, args);
    }
    return own(...args);
  };
}

function afterClosesLater(own: AnyFunction, name: string): AnyFunction {
  return (...args) => {
    if (!mustWait(name, args) || !isTaken(name, args)) return own(...args);
    const later = kept(args);
    const callback = args.findLast((argument) => typeof argument === 'function') as (error: unknown) => void;
    const call = (): void => {
      try {
        confirm(name, later);
      } catch (error) {
        callback(error);
        return;
      }
      own(...later);
    };
    // The tick of its own makes an exception of the callback an uncaught one, as node:fs does.
    void awaitPendingCloses().then(() => { process.nextTick(call); });
    return undefined;
  };
}

function afterClosesPromised(own: AnyFunction, name: string): AnyFunction {
  return async (...args) => {
    if (!mustWait(name, args)) return own(...args);
    const later = kept(args);
    await awaitPendingCloses();
    confirm(name, later);
    return own(...later);
  };
}

/** Copies paths that are bytes, which the caller may change before they are used. */
const kept = (args: readonly unknown[]): unknown[] => args.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));

type Wrap = (own: AnyFunction, name: string) => AnyFunction;

function wrapped<Functions extends object>(functions: Functions, suffix: string, wrap: Wrap): Partial<Functions> {
  const made: Record<string, AnyFunction> = {};
  for (const name of NAMES) {
    const own = (functions as Record<string, unknown>)[name + suffix] as AnyFunction;
    made[name + suffix] = wrap(own, name);
  }
  return made as Partial<Functions>;
}

/** Wraps functions of node:fs that remove or rename, so that they wait for pending closes. */
export function waitingForCloses<Functions extends object>(functions: Functions): Functions {
  return { ...functions, ...wrapped(functions, '', afterClosesLater), ...wrapped(functions, 'Sync', afterClosesSync) };
}

/** Wraps functions of node:fs/promises, as {@link waitingForCloses} does with those of node:fs. */
export function waitingForClosesPromised<Functions extends object>(functions: Functions): Functions {
  return { ...functions, ...wrapped(functions, '', afterClosesPromised) };
}
