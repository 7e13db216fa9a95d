/**
 * The package.json that decides for a file: found, read by Node's own rules, and remembered.
 *
 * | use | for |
 * |---|---|
 * | `moduleFormat(file)`, `moduleFormats(files)` | whether files are modules or CommonJS |
 * | `nearestType(file)` | the `type` that decides |
 * | `nearest(file)` | the package that a file belongs to, with name, main, exports and imports |
 * | `scope(url)` | the same as Node's resolver has it for a module |
 * | `findPackageJSON(specifier, base)` | node:module's function, on Node 20 as well |
 * | `revalidating('never')` | the same functions, with another idea of when to look again |
 * | `invalidate(path)`, `clear()` | say that something has changed |
 *
 * ```js
 * import { moduleFormats, formats, revalidating } from 'smallfry/package-json';
 *
 * const codes = moduleFormats(files);
 * console.log(files.map((file, i) => `${formats[codes[i]]} ${file}`));
 *
 * const { nearestType } = revalidating('never'); // a build that nobody edits while it runs
 * ```
 *
 * Files and paths may be strings or file URLs, as objects or strings. What is remembered is the process's, whichever worker asked.
 * Without `revalidating` answers are looked at again each time, by one `stat` for each directory on the way.
 *
 * The rules are those of Node 22, 24 and 26 on every Node. Not promised: to resolve anything, and to notice a change that
 * leaves inode, size and times as they were. Without the native addon nothing is remembered but by `revalidating('never')`,
 * and JSON.parse decides what is valid.
 */

import { finder } from './find.js';
import { Lookups, type Revalidate } from './lookups.js';

export { type Format, FORMATS as formats } from './formats.js';
export { clear, type FormatOptions, invalidate, type Revalidate, type Scope } from './lookups.js';
export { type ModuleType, type PackageConfigError } from './native.js';
export { type Package } from './package.js';
export { fileURLToPath } from './paths.js';

/** The functions that look package.json files up. They share what they remember, but for what each keeps by `'never'` or an age. */
export type PackageJSON = Pick<Lookups, 'nearest' | 'nearestType' | 'scope' | 'moduleFormat' | 'moduleFormats'>;

/** The same functions, looking again when this says so. */
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
 * As `findPackageJSON` of node:module, which has it since 22.14: the path of the package.json of a package that is named, or of the
 * one that decides for a file that is.
 */
export const findPackageJSON = finder(nearest);
