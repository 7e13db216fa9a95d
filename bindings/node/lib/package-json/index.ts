/**
 * Finds the package.json that decides for a file, reads it by Node's own rules, and remembers it.
 *
 * | use | for |
 * |---|---|
 * | `moduleFormat(file)`, `moduleFormats(files)` | whether files are modules or CommonJS |
 * | `nearestType(file)` | the `type` of the package.json that decides |
 * | `nearest(file)` | the package that a file belongs to, with name, main, exports and imports |
 * | `scope(url)` | the package that a module belongs to, as Node's resolver has it |
 * | `findPackageJSON(specifier, base)` | node:module's function, on Node 20 as well |
 * | `revalidating('never')` | these functions, with another rule for when answers are checked |
 * | `invalidate(path)`, `clear()` | forgetting what has changed |
 *
 * ```js
 * import { moduleFormats, formats, revalidating } from 'smallfry/package-json';
 *
 * const codes = moduleFormats(files);
 * console.log(files.map((file, i) => `${formats[codes[i]]} ${file}`));
 *
 * const { nearestType } = revalidating('never'); // a build whose files do not change while it runs
 * ```
 *
 * Files and paths may be strings or file URLs, as objects or strings. All workers of the process
 * share one memory. Without `revalidating` answers are checked each time, by one `stat` for each
 * directory on the way.
 *
 * The rules are those of Node 22, 24 and 26 on every Node. Without the native addon only
 * `revalidating('never')` remembers anything, and JSON.parse decides what is valid.
 *
 * Not promised: to resolve modules, and to notice a change that leaves inode, size and times as
 * they were.
 *
 * @module smallfry/package-json
 */

import { finder } from './find.js';
import { Lookups, type Revalidate } from './lookups.js';

export { type Format, FORMATS as formats } from './formats.js';
export { clear, type FormatOptions, invalidate, type Revalidate, type Scope } from './lookups.js';
export { type ModuleType } from '../core/addon-package-json.js';
export { type PackageConfigError } from './errors.js';
export { type Package } from './package.js';
export { fileURLToPath } from './paths.js';

/**
 * The functions that look up package.json files. All share one memory. Each policy of `'never'` or
 * of an age also has a memory of its own.
 */
export type PackageJSON = Pick<Lookups, 'nearest' | 'nearestType' | 'scope' | 'moduleFormat' | 'moduleFormats'>;

/** Returns these functions with another policy for when answers are checked. */
export function revalidating(revalidate: Revalidate): PackageJSON {
  return new Lookups(revalidate);
}

const onChange = new Lookups();

export const nearest = onChange.nearest;
export const nearestType = onChange.nearestType;
export const scope = onChange.scope;
export const moduleFormat = onChange.moduleFormat;
export const moduleFormats = onChange.moduleFormats;

/**
 * Finds the package.json of a package by its name, or the one that decides for a file. It does the
 * same as `findPackageJSON` of node:module, which Node has since 22.14.
 */
export const findPackageJSON = finder(nearest);
