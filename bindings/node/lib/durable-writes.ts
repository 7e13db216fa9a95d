// Single writes of which more is asked than to write: what they are asked, and how node:fs's arguments are understood then.
//
// None of them may go to node:fs as it is, which would write and pass over what it does not know. What cannot be done natively
// is done around node:fs (`durable-original.ts`); what node:fs refuses is given to it, so that it does the complaining.

import url = require('node:url');

import { DATA, type Durable, FILE, FULL, type Level } from './durability.js';
import { failure, refused } from './many.js';
import { longestString, nativeHere } from './native.js';
import { DEFAULT_MODE, flagsOf, isDescriptor, isReplacing, isUtf8, nativePath } from './options.js';
import { systemMode, systemPath, takesBytes } from './platform.js';
import { DELEGATE, makeError } from './errors.js';
import { writeOriginalSync } from './durable-original.js';

/** How a file is to be written. */
export interface DurablePlan extends Durable {
  readonly encoding: BufferEncoding;
  readonly flags: number;
  readonly mode: number;
  readonly signal: AbortSignal | undefined;
}

/** What is written where: a path, its bytes or a descriptor. */
export type DurableTarget = string | Uint8Array | number;

const REPLACE = 4;
const IN_PLACE_IF_BUSY = 8;

/** As `addon.ts` explains it. */
export function bitsOf({ level, replace, inPlaceIfBusy }: Durable): number {
  return level | (replace ? REPLACE : 0) | (inPlaceIfBusy ? IN_PLACE_IF_BUSY : 0);
}

/**
 * Reads all options. Those that only matter to who opens the file are passed over if `isOpen`, as in node:fs.
 *
 * @returns undefined if something is wrong that node:fs knows
 * @throws if something is wrong with the combination
 */
export function planDurable(options: object, defaultFlags: number, durable: Durable, isOpen: boolean): DurablePlan | undefined {
  const { encoding, mode, flag, flush, signal } = options as Record<string, unknown>;
  // As in node:fs, where `''` and the like are none.
  if (encoding && encoding !== 'buffer' && !(typeof encoding === 'string' && Buffer.isEncoding(encoding))) return undefined;
  if (flush !== undefined && flush !== null && typeof flush !== 'boolean') return undefined;
  if (signal !== undefined && !isSignal(signal)) return undefined;
  const flags = isOpen ? defaultFlags : flagsOf(flag, defaultFlags);
  const permissions = isOpen ? DEFAULT_MODE : permissionsOf(mode);
  if (flags === undefined || permissions === undefined) return undefined;
  const { replace, inPlaceIfBusy } = durable;
  if (replace && !isReplacing(flags)) {
    throw refused('ERR_INVALID_ARG_VALUE', 'The property \'options.flag\' must be \'w\', \'w+\', \'a\' or \'a+\' with \'options.replace\'', flag);
  }
  const level = flush === true ? withFlush(durable) : durable.level;
  return { encoding: encoding ? (encoding as BufferEncoding) : 'utf8', flags, mode: permissions, level, replace, inPlaceIfBusy, signal };
}

/** The level at which the file is flushed as well. Of a file that takes another's place all of it is, from data on. */
function withFlush({ level, replace }: Durable): Level {
  if (level === FULL) return FULL;
  return replace ? DATA : FILE;
}

function permissionsOf(mode: unknown): number | undefined {
  if (mode === undefined || mode === null) return DEFAULT_MODE;
  const number = typeof mode === 'string' && /^[0-7]+$/u.test(mode) ? Number.parseInt(mode, 8) : mode;
  return Number.isInteger(number) && (number as number) >= 0 && (number as number) <= 0xffffffff ? (number as number) : undefined;
}

const isSignal = (signal: unknown): signal is AbortSignal => typeof signal === 'object' && signal !== null && 'aborted' in signal;

