// What native code does with package.json files, and how it tells what went wrong.

import util = require('node:util');

import { bareError } from '../errors.js';
import { refused } from '../many.js';

/** `none` if there is no type, or one that Node passes over. */
export type ModuleType = 'none' | 'commonjs' | 'module';

/** By number. */
export const TYPES: readonly ModuleType[] = ['none', 'commonjs', 'module'];

/** The file cannot be read: errno, 0 if the system has none, and a text for then. */
type Unreadable = [kind: 0, path: string, errno: number, reason: string];
/** It is invalid. */
type Invalid = [kind: 1, path: string, line: number, column: number, reason: string];
/** No file can have the path that was asked for. */
type Impossible = [kind: 2, path: string, reason: string];
export type Failure = Unreadable | Invalid | Impossible;

/** A value as it is written, and whether it is JSON (1) or a string. */
type Raw = [value: string | undefined, isJSON: number];
export type Fields = [path: string, name: string | undefined, main: string | undefined, type: number, ...Raw, ...Raw];

/** A policy is -1 for never, 0 for on change, or an age in milliseconds. */
export interface NativePackageJSON {
  /** Number of the type of the package.json that decides for a file. */
  packageType(path: string, policy: number): number | Failure;
  /** The same for paths joined by NUL, into an array of that many. How many there are, or the first failure. */
  packageTypes(joined: string, types: Uint8Array, policy: number): number | Failure;
  /** Numbers of formats, likewise; 1 for TypeScript's extensions. */
  packageFormats(joined: string, formats: Uint8Array, policy: number, typescript: number): number | Failure;
  /** A number that stands for the package.json that decides for a file, 0 for none. */
  packageNearest(path: string, policy: number): number | Failure;
  /** The same by the rules of scopes; the path where the search ended if there is none. */
  packageScope(path: string, policy: number): number | string | Failure;
  /** What the last of these two found. */
  packageFound(): Fields | undefined;
  /** For how many milliseconds after the last look-up began its answer holds, if its policy is an age. */
  packageRemaining(): number;
  /** Forgets a path and all beneath it, or everything. */
  packageForget(path: string | undefined): Failure | undefined;
  /** From now on the array's one element is raised by each `packageForget`, in whichever worker. */
  packageWatch(counter: Uint32Array): void;
}

/** Why there is no answer; with Node's own code and text where Node has them. */
export interface PackageConfigError extends Error {
  code: 'ERR_INVALID_PACKAGE_CONFIG' | 'ERR_INVALID_ARG_VALUE';
  /** The package.json. */
  path?: string;
  /** Of the place where it is invalid, from 1. */
  line?: number;
  /** From 1, in characters. */
  column?: number;
  /** What is wrong there. */
  reason?: string;
  /** Why it cannot be read, as in node:fs's errors. */
  errno?: number;
}

/** The error of a failure; the frames of `caller` are left out of its stack. */
export function errorOf(failure: Failure, caller: (...args: never[]) => unknown): Error {
  const error = bare(failure);
  Error.captureStackTrace(error, caller);
  return error;
}

function bare(failure: Failure): Error {
  const code = 'ERR_INVALID_PACKAGE_CONFIG';
  switch (failure[0]) {
    case 0: {
      const [, path, errno, text] = failure;
      const known = errno === 0 ? undefined : util.getSystemErrorMap().get(-errno);
      const reason = known?.[1] ?? text;
      const own = { code, path, reason, ...(errno === 0 ? {} : { errno: -errno }) };
      return bareError(`Cannot read package config ${path}: ${reason}.`, own);
    }
    case 1: {
      const [, path, line, column, reason] = failure;
      return bareError(`Invalid package config ${path}.`, { code, path, line, column, reason });
    }
    default: {
      const [, path, reason] = failure;
      return refused('ERR_INVALID_ARG_VALUE', `The argument 'path' is ${reason}`, path);
    }
  }
}
