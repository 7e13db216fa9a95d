// The options of calls that write many files.

import { bitsOf, type DurabilityOptions, type Durable, durableOf } from '../core/durable/options.js';
import {
  encodingOf, flag, listenerOf, type ManyAsyncOptions, type ManyOptions, MAX_IN_FLIGHT, modeOf, optionsOf, positive,
  signalOf, threadsOf,
} from '../core/many.js';
import { CREATE_NEW, CREATE_PARENTS, FAIL_FAST, FLUSH_NOTHING, ONLY_IF_CHANGED } from '../core/option-bits.js';

export interface WriteFilesSyncOptions extends ManyOptions, DurabilityOptions {
  /** The encoding of strings. UTF-8 by default. */
  encoding?: BufferEncoding | null | undefined;
  /** Permissions of new files, less the umask, as a number or an octal string. 0o666 by default. */
  mode?: number | string | undefined;
  /** Makes missing directories above the files, each once. */
  createParents?: boolean | undefined;
  /** Leaves files alone that hold the right bytes already: their modification time stays. */
  onlyIfChanged?: boolean | undefined;
  /** Fails for files that exist already. */
  createNew?: boolean | undefined;
  /**
   * Begins nothing more after the first failure. Entries that were taken by then and not begun fail
   * with `ERR_SMALLFRY_CANCELLED`. Entries that were not taken have no outcome.
   */
  failFast?: boolean | undefined;
  /**
   * Gives the outcome of each entry, as `Promise.allSettled` does. By default the call fails if one
   * entry failed.
   */
  settle?: boolean | undefined;
}

export interface WriteFilesOptions extends WriteFilesSyncOptions, ManyAsyncOptions {}

/** The checked options of one call. */
export interface WritePlan {
  encoding: BufferEncoding;
  mode: number;
  createParents: boolean;
  onlyIfChanged: boolean;
  createNew: boolean;
  durable: Durable;
  failFast: boolean;
  settle: boolean;
  threads: number;
  maxInFlight: number;
  signal: AbortSignal | undefined;
  onProgress: WriteFilesOptions['onProgress'];
}

/** Checks the options of a call. */
export function planWriteFiles(options: WriteFilesOptions | BufferEncoding | null | undefined): WritePlan {
  const given = optionsOf(options);
  const createNew = flag('createNew', given.createNew);
  const onlyIfChanged = flag('onlyIfChanged', given.onlyIfChanged);
  if (createNew && onlyIfChanged) throw exclude('createNew', 'onlyIfChanged');
  const durable = durableOf(given, true) ?? { level: FLUSH_NOTHING, replace: false, inPlaceIfBusy: false };
  if (createNew && durable.replace) throw exclude('createNew', 'replace');
  return {
    encoding: encodingOf(given.encoding) ?? 'utf8',
    mode: modeOf(given.mode),
    createParents: flag('createParents', given.createParents),
    onlyIfChanged,
    createNew,
    durable,
    failFast: flag('failFast', given.failFast),
    settle: flag('settle', given.settle),
    threads: threadsOf(given.threads),
    maxInFlight: positive('maxInFlight', given.maxInFlight, MAX_IN_FLIGHT),
    signal: signalOf(given.signal),
    onProgress: listenerOf(given.onProgress),
  };
}

/** Returns the bits for native code. */
export function writeBits({ createParents, onlyIfChanged, createNew, failFast, durable }: WritePlan): number {
  return bitsOf(durable) | (createParents ? CREATE_PARENTS : 0) | (onlyIfChanged ? ONLY_IF_CHANGED : 0) |
    (createNew ? CREATE_NEW : 0) | (failFast ? FAIL_FAST : 0);
}

function exclude(one: string, other: string): TypeError {
  const error = new TypeError(`The "${one}" and "${other}" options exclude each other`);
  return Object.assign(error, { code: 'ERR_INVALID_ARG_VALUE' });
}
