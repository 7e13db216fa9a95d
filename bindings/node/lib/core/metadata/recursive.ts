// `readdir` with `recursive`. Node 20 to 24 make a call for each directory, and look at each entry
// that may be a directory. Here one native call lists all. node:fs repeats a call that fails below
// the first directory, or that finds names that are not UTF-8.
//
// Node 26 lists all in C++, which is as fast, so it does these calls itself.

import { AsyncResource } from 'node:async_hooks';
import path = require('node:path');

import { isTestedNode, usesVirtualFiles } from '../addon.js';
import { makeError } from '../errors.js';
import { mayList } from '../heard.js';
import { native } from '../native.js';
import { nativePath } from '../options.js';
import { original } from '../../original.js';
import { forget, fulfilRequest, keep, type Receiver, rejectRequest, type Request, type RequestKind } from '../requests.js';
import { asksForText } from './plans.js';
import { direntOf } from './results.js';

// The bits of a listing. `src/jobs/listing.rs` has the same.
const TYPES = 1;
const FOLLOW_LINKS = 2;
const DEPTH_FIRST = 4;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/**
 * The first and the last minor version of each Node that was compared with native code. Links are
 * treated in another way before 22.13. The C++ code of Node 26.10 may come to older versions.
 */
const KNOWN_MINORS: Partial<Record<number, readonly [first: number, last: number]>> = { 20: [18, 20], 22: [13, 23], 24: [0, 21] };
const [first = Infinity, last = 0] = KNOWN_MINORS[major] ?? [];
const isKnown = isTestedNode && minor >= first && minor <= last;

/** Node 20 lists all before a call with a callback returns, and calls back at once. */
const callsBackAtOnce = major === 20;

/** A call for native code. */
interface Plan {
  /** The path, which has been a URL or a string. */
  directory: string;
  /** The path of an entry, without the name of the entry. */
  below: string;
  bits: number;
  options: { recursive: true; withFileTypes: boolean; encoding: 'utf8' };
}

/** A path that `path.join` may shorten, which takes it 0.4 µs. */
const MAY_BE_SHORTENED = /^\.|\/(?:[./]|$)/;

/** Plans a call; undefined if node:fs has to do it. */
function plan(target: unknown, options: unknown, isPromised: boolean): Plan | undefined {
  if (!isKnown || typeof options !== 'object' || options === null || native?.listAll === undefined) return undefined;
  const { recursive, withFileTypes, encoding, signal } = options as Record<string, unknown>;
  if (recursive !== true || !asksForText(encoding) || signal !== undefined) return undefined;
  const directory = nativePath(target);
  if (typeof directory !== 'string' || directory === '' || !mayList() || usesVirtualFiles()) return undefined;
  const hasTypes = Boolean(withFileTypes);
  const followsLinks = !hasTypes || (!isPromised && major > 20);
  return {
    directory,
    below: MAY_BE_SHORTENED.test(directory) ? path.join(directory, 'x').slice(0, -1) : `${directory}/`,
    bits: (hasTypes ? TYPES : 0) | (followsLinks ? FOLLOW_LINKS : 0) | (isPromised ? DEPTH_FIRST : 0),
    options: { recursive: true, withFileTypes: hasTypes, encoding: 'utf8' },
  };
}

/** Makes the result of a listing, as `src/jobs/listing.rs` describes it. */
function resultOf({ directory, below, bits }: Plan, text: string): unknown[] {
  const parts: unknown[] = text.split('\0');
  parts.pop();
  if ((bits & TYPES) === 0) return parts;
  let made = 0;
  for (let next = 0; next < parts.length;) {
    const place = parts[next] as string;
    const types = parts[next + 1] as string;
    next += 2;
    const parent = place === '' ? directory : below + place.slice(0, -1);
    for (let index = 0; index < types.length; index += 1) {
      parts[made] = direntOf(parts[next] as string, types.charCodeAt(index), parent);
      made += 1;
      next += 1;
    }
  }
  parts.length = made;
  return parts;
}

const listing: RequestKind = {
  hasResult: true,
  convert: ({ data }, value) => resultOf(data as Plan, value as string),
  failed: ({ path }, code) => makeError(code, path, undefined),
};

/** Hands a call to native code; false if it was not taken. */
function start(planned: Plan, receiver: Receiver, callNode: (made: Request) => void): boolean {
  const { directory, below, bits, options } = planned;
  const id = keep({
    kind: listing, encoding: null, path: directory, namesPath: true, callNode, target: directory, data: planned, options, receiver,
  });
  if (native?.listAll?.(directory, below, bits, id, 'callback' in receiver ? 1 : 0) === undefined) return true;
  forget(id);
  return false;
}

type AnyFunction = (...args: unknown[]) => unknown;

/** Does `fs.promises.readdir`; undefined if it is no call for native code. */
export function readdirPromised(target: unknown, options: unknown): Promise<unknown> | undefined {
  let planned: Plan | undefined;
  try {
    planned = plan(target, options, true);
  } catch {
    // A getter of the options has thrown, as it will again.
  }
  if (planned === undefined) return undefined;
  const onNode = (): unknown => (original.promises.readdir as AnyFunction)(planned.directory, planned.options);
  return new Promise((resolve) => {
    if (!start(planned, { resolve }, () => { resolve(onNode()); })) resolve(onNode());
  });
}

/** Returns the result of a blocking call; undefined if node:fs has to do it. */
function listNow(target: unknown, options: unknown): unknown[] | undefined {
  const planned = plan(target, options, false);
  if (planned === undefined) return undefined;
  const text = native?.listAllSync?.(planned.directory, planned.below, planned.bits);
  return text === undefined ? undefined : resultOf(planned, text);
}

/** Does `fs.readdirSync`. */
export const readdirSync = ((target: unknown, options: unknown) => (
  listNow(target, options) ?? (original.readdirSync as AnyFunction)(target, options)
)) as AnyFunction as typeof original.readdirSync;

function listOnNode(made: Request): void {
  (original.readdir as AnyFunction)(made.target, made.options, (error: unknown, value: unknown) => {
    if (error) rejectRequest(made, error);
    else fulfilRequest(made, value);
  });
}

/** Does `fs.readdir`. */
export const readdir = ((target: unknown, options: unknown, callback: unknown) => {
  if (typeof callback === 'function') {
    if (callsBackAtOnce) {
      const result = listNow(target, options);
      if (result !== undefined) {
        (callback as AnyFunction)(null, result);
        return;
      }
    } else {
      const planned = plan(target, options, false);
      if (planned !== undefined) {
        const receiver = { callback: callback as () => void, resource: new AsyncResource('SMALLFRY') };
        if (start(planned, receiver, listOnNode)) return;
      }
    }
  }
  (original.readdir as AnyFunction)(target, options, callback);
}) as AnyFunction as typeof original.readdir;
