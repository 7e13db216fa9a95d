// The native functions of this environment, loaded once.

import { type Native, isMainThread, load, usesVirtualFiles, warn } from './addon.js';
import { complete } from './requests.js';
import { advance } from './sessions.js';

const loaded = load(complete, advance);

/** Undefined if the addon cannot be used here; then node:fs does everything. */
export const native: Native | undefined = loaded.native;

/** The native functions, unless the program uses files that only node:fs sees. */
export const nativeHere = (): Native | undefined => (usesVirtualFiles() ? undefined : native);

/** Longest string that one native call takes, in UTF-16 units. */
export const longestString = loaded.longestString;

/** Why `native` is undefined. */
export const reason = loaded.reason;

if (native === undefined) {
  warn(reason);
} else {
  // Windows ends all other threads before a library hears of the end, and Bun does not run the addon's `atexit` handler.
  const isLeftToUs = process.platform === 'win32' || process.versions.bun !== undefined;
  process.on('exit', () => {
    // A worker's own end is the addon's to notice.
    if (isLeftToUs && isMainThread()) native.finish();
    if (native.hasCloses() === 1 && isMainThread()) {
      // eslint-disable-next-line @typescript-eslint/no-require-imports -- not needed before, and nearly never
      (require('./closes.js') as typeof import('./closes.js')).tellAtExit();
    }
  });
}
