// Look-ups in JavaScript, where the native addon cannot be used. Each reads the files anew.
// JSON.parse decides what is valid. It is stricter about fields that are not used here.

import fs = require('node:fs');
import path = require('node:path');

import { BY_TYPE, formatOf, kindOf } from './formats.js';
import { type Failure, type Fields, type NativePackageJSON, TYPES } from '../core/addon-package-json.js';
import { pathOf } from './paths.js';

/** Carries a failure to the function that was called, which returns it. */
class Failed extends Error {
  constructor(readonly failure: Failure) {
    super();
  }
}

const MISSING = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);

function read(file: string): Fields | undefined {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '', errno = 0, message } = error as NodeJS.ErrnoException;
    if (MISSING.has(code)) return undefined;
    throw new Failed([0, file, -errno, message]);
  }
  let found: unknown;
  try {
    found = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failed([1, file, 0, 0, reason]);
  }
  const invalid = (reason: string): Failed => new Failed([1, file, 0, 0, reason]);
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw invalid('an object is expected');
  const { name, main, type, exports, imports } = found as Record<string, unknown>;
  for (const value of [name, type]) {
    if (value !== undefined && typeof value !== 'string') throw invalid('a string is expected');
  }
  const raw = (value: unknown): [string | undefined, number] => {
    if (typeof value === 'string') return [value, 0];
    return typeof value === 'object' && value !== null ? [JSON.stringify(value), 1] : [undefined, 0];
  };
  return [
    file, name as string | undefined, typeof main === 'string' ? main : undefined,
    Math.max(0, TYPES.indexOf(type as 'module')), ...raw(exports), ...raw(imports),
  ];
}

/** Refuses paths that no file can have, with the texts of native code. */
function refuse(path: string): void {
  if (path === '') throw new Failed([2, path, 'an empty path']);
  if (path.includes('\0')) throw new Failed([2, path, 'a path with a null byte']);
}

/** Finds the package.json that decides for a file, and where the search for it ended. */
function walk(file: string): { fields: Fields | undefined; end: string; isRoot: boolean } {
  refuse(file);
  let directory = /[\\/]\.{0,2}$/.test(file) ? path.resolve(file) : path.dirname(path.resolve(file));
  for (;;) {
    const end = path.join(directory, 'package.json');
    const above = path.dirname(directory);
    if (above === directory) return { fields: undefined, end, isRoot: true };
    if (path.basename(directory) === 'node_modules') return { fields: undefined, end, isRoot: false };
    const fields = read(end);
    if (fields !== undefined) return { fields, end, isRoot: false };
    directory = above;
  }
}

let found: Fields | undefined;
let serial = 0;
const counters: Uint32Array[] = [];

/** Keeps fields for the next `packageFound`, and returns a number for them. */
function keep(fields: Fields | undefined): number {
  found = fields;
  // Native code has numbers above 0.
  return fields === undefined ? 0 : --serial;
}

/** Returns a failure instead of throwing it. */
function answered<T>(call: () => T): T | Failure {
  try {
    return call();
  } catch (error) {
    if (error instanceof Failed) return error.failure;
    throw error;
  }
}

const typeAt = (file: string): number => walk(file).fields?.[3] ?? 0;

/** Puts an answer for each of the joined paths into an array, if it has as many elements. */
function each(joined: string, into: Uint8Array, find: (file: string) => number): number | Failure {
  const files = joined.split('\0');
  return answered(() => {
    if (files.length === into.length) for (const [index, file] of files.entries()) into[index] = find(file);
    return files.length;
  });
}

export const inJavaScript: NativePackageJSON = {
  packageType: (file) => answered(() => typeAt(file)),
  packageTypes: (joined, types) => each(joined, types, typeAt),
  packageFormats: (joined, formats, _, typescript) => each(joined, formats, (file) => {
    const kind = kindOf(file, typescript === 1);
    return kind === BY_TYPE ? formatOf(typeAt(file)) : kind;
  }),
  packageNearest: (file) => answered(() => keep(walk(file).fields)),
  packageScope: (file) => answered(() => {
    const { fields, end, isRoot } = walk(pathOf(file));
    return keep(fields ?? (isRoot ? read(end) : undefined)) || end;
  }),
  packageFound: () => found,
  packageRemaining: () => 0,
  packageForget: (path) => answered(() => {
    for (const counter of counters) counter[0] += 1;
    if (path !== undefined) refuse(path);
    return undefined;
  }),
  packageWatch: (counter) => void counters.push(counter),
};
