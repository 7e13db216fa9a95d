// Exports all of node:fs, with some functions replaced by smallfry's. node:fs itself stays as it
// is.

import fs = require('node:fs');

import { functions } from './stubs.js';

type Api = typeof import('./api.js');
type Replaced = Pick<Api, 'appendFile' | 'appendFileSync' | 'readFile' | 'readFileSync' | 'writeFile' | 'writeFileSync'>;
type All = Omit<typeof fs, keyof Replaced | 'promises'> & Replaced & { promises: typeof import('./fs-promises.js') };

const descriptors = Object.getOwnPropertyDescriptors(fs) as PropertyDescriptorMap;
for (const [name, value] of Object.entries(functions)) {
  descriptors[name] = { value, writable: true, enumerable: true, configurable: true };
}
descriptors.promises = {
  // As node:fs, this loads the promises when they are asked for.
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- only now
  get: () => require('./fs-promises.js') as typeof import('./fs-promises.js'),
  enumerable: true,
  configurable: true,
};
const all = Object.defineProperties({}, descriptors) as All;

export = all;
