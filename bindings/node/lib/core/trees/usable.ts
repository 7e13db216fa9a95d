// Tells which trees native code may work on.

import { isTestedNode, type TreeOutcome, usesVirtualFiles } from '../addon.js';
import { native } from '../native.js';
import { nativePath } from '../options.js';

/** The source of a copy, and its destination. */
export interface Path {
  from: string;
  to: string;
}

/** Tells whether native code may do the functions of node:fs for trees, as on Unix systems. */
export const isUsable = (): boolean => native?.listTree !== undefined && isTestedNode && !usesVirtualFiles();

/** A path that names nothing by itself. */
const SPECIAL = /^\/*$|(?:^|\/)\.{1,2}\/*$|\0/;

/** Returns a path as a string; undefined if node:fs has to look at it. */
export function plainPath(path: unknown): string | undefined {
  const native = nativePath(path);
  return typeof native === 'string' && !SPECIAL.test(native) ? native : undefined;
}

/** Tells whether native code could not copy or remove an entry. */
export const hasFailed = (outcome: TreeOutcome): boolean => outcome[3].length > 0;

/** Returns a function that makes `call` once, and then returns what that returned. */
export function once<Result>(call: () => Result): () => Result {
  let made: { result: Result } | undefined;
  return () => (made ??= { result: call() }).result;
}
