// Makes one thing of what several files of the package hold, each in a copy of its own.
//
// Each entry of the package is one file, since a second one would take half as long to load as all
// of `register`. So the modules that all entries need are in each of those files.

/**
 * Returns what the first copy has given under that name. Copies in other directories, as of another
 * version, have their own.
 */
export function shared<T>(name: string, own: T): T {
  const key = Symbol.for(`smallfry ${name} ${__dirname}`);
  const holder = globalThis as Record<symbol, unknown>;
  if (!Object.hasOwn(holder, key)) Object.defineProperty(holder, key, { value: own });
  return holder[key] as T;
}
