// All of node:fs, with smallfry's functions in their places. node:fs itself is left alone.

import fs = require('node:fs');

import promises = require('./fs-promises.js');
import { replaced } from './replaced.js';

const own: typeof fs = Object.create(
  Object.getPrototypeOf(fs),
  Object.getOwnPropertyDescriptors(fs),
);
const descriptors: PropertyDescriptorMap = {};
for (const [name, value] of Object.entries({ ...replaced, promises })) {
  descriptors[name] = { value, writable: true, enumerable: true, configurable: true };
}
Object.defineProperties(own, descriptors);

export = own;
