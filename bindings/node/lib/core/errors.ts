// Errors as node:fs makes them, from the numbers that native code returns.


import { os, util } from './builtins.js';
import { shownPath } from './platform.js';

/** The code for a call of which nothing was done: node:fs has to do it. */
export const DELEGATE = -1;

const SYSCALLS = [
  '', 'open', 'fstat', 'read', 'write', 'close', 'mkdir', 'scandir', 'stat', 'fsync', 'fdatasync', 'syncfs', 'readlink',
  'fchmod', 'fchown', 'fsetxattr', 'rename', 'copyfile', 'unlink', 'access', 'lstat', 'realpath', 'chmod',
  'utime', 'symlink', 'link',
] as const;
const FSYNC = 9;
export const OPEN = 1;
const FSTAT = 2;

/** Tells whether opening failed, so that nothing was read or written. */
export function failedToOpen(code: number): boolean {
  return code >> 16 === OPEN;
}

/**
 * Tells whether the call ended before the first byte, so that it can be repeated even on a
 * descriptor.
 */
export function failedToBegin(code: number): boolean {
  return code === DELEGATE || code >> 16 === FSTAT;
}

/** Tells whether flushing failed. */
export function failedToFlush(code: number): boolean {
  return code >> 16 === FSYNC;
}

let names: Map<number, [string, string]> | undefined;

function describe(errno: number): [code: string, message: string] {
  names ??= util().getSystemErrorMap();
  const known = names.get(-errno);
  if (known !== undefined) return known;
  const name = Object.entries(os().constants.errno).find(([, number]) => number === errno)?.[0];
  return [name ?? `E${errno}`, 'unknown error'];
}

/**
 * Makes an error without a stack: the stack of native code's callback says nothing, and takes most
 * of the time.
 */
export function bareError<Own extends object>(message: string, own: Own): Error & Own {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = new Error(message);
  Error.stackTraceLimit = limit;
  return Object.assign(error, own);
}

/**
 * Makes the error for `code`, with its own keys in Node's order.
 *
 * @param path the path, if Node names it for this call
 * @param caller the function whose frames are left out of the stack; undefined for no frames at
 * all, as in callbacks
 * @param codeLast whether the keys have the order errno, syscall, code of node:fs's JavaScript; its
 * C++ has code second
 * @param destination the second path
 */
export function makeError(
  code: number,
  path: string | undefined,
  caller: ((...args: never[]) => unknown) | undefined,
  codeLast = false,
  destination?: string,
): NodeJS.ErrnoException {
  const errno = code & 0xffff;
  const seen = path === undefined ? undefined : shownPath(path);
  const dest = destination === undefined ? undefined : shownPath(destination);
  const syscall = SYSCALLS[code >> 16] ?? '';
  const paths = `${seen === undefined ? '' : ` '${seen}'`}${dest === undefined ? '' : ` -> '${dest}'`}`;
  const [name, reason] = describe(errno);
  const error: NodeJS.ErrnoException & { dest?: string } = bareError(`${name}: ${reason}, ${syscall}${paths}`, {});
  error.errno = -errno;
  if (codeLast) {
    error.syscall = syscall;
    error.code = name;
  } else {
    error.code = name;
    error.syscall = syscall;
  }
  if (seen !== undefined) error.path = seen;
  if (dest !== undefined) error.dest = dest;
  if (caller !== undefined) Error.captureStackTrace(error, caller);
  return error;
}