/** A first argument; undefined if node:fs refuses it. */
export function durableTarget(path: unknown): DurableTarget | undefined {
  if (isDescriptor(path)) return path;
  const native = nativePath(path);
  if (native !== undefined || typeof path !== 'object' || path === null || path instanceof URL) return native;
  try {
    // Also URLs that are not of this realm's class, which node:fs knows by their properties.
    return url.fileURLToPath(path as URL);
  } catch {
    return undefined;
  }
}

/** Whether native code takes it. */
export const isForNative = (target: DurableTarget): boolean => takesBytes || typeof target !== 'object';

/** As native code takes it. */
export const forNative = (target: DurableTarget): DurableTarget => (typeof target === 'string' ? systemPath(target) : target);

/** The path for errors; undefined for a descriptor. */
export function shownTarget(target: DurableTarget): string | undefined {
  if (typeof target === 'number') return undefined;
  return typeof target === 'string' ? target : Buffer.from(target).toString();
}

/** A string or bytes as native code takes them; undefined for anything else. */
export function durableData(data: unknown, encoding: BufferEncoding): string | NodeJS.ArrayBufferView | undefined {
  if (typeof data === 'string') {
    return isUtf8(encoding) && data.length <= longestString ? data : Buffer.from(data, encoding);
  }
  return ArrayBuffer.isView(data) ? (data as NodeJS.ArrayBufferView) : undefined;
}

/** There is nothing to replace by name, and nothing to flush but the file. */
export function forDescriptor(plan: DurablePlan): DurablePlan {
  if (plan.replace) {
    throw refused('ERR_INVALID_ARG_VALUE', 'The property \'options.replace\' must be false for a file that is open', true);
  }
  return plan.level === FULL ? { ...plan, level: FILE } : plan;
}

/**
 * Options for a call that node:fs is to refuse. Should it take them after all, or on a runtime that checks less, nothing is
 * made, cut or written.
 */
export function withoutHarm(options: unknown): object {
  const { flag } = options as Record<string, unknown>;
  return flagsOf(flag, 0) === undefined ? options as object : Object.create(options as object, { flag: { value: 'r', enumerable: true } }) as object;
}

/** What node:fs said about the arguments, or why they are refused if it only failed to write. */
export function refusalOf(error: unknown, options: unknown): unknown {
  return typeof (error as { syscall?: unknown } | null | undefined)?.syscall === 'string' ? notTogether(options) : error;
}

/** For arguments that node:fs was to refuse and has not. */
export function notTogether(options: unknown): TypeError {
  return refused('ERR_INVALID_ARG_VALUE', 'The property \'options.durability\' or \'options.replace\' is not possible with these arguments', options);
}

/** `writeFileSync` and `appendFileSync`; `own` is node:fs's. */
export function writeDurablySync(
  target: unknown,
  data: unknown,
  options: object,
  { durable, flags, own, caller }: {
    durable: Durable; flags: number; own: (target: never, data: never, options: never) => void; caller: (...args: never[]) => unknown;
  },
): void {
  const file = durableTarget(target);
  let plan = planDurable(options, flags, durable, typeof file === 'number');
  const bytes = plan === undefined ? undefined : durableData(data, plan.encoding);
  if (plan === undefined || file === undefined || bytes === undefined) {
    try {
      own(target as never, data as never, withoutHarm(options) as never);
    } catch (error) {
      throw refusalOf(error, options);
    }
    throw notTogether(options);
  }
  if (typeof file === 'number') plan = forDescriptor(plan);
  const here = isForNative(file) ? nativeHere() : undefined;
  const code = here === undefined
    ? DELEGATE
    : here.writeDurablySync(forNative(file), bytes, plan.flags, systemMode(plan.mode), bitsOf(plan));
  if (code === undefined) return;
  if (code === DELEGATE) {
    writeOriginalSync(file, bytes, plan);
    return;
  }
  const error = typeof code === 'number' ? makeError(code, shownTarget(file), undefined) : failure(code, shownTarget(file) ?? '');
  Error.captureStackTrace(error, caller);
  throw error;
}

