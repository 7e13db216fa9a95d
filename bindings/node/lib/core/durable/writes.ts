// Single writes with `durability` or `replace`: the arguments, and the blocking form.
//
// No such call may go to node:fs unchanged: node:fs would write the file, and ignore the options
// that it does not know. It only gets calls that it refuses, so that the error is its own. Calls
// that native code does not take are done step by step (`durable-fallback.ts`). Only native code
// does `replace`.


import { url } from '../builtins.js';
import { bitsOf, type Durable, type Level } from './options.js';
import { writeDurablyByNodeSync } from './fallback.js';
import { DELEGATE, makeError } from '../errors.js';
import { failure, refused, utf8Text } from '../many.js';
import { longestString, nativeHere, needsNative } from '../native.js';
import { FLUSH_DATA, FLUSH_FILE, FLUSH_FULL } from '../option-bits.js';
import { DEFAULT_MODE, flagsOf, isDescriptor, isReplacing, isUtf8, nativePath } from '../options.js';
import { systemMode, systemPath, takesBytes } from '../platform.js';

/** The options of a durable write. */
export interface DurablePlan extends Durable {
  readonly encoding: BufferEncoding;
  readonly flags: number;
  readonly mode: number;
  readonly signal: AbortSignal | undefined;
}

/** The target of a write: a path, the bytes of one, or a descriptor. */
export type DurableTarget = string | Uint8Array | number;

/**
 * Reads all options. For an open file it ignores the options that matter only when a file is
 * opened, as node:fs does.
 *
 * @returns undefined if node:fs refuses the options
 * @throws if the options exclude each other, or if a file is to be replaced without the native
 * addon
 */
export function planDurable(options: object, defaultFlags: number, durable: Durable, isOpen: boolean): DurablePlan | undefined {
  const { encoding, mode, flag, flush, signal } = options as Record<string, unknown>;
  // node:fs takes any falsy value for no encoding.
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
  if (replace && isOpen) {
    throw refused('ERR_INVALID_ARG_VALUE', 'The property \'options.replace\' must be false for a file that is open', true);
  }
  if (replace && nativeHere() === undefined) throw cannotReplace();
  const flushed = flush === true ? withFlush(durable) : durable.level;
  // An open file has no name to flush.
  const level = isOpen && flushed === FLUSH_FULL ? FLUSH_FILE : flushed;
  return { encoding: encoding ? (encoding as BufferEncoding) : 'utf8', flags, mode: permissions, level, replace, inPlaceIfBusy, signal };
}

/** Makes the error for `replace` without native code. Nothing was opened or made by then. */
export const cannotReplace = (): Error => needsNative(
  'replace: true', 'Write without `replace`, or write to another name in the same directory and rename that over the file.',
);

/**
 * Combines `flush: true` with a level. A file that replaces another is flushed whole at the level
 * of data already.
 */
function withFlush({ level, replace }: Durable): Level {
  if (level === FLUSH_FULL) return FLUSH_FULL;
  return replace ? FLUSH_DATA : FLUSH_FILE;
}

function permissionsOf(mode: unknown): number | undefined {
  if (mode === undefined || mode === null) return DEFAULT_MODE;
  const number = typeof mode === 'string' && /^[0-7]+$/u.test(mode) ? Number.parseInt(mode, 8) : mode;
  return Number.isInteger(number) && (number as number) >= 0 && (number as number) <= 0xffffffff ? (number as number) : undefined;
}

const isSignal = (signal: unknown): signal is AbortSignal => typeof signal === 'object' && signal !== null && 'aborted' in signal;

/** Reads a first argument; undefined if node:fs refuses it. */
export function durableTarget(path: unknown): DurableTarget | undefined {
  if (isDescriptor(path)) return path;
  const given = nativePath(path) ?? pathOfForeignURL(path);
  const hasNul = typeof given === 'string' ? given.includes('\0') : given?.includes(0) === true;
  return hasNul ? undefined : given;
}

