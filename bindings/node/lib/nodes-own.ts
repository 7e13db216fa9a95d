// Tells which functions of node:fs are still Node's own. A function that a package manager, a mock
// or a tracer has put there is left in place: it sees paths that native code would not.

/**
 * Tells whether no code of anybody has run before `module`: Node itself loads it, as the first one
 * of `--require`. That takes no time; looking at each function does.
 */
export function runsFirst(module: NodeJS.Module): boolean {
  const { electron, bun, deno } = process.versions;
  if (process.release.name !== 'node' || electron || bun || deno) return false;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way to ask
  const { parent } = module;
  return parent?.id === 'internal/preload' && parent.children[0] === module;
}

/** Tells whether the program has loaded node:fs/promises by that name. */
export function hasLoadedPromises(): boolean {
  return (process as unknown as { moduleLoadList: string[] }).moduleLoadList.includes('NativeModule fs/promises');
}

/**
 * Tells whether a function that takes a path is still Node's own. Node's functions ask their path
 * for an `href`, since it may be a URL. The path used here looks at the stack when it is asked: if
 * only Node's own files are on it, nobody has wrapped the function. The path then throws, so that
 * the function does nothing.
 */
export function isNodesOwn(candidate: unknown, name: string): boolean {
  if (typeof candidate !== 'function' || candidate.name !== name) return false;
  // Proxies and bound functions have no files of their own.
  if (Function.prototype.toString.call(candidate).endsWith('{ [native code] }')) return false;
  let isOwn = false as boolean;
  const path = {
    get href(): never {
      isOwn = onlyNodeBetween();
      throw new Error('Not a path');
    },
  };
  const args: unknown[] = new Array(candidate.length).fill(undefined);
  args[0] = path;
  if (/^(?:write|append)/.test(name)) args[1] = '';
  if (args.length > 1 && args.at(-1) === undefined) args[args.length - 1] = () => undefined;
  attempt(candidate as AnyFunction, args);
  // Some functions look at their callback first, and do not count it among their parameters.
  if (isOwn) return true;
  const callback = (): void => undefined;
  attempt(candidate as AnyFunction, [path, callback, callback, callback]);
  // Others look at their options first, which must not be a callback.
  attempt(candidate as AnyFunction, [path]);
  return isOwn;
}

type AnyFunction = (...args: unknown[]) => unknown;

/** Calls a function that is expected to fail, now or later. */
function attempt(call: AnyFunction, args: readonly unknown[]): void {
  try {
    (call(...args) as Promise<unknown> | undefined)?.catch(() => undefined);
  } catch {
    // The error of the path, or one of a function that is not Node's own.
  }
}

/** Returns the file of a function that is running. The engine's own functions count as Node's. */
function fileOf(site: NodeJS.CallSite): string | null | undefined {
  const isEngines = site.getLineNumber() === null && !site.isEval();
  return site.getFileName() ?? (isEngines ? 'node:engine' : undefined);
}

/** Tells whether all functions between two of this file, which are running now, are Node's own. */
function onlyNodeBetween(): boolean {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- only put back as it was
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 20;
  Error.prepareStackTrace = (_error, sites) => sites.map(fileOf);
  const holder = {} as { stack: (string | null | undefined)[] };
  Error.captureStackTrace(holder);
  const files = holder.stack;
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  const first = files.findIndex((file) => file !== __filename);
  const between = files.slice(first, files.indexOf(__filename, first));
  return between.length > 0 && between.every((file) => file?.startsWith('node:'));
}
