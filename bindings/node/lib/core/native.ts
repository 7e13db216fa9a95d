// The native functions of this environment, loaded once.

import { type Native, isMainThread, load, usesVirtualFiles, warn } from './addon.js';
import { reportAtExit } from './close-errors.js';
import { complete } from './requests.js';
import { advance } from './sessions.js';

const loaded = load(complete, advance);

/**
 * The native functions; undefined if the addon cannot be used here. Then node:fs does everything
 * that it can.
 */
export const native: Native | undefined = loaded.native;

/** Returns the native functions, unless the program uses files that only node:fs sees. */
export const nativeHere = (): Native | undefined => (usesVirtualFiles() ? undefined : native);

/** The longest string that one native call takes, in UTF-16 units. */
export const longestString = loaded.longestString;

/** The reason why `native` is undefined; empty if it is not. */
export const reason = loaded.reason;

/**
 * Makes the error for something that only native code does. `instead` says what the caller can do.
 */
export function needsNative(what: string, instead: string): Error {
  const why = native === undefined
    ? `which did not load: ${reason}`
    : 'which cannot be used: the program uses node:vfs, whose files only node:fs sees';
  const error = new Error(`${what} needs smallfry's native addon, ${why}. ${instead}`);
  return Object.assign(error, { code: 'ERR_SMALLFRY_NOT_NATIVE' });
}

if (native === undefined) {
  warn(reason);
} else {
  // Windows ends all other threads before a library hears of the end, and Bun does not run the
  // addon's `atexit` handler.
  const mustFinish = process.platform === 'win32' || process.versions.bun !== undefined;
  process.on('exit', () => {
    // The addon itself notices the end of a worker.
    if (mustFinish && isMainThread()) native.finish();
    if (native.hasCloses() === 1 && isMainThread()) {
      reportAtExit(native);
    }
  });
}
