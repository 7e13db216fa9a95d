// Exports all of node:fs, with some functions replaced by smallfry's. node:fs itself stays as it
// is.

import fs = require('node:fs');

import promises = require('./fs-promises.js');
import { removing } from './removing.js';
import { replaced } from './replaced.js';

const own = Object.defineProperties({}, Object.getOwnPropertyDescriptors(fs)) as
  Omit<typeof fs, keyof typeof replaced | 'promises'> & typeof replaced & { promises: typeof promises };
const descriptors: PropertyDescriptorMap = {};
for (const [name, value] of Object.entries({ ...removing(fs), ...replaced, promises })) {
  descriptors[name] = { value, writable: true, enumerable: true, configurable: true };
}
Object.defineProperties(own, descriptors);

export = own;
