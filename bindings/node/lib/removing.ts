// Functions of node:fs that must not meet a file that is yet to be closed.
//
// On Windows a file that is removed keeps its name until its last handle is closed, and one that is open cannot be
// replaced. Elsewhere both can be done, but on NFS a file that is removed while it is open lives on under another name
// and keeps its directory from being removed; and what a file holds may be with the server only once it is closed, which
// can fail, so that a file that is renamed must not take the place of a good one before. So these wait for pending closes
// first: all of them on Windows, those that rename or remove directories elsewhere; and a file whose close has failed is
// not renamed. Nearly always nothing is pending, and they do what they did.

import { failure } from './many.js';
import { native } from './native.js';
import { nativePath } from './options.js';

type AnyFunction = (...args: unknown[]) => unknown;

const isWindows = process.platform === 'win32';

const NAMES = isWindows ? ['rename', 'rm', 'rmdir', 'unlink'] : ['rename', 'rm', 'rmdir'];

/** Whether a call of `name` has closes to wait for. */
function mustWait(name: string, args: readonly unknown[]): boolean {
  if (native === undefined || native.hasCloses() === 0) return false;
  // Only so does `rm` remove directories.
  return isWindows || name !== 'rm' || (args[1] as { recursive?: unknown } | null | undefined)?.recursive === true;
}

/** Throws what closing a file has reported that is to be renamed. */
function confirm(name: string, [from]: readonly unknown[]): void {
  if (name !== 'rename') return;
  const path = nativePath(from);
  if (path === undefined) return; // For node:fs to refuse.
  const error = native?.confirmClose(typeof path === 'string' ? path : Buffer.from(path).toString());
  if (error !== undefined) throw failure(error, '');
}

const closed = async (): Promise<void> => { await native?.waitForCloses(); };

/** Whether node:fs takes the arguments of a call with a callback. What it refuses it throws, and that is not to come later. */
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
  // Old and deprecated, and new versions refuse it.
  if (name === 'rmdir' && 'recursive' in options) return false;
  const { recursive, force, retryDelay, maxRetries }: Record<string, unknown> = {
    recursive: false, force: false, retryDelay: 0, maxRetries: 0, ...options,
  };
  return typeof recursive === 'boolean' && typeof force === 'boolean' && isCount(retryDelay) && isCount(maxRetries);
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;

/** As `own` by name, length and properties. */
function like(own: AnyFunction, wrapper: AnyFunction): AnyFunction {
  return Object.defineProperties(wrapper, Object.getOwnPropertyDescriptors(own));
}

function afterClosesSync(own: AnyFunction, name: string): AnyFunction {
  return like(own, function (this: unknown, ...args: unknown[]) {
    if (mustWait(name, args)) {
      // Elsewhere only the file itself is waited for.
      if (isWindows || name !== 'rename') native?.finishCloses();
      confirm(name, args);
    }
    return Reflect.apply(own, this, args);
  });
}

function afterClosesLater(own: AnyFunction, name: string): AnyFunction {
  return like(own, function (this: unknown, ...args: unknown[]) {
    if (!mustWait(name, args) || !isTaken(name, args)) return Reflect.apply(own, this, args);
    const later = kept(args);
    const callback = args.findLast((argument) => typeof argument === 'function') as (error: unknown) => void;
    const call = (): void => {
      try {
        confirm(name, later);
      } catch (error) {
        callback(error);
        return;
      }
      Reflect.apply(own, this, later);
    };
    // What it throws all the same would have been thrown at the caller, who has gone on; and what the callback throws is
    // nobody's to catch.
    void closed().then(() => { process.nextTick(call); });
    return undefined;
  });
}

function afterClosesPromised(own: AnyFunction, name: string): AnyFunction {
  return like(own, async function (this: unknown, ...args: unknown[]) {
    if (!mustWait(name, args)) return Reflect.apply(own, this, args);
    const later = kept(args);
    await closed();
    confirm(name, later);
    return Reflect.apply(own, this, later);
  });
}

/** What the caller may change before it is used: bytes of paths. */
const kept = (args: readonly unknown[]): unknown[] => args.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));

type Functions = Record<string, AnyFunction | undefined>;

function wrapped(functions: Functions, suffix: string, wrap: (own: AnyFunction, name: string) => AnyFunction): Functions {
  const made: Functions = {};
  for (const name of NAMES) {
    const own = functions[name + suffix];
    if (typeof own === 'function') made[name + suffix] = wrap(own, name);
  }
  return made;
}

/** The functions of node:fs that remove or rename and have to wait for pending closes, waiting. */
export function removing(fs: object): Functions {
  return { ...wrapped(fs as Functions, '', afterClosesLater), ...wrapped(fs as Functions, 'Sync', afterClosesSync) };
}

/** Those of node:fs/promises. */
export function removingPromises(promises: object): Functions {
  return wrapped(promises as Functions, '', afterClosesPromised);
}
