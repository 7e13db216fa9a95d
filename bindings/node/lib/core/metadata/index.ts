// Calls for paths that finish later, with a callback or a promise: `stat`, `readdir` and others. They
// are native jobs, as calls for whole files are.

import { AsyncResource } from 'node:async_hooks';
import { resolve } from 'node:path';

import { isTestedNode, usesVirtualFiles } from '../addon.js';
import { makeError } from '../errors.js';
import { mayResolve } from '../heard.js';
import { native } from '../native.js';
import { nativePath } from '../options.js';
import { type Metadata, original } from '../../original.js';
import { forget, fulfilRequest, keep, type Receiver, rejectRequest, REPEAT, type Request, type RequestKind } from '../requests.js';
import { type Plan, type Planner, planners, resolving } from './plans.js';
import { bigIntStats, dirents, names, stats } from './results.js';

type AnyFunction = (...args: unknown[]) => unknown;

/** One function. */
interface Kind extends RequestKind {
  /** The number of arguments that a call may have, without the callback. */
  minimum: number;
  maximum: number;
  plan: Planner;
  /** The kind of calls whose options ask for bigints, or for types of files. */
  special: RequestKind | undefined;
  /** Tells whether no function is replaced that node:fs would call, if there is a callback. */
  mayCallBack: () => boolean;
  /** Converts the path for native code; undefined if node:fs has to decide. */
  pathOf: (path: unknown) => string | Uint8Array | undefined;
  withCallback: AnyFunction;
  withPromise: (...args: unknown[]) => Promise<unknown>;
  callNode: (made: Request) => void;
}

function kind(name: Metadata, minimum: number, maximum: number, more: Partial<Kind> = {}): Kind {
  const made: Kind = {
    minimum,
    maximum,
    plan: planners[name],
    special: undefined,
    hasResult: true,
    convert: (_made, value) => value,
    failed,
    mayCallBack: () => true,
    pathOf: nativePath,
    // Looked up for each call, since calls of node:fs may be counted.
    withCallback: (...args) => (original[name] as AnyFunction)(...args),
    withPromise: (...args) => (original.promises[name] as (...args: unknown[]) => Promise<unknown>)(...args),
    callNode: (request) => { callNode(made, request); },
    ...more,
  };
  return made;
}

const failed = ({ path }: Request, code: number): Error => makeError(code, path, undefined);

/** Makes the same call on node:fs, and gives the result to the same receiver. */
function callNode(kind: Kind, made: Request): void {
  const { receiver } = made;
  const args = argumentsOf(made);
  if ('callback' in receiver) {
    kind.withCallback(...args, (error: unknown, value: unknown) => {
      if (error) rejectRequest(made, error);
      else fulfilRequest(made, value);
    });
  } else {
    receiver.resolve(kind.withPromise(...args));
  }
}

/** The arguments that the caller gave. No function takes undefined for another value. */
function argumentsOf({ target, data, options }: Request): unknown[] {
  const args = [target, data, options];
  while (args.length > 1 && args.at(-1) === undefined) args.pop();
  return args;
}

/** Converts the bytes of a path to what errors show. */
const shown = (path: string | Uint8Array): string => (typeof path === 'string' ? path : Buffer.from(path).toString());

/** Reads the arguments of a call. Undefined if node:fs has to do it. */
function planOf(kind: Kind, first: unknown, second: unknown, third: unknown): Readonly<Plan> | undefined {
  return native === undefined || !isTestedNode || usesVirtualFiles() ? undefined : kind.plan(first, second, third);
}

/** Hands a call to native code; false if it was not taken. */
function start(kind: Kind, plan: Readonly<Plan>, args: readonly unknown[], receiver: Receiver): boolean {
  const [first, second, third] = args;
  const path = kind.pathOf(first);
  if (path === undefined) return false;
  const id = keep({
    kind: plan.isSpecial ? kind.special ?? kind : kind,
    encoding: null, path: shown(path), namesPath: true, callNode: kind.callNode, target: first, data: second, options: third, receiver,
  });
  const ownScope = 'callback' in receiver ? 1 : 0;
  if (native?.metadata(path, id, ownScope, plan.operation, plan.number, plan.other) === undefined) return true;
  forget(id);
  return false;
}

/** Makes the function with a callback, which is the last argument. */
function calledBack(kind: Kind): AnyFunction {
  return (...args) => {
    const callback = args[args.length - 1];
    if (typeof callback === 'function' && args.length > kind.minimum && args.length <= kind.maximum + 1 && kind.mayCallBack()) {
      const given = args.slice(0, -1);
      const plan = planOf(kind, given[0], given[1], given[2]);
      if (plan !== undefined) {
        const receiver = { callback: callback as () => void, resource: new AsyncResource('SMALLFRY') };
        if (start(kind, plan, given, receiver)) return undefined;
      }
    }
    return kind.withCallback(...args);
  };
}

/** Makes the function with a promise. */
function promised(kind: Kind): AnyFunction {
  return (first, second, third) => {
    let plan: Readonly<Plan> | undefined;
    try {
      plan = planOf(kind, first, second, third);
    } catch (error) {
      return new Promise(() => { throw error; });
    }
    if (plan === undefined) return kind.withPromise(first, second, third);
    return new Promise((resolve) => {
      if (!start(kind, plan, [first, second, third], { resolve })) resolve(kind.withPromise(first, second, third));
    });
  };
}

const asStats = { convert: stats, special: { hasResult: true, convert: bigIntStats, failed } };

const asNames = {
  convert: (_made: Request, value: unknown) => names(value as string),
  special: {
    hasResult: true,
    convert: ({ target }: Request, value: unknown) => dirents(value as string, nativePath(target) as string) ?? REPEAT,
    failed,
  },
};

const kinds: Readonly<Record<Metadata, Kind>> = {
  access: kind('access', 1, 2),
  stat: kind('stat', 1, 2, asStats),
  lstat: kind('lstat', 1, 2, asStats),
  readdir: kind('readdir', 1, 2, asNames),
  realpath: kind('realpath', 1, 2),
  readlink: kind('readlink', 1, 2),
  mkdir: kind('mkdir', 1, 2),
  chmod: kind('chmod', 2, 2),
  utimes: kind('utimes', 3, 3),
};

/** The functions of node:fs. */
export const metadata = {
  mkdir: calledBack(kinds.mkdir) as typeof original.mkdir,
  // A failed call is repeated, since its error names the part of the path that is to blame.
  realpath: calledBack(kind('realpath', 1, 2, {
    plan: resolving, mayCallBack: mayResolve, pathOf: (path) => resolve(path as string), failed: () => undefined,
  })) as typeof original.realpath,
};

/** The functions of node:fs/promises. */
export const metadataPromises = Object.fromEntries(
  Object.entries(kinds).map(([name, one]) => [name, promised(one)]),
) as unknown as Pick<typeof original.promises, Metadata>;