/** Returns the path of a URL of another realm. node:fs knows a URL by its properties. */
function pathOfForeignURL(path: unknown): string | undefined {
  if (typeof path !== 'object' || path === null || path instanceof URL) return undefined;
  try {
    return url().fileURLToPath(path as URL);
  } catch {
    return undefined;
  }
}

/** Converts a target for native code; undefined if native code does not take it. */
export function nativeTarget(target: DurableTarget, replace: boolean): DurableTarget | undefined {
  if (typeof target === 'string') return systemPath(target);
  if (typeof target === 'number' || takesBytes) return target;
  if (!replace) return undefined;
  const text = utf8Text(target);
  if (text !== undefined) return systemPath(text);
  throw refused('ERR_INVALID_ARG_VALUE', 'The argument \'path\' must be UTF-8 for a file to be replaced', target);
}

/** Returns the path that errors show; undefined for a descriptor. */
export function shownTarget(target: DurableTarget): string | undefined {
  if (typeof target === 'number') return undefined;
  return typeof target === 'string' ? target : Buffer.from(target).toString();
}

/** Converts a string or bytes for native code; undefined for anything else. */
export function durableData(data: unknown, encoding: BufferEncoding): string | NodeJS.ArrayBufferView | undefined {
  if (typeof data === 'string') {
    return isUtf8(encoding) && data.length <= longestString ? data : Buffer.from(data, encoding);
  }
  return ArrayBuffer.isView(data) ? (data as NodeJS.ArrayBufferView) : undefined;
}

/**
 * Returns options for a call that node:fs is expected to refuse. If node:fs takes them after all,
 * as a runtime may that checks less, nothing is made, cut or written.
 */
export function withoutHarm(options: unknown): object {
  const { flag } = options as Record<string, unknown>;
  return flagsOf(flag, 0) === undefined ? options as object : Object.create(options as object, { flag: { value: 'r', enumerable: true } }) as object;
}

/**
 * Returns the error that node:fs gave, if it is about the arguments. If it is about a system call,
 * returns the error that refuses the arguments.
 */
export function refusalOf(error: unknown, options: unknown): unknown {
  return typeof (error as { syscall?: unknown } | null | undefined)?.syscall === 'string' ? notTogether(options) : error;
}

/** Makes the error for arguments that node:fs was expected to refuse and did not. */
export function notTogether(options: unknown): TypeError {
  return refused('ERR_INVALID_ARG_VALUE', 'The property \'options.durability\' or \'options.replace\' is not possible with these arguments', options);
}

/** Does `writeFileSync` and `appendFileSync`; `own` is node:fs's function. */
export function writeDurablySync(
  target: unknown,
  data: unknown,
  options: object,
  { durable, flags, own, caller }: {
    durable: Durable; flags: number; own: (target: never, data: never, options: never) => void; caller: (...args: never[]) => unknown;
  },
): void {
  const file = durableTarget(target);
  const plan = planDurable(options, flags, durable, typeof file === 'number');
  const bytes = plan === undefined ? undefined : durableData(data, plan.encoding);
  if (plan === undefined || file === undefined || bytes === undefined) {
    try {
      own(target as never, data as never, withoutHarm(options) as never);
    } catch (error) {
      throw refusalOf(error, options);
    }
    throw notTogether(options);
  }
  const here = nativeHere();
  const place = nativeTarget(file, plan.replace);
  const code = here === undefined || place === undefined
    ? DELEGATE
    : here.writeDurablySync(place, bytes, plan.flags, systemMode(plan.mode), bitsOf(plan));
  if (code === undefined) return;
  if (code === DELEGATE) {
    if (plan.replace) throw notTogether(options);
    writeDurablyByNodeSync(file, bytes, plan);
    return;
  }
  const error = typeof code === 'number' ? makeError(code, shownTarget(file), undefined) : failure(code, shownTarget(file) ?? '');
  Error.captureStackTrace(error, caller);
  throw error;
}
