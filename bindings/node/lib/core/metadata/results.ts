// Makes the results of calls for paths: real `fs.Stats` and `fs.Dirent`.

import fs = require('node:fs');

import { native } from '../native.js';
import { isNodesOwn } from '../../nodes-own.js';
import { facts, original } from '../../original.js';

type Four = [number, number, number, number];
type Numbers = [...Four, ...Four, ...Four, ...Four, number, number];
type Constructor = new (...args: (number | bigint)[]) => object;

// In the order of Node's own array: ten fields, then four times in seconds and nanoseconds.
const FIELDS = 18;
const numbers = new Float64Array(FIELDS);
const bigints = new BigInt64Array(numbers.buffer);
native?.setStatusArray(numbers);

let Stats: Constructor | undefined;
let BigIntStats: Constructor | undefined;

/**
 * Returns the class of what `statSync` gives; the one in node:fs warns that it is deprecated. A
 * function that the program has replaced must not hear of it.
 */
function classOf(bigint: boolean): Constructor {
  const mayAsk = (name: 'statSync' | 'lstatSync') => facts.runsFirst || isNodesOwn(original[name], name);
  const look = mayAsk('statSync') ? original.statSync : original.lstatSync;
  return look('/', { bigint }).constructor as unknown as Constructor;
}

const nanoseconds = (at: number) => (bigints[at]) * 1_000_000_000n + (bigints[at + 1]);

/** Makes the `fs.Stats` of the status that native code has put into its array. */
export function stats(): object {
  Stats ??= classOf(false);
  const n = numbers as unknown as Numbers;
  // Node 26 keeps seconds and nanoseconds.
  if (Stats.length === FIELDS) {
    return new Stats(
      n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12], n[13], n[14], n[15], n[16], n[17],
    );
  }
  return new Stats(
    n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9],
    n[10] * 1000 + n[11] / 1e6, n[12] * 1000 + n[13] / 1e6, n[14] * 1000 + n[15] / 1e6, n[16] * 1000 + n[17] / 1e6,
  );
}

/** Makes a `BigIntStats` as {@link stats} makes a `fs.Stats`. */
export function bigIntStats(): object {
  BigIntStats ??= classOf(true);
  const n = bigints as unknown as bigint[] & Record<number, bigint>;
  return new BigIntStats(
    n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9],
    nanoseconds(10), nanoseconds(12), nanoseconds(14), nanoseconds(16),
  );
}

/** Splits names that have a slash after each. */
export function names(text: string): string[] {
  const parts = text.split('/');
  parts.pop();
  return parts;
}

/** The digit of libuv's number for a file system that does not tell types. */
const UNKNOWN = 48;

const Dirent = fs.Dirent as unknown as new (name: string, type: number, directory: string) => fs.Dirent;

/** Makes an `fs.Dirent`. The digit of its type is a character code. */
export const direntOf = (name: string, digit: number, directory: string): fs.Dirent => new Dirent(name, digit - UNKNOWN, directory);

/**
 * Makes an `fs.Dirent` of each name. A digit for each is behind the last slash: its type. Undefined
 * if the file system does not tell the type of each.
 */
export function dirents(text: string, directory: string): fs.Dirent[] | undefined {
  const all: unknown[] = text.split('/');
  const types = all.pop() as string;
  for (let index = 0; index < all.length; index += 1) {
    const digit = types.charCodeAt(index);
    if (digit === UNKNOWN) return undefined;
    all[index] = direntOf(all[index] as string, digit, directory);
  }
  return all as fs.Dirent[];
}
