// Checks the arguments of calls for paths. What is not plainly right goes to node:fs, which knows
// how to refuse it.

import { isUtf8 } from '../options.js';
import { type Metadata } from '../../original.js';
import { ACCESS, AS_BIGINTS, CHMOD, LSTAT, MKDIR, READDIR, READLINK, REALPATH, STAT, UTIMES } from './operations.js';

/** What native code is to do. The first argument is always a path. */
export interface Plan {
  operation: number;
  /** The options ask for bigints, or for types of files. */
  isSpecial: boolean;
  number: number;
  /** A second number, which only `utimes` has. */
  other: number;
}

/** Reads the arguments. Undefined if node:fs has to do the call. */
export type Planner = (first: unknown, second: unknown, third: unknown) => Readonly<Plan> | undefined;

const DIRECTORY_MODE = 0o777;

const plan = (operation: number, number = 0, isSpecial = false): Readonly<Plan> => ({ operation, isSpecial, number, other: 0 });

const isMode = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffffffff;

/** Tells whether an encoding, or its absence, asks for strings. */
export const asksForText = (encoding: unknown) => encoding === undefined || encoding === null || isUtf8(encoding);

/** Tells whether options ask for strings. A signal is for node:fs, which refuses a wrong one. */
function asksForTextIn(options: unknown): boolean {
  if (typeof options !== 'object' || options === null) return asksForText(options);
  const { encoding, signal } = options as Record<string, unknown>;
  return asksForText(encoding) && signal === undefined;
}

const accesses = [0, 1, 2, 3, 4, 5, 6, 7].map((mode) => plan(ACCESS, mode));

function status(operation: number): Planner {
  const numbers = plan(operation);
  const bigints = plan(operation | AS_BIGINTS, 0, true);
  return (_path, options) => {
    if (options === undefined) return numbers;
    if (typeof options !== 'object' || options === null || Array.isArray(options)) return undefined;
    const { bigint, signal, throwIfNoEntry } = options as Record<string, unknown>;
    if (signal !== undefined || throwIfNoEntry === false) return undefined;
    if (bigint === undefined || bigint === false) return numbers;
    return bigint === true ? bigints : undefined;
  };
}

const target = plan(READLINK);
const names = plan(READDIR);
const typedNames = plan(READDIR, 1, true);

/** The time in seconds; undefined if node:fs has to convert it. */
function seconds(time: unknown): number | undefined {
  const value = time instanceof Date ? time.getTime() / 1000 : time;
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

export const planners = {
  access: (_path, mode = 0) => (typeof mode === 'number' ? accesses[mode] : undefined),
  stat: status(STAT),
  lstat: status(LSTAT),
  readdir: (_path, options) => {
    if (!asksForTextIn(options)) return undefined;
    if (typeof options !== 'object' || options === null) return names;
    const { withFileTypes, recursive } = options as Record<string, unknown>;
    if (recursive !== undefined && recursive !== false) return undefined;
    return withFileTypes ? typedNames : names;
  },
  readlink: (_path, options) => (asksForTextIn(options) ? target : undefined),
  // A single directory is made as fast by node:fs.
  mkdir: (_path, options) => {
    if (typeof options !== 'object' || options === null) return undefined;
    const { recursive, mode = DIRECTORY_MODE } = options as Record<string, unknown>;
    return recursive === true && isMode(mode) ? plan(MKDIR, mode) : undefined;
  },
  chmod: (_path, mode) => (isMode(mode) ? plan(CHMOD, mode) : undefined),
  utimes: (_path, atime, mtime) => {
    const [number, other] = [seconds(atime), seconds(mtime)];
    return number === undefined || other === undefined ? undefined : { operation: UTIMES, isSpecial: false, number, other };
  },
} satisfies Record<Metadata, Planner>;

const resolved = plan(REALPATH);

/** The planner of `fs.realpath`, which node:fs does in JavaScript, on a path that is a string. */
export const planRealpath: Planner = (path, options) => (typeof path === 'string' && asksForTextIn(options) ? resolved : undefined);
