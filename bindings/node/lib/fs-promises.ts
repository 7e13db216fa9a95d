// Exports all of node:fs/promises, with some functions replaced by smallfry's.

import promises = require('node:fs/promises');

import { removingPromises } from './removing.js';
import { replacedPromises } from './replaced.js';

const own: Omit<typeof promises, keyof typeof replacedPromises> & typeof replacedPromises = {
  ...promises, ...removingPromises(promises), ...replacedPromises,
};

export = own;
