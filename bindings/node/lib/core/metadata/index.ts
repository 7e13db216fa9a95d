// Calls for paths that finish later: promises of `stat`, `readdir` and others, and `realpath` with
// a callback. They are native jobs, as calls for whole files are, unless the kernel has the answer
// in memory (`cached.ts`).

import { AsyncResource } from 'node:async_hooks';
import { resolve } from 'node:path';

import { isTestedNode, usesVirtualFiles } from '../addon.js';
import { makeError } from '../errors.js';
import { mayResolve } from '../heard.js';
import { native } from '../native.js';
import { nativePath } from '../options.js';
import { type Metadata, original } from '../../original.js';
import { forget, fulfilRequest, keep, rejectRequest, REPEAT, type Request, type RequestKind } from '../requests.js';
import { lookUp, promiseOf, shown } from './cached.js';
import { readdirPromised } from './recursive.js';
import { type Plan, type Planner, planners, planRealpath } from './plans.js';
import { bigIntStats, dirents, names, stats } from './results.js';

type Call = (...args: unknown[]) => Promise<unknown>;

/** One function of node:fs/promises. */
interface Kind extends RequestKind {
  plan: Planner;
  /** The kind of calls whose options ask for bigints, or for types of files. */
  special: RequestKind | undefined;
  onNode: Call;
  callNode: (made: Request) => void;
  /** Makes the result of an answer from memory. Undefined if it is not looked for. */
  fromMemory: (() => unknown) | undefined;
}

const failed = ({ path }: Request, code: number): Error => makeError(code, path, undefined);

function kind(name: Metadata, more: Partial<Kind> = {}): Kind {
  // Looked up for each call, since calls of node:fs may be counted.
  const onNode: Call = (...args) => (original.promises[name] as Call)(...args);
  return {
    plan: planners[name],
    special: undefined,
    hasResult: true,
    convert: (_made, value) => value,
    failed,
    onNode,
    callNode: ({ receiver, target, data, options }) => {
      if ('resolve' in receiver) receiver.resolve(onNode(target, data, options));
    },
    fromMemory: undefined,
    ...more,
  };
}

/** Tells whether native code may do these calls. */
const isUsable = (): boolean => native !== undefined && isTestedNode && !usesVirtualFiles();

/** Hands a call to native code; false if it was not taken. */
function start(plan: Readonly<Plan>, path: string | Uint8Array, request: Request): boolean {
  const id = keep(request);
  const ownScope = 'callback' in request.receiver ? 1 : 0;
  if (native?.metadata(path, id, ownScope, plan.operation, plan.number, plan.other) === undefined) return true;
  forget(id);
  return false;
}

/** Makes the function with a promise. */
function promised(kind: Kind): Call {
  return (first, second, third) => {
    let plan: Readonly<Plan> | undefined;
    try {
      plan = isUsable() ? kind.plan(first, second, third) : undefined;
    } catch (error) {
      return new Promise(() => { throw error; });
    }
    const path = plan === undefined ? undefined : nativePath(first);
    if (plan === undefined || path === undefined) return kind.onNode(first, second, third);
    if (kind.fromMemory !== undefined) {
      const code = lookUp(path, plan);
      if (code !== undefined) return promiseOf(code, path, code === 0 ? kind.fromMemory() : undefined);
    }
    return new Promise((resolve) => {
      const request = {
        kind: plan.isSpecial ? kind.special ?? kind : kind,
        encoding: null, path: shown(path), namesPath: true, callNode: kind.callNode, target: first, data: second, options: third, receiver: { resolve },
      };
      if (!start(plan, path, request)) kind.callNode(request);
    });
  };
}

const asStats = { convert: stats, fromMemory: stats, special: { hasResult: true, convert: bigIntStats, failed } };

const asNames = {
  convert: (_made: Request, value: unknown) => names(value as string),
  special: {
    hasResult: true,
    convert: ({ target }: Request, value: unknown) => dirents(value as string, nativePath(target) as string) ?? REPEAT,
    failed,
  },
};

const kinds: Readonly<Record<Metadata, Kind>> = {
  access: kind('access', { fromMemory: () => undefined }),
  stat: kind('stat', asStats),
  lstat: kind('lstat', asStats),
  readdir: kind('readdir', asNames),
  readlink: kind('readlink'),
  mkdir: kind('mkdir'),
  chmod: kind('chmod'),
  utimes: kind('utimes'),
};

const promises = Object.fromEntries(Object.entries(kinds).map(([name, one]) => [name, promised(one)])) as Record<Metadata, Call>;

/** The functions of node:fs/promises. */
export const metadataPromises = {
  ...promises,
  readdir: (path, options, third) => readdirPromised(path, options) ?? promises.readdir(path, options, third),
} as Record<Metadata, Call> as unknown as Pick<typeof original.promises, Metadata>;

type Realpath = (path: unknown, ...rest: unknown[]) => void;

const resolving: RequestKind = {
  hasResult: true,
  convert: (_made, value) => value,
  // A failed call is repeated, since its error names the part of the path that is to blame.
  failed: () => undefined,
};

function resolveOnNode(made: Request): void {
  const rest = made.options === undefined ? [] : [made.options];
  (original.realpath as Realpath)(made.target, ...rest, (error: unknown, value: unknown) => {
    if (error) rejectRequest(made, error);
    else fulfilRequest(made, value);
  });
}

/** Does `fs.realpath`, for which node:fs makes a call for each directory on the way. */
export const realpath = function realpath(path, ...rest) {
  const callback = rest.at(-1);
  const options = rest.length === 1 ? undefined : rest[0];
  if (typeof callback === 'function' && rest.length <= 2 && isUsable() && mayResolve()) {
    const plan = planRealpath(path, options, undefined);
    if (plan !== undefined) {
      const receiver = { callback: callback as () => void, resource: new AsyncResource('SMALLFRY') };
      const absolute = resolve(path as string);
      const request = {
        kind: resolving,
        encoding: null, path: absolute, namesPath: true, callNode: resolveOnNode, target: path, data: undefined, options, receiver,
      };
      if (start(plan, absolute, request)) return;
    }
  }
  (original.realpath as Realpath)(path, ...rest);
} as Realpath as typeof original.realpath;
