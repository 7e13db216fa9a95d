// All of node:fs/promises, with smallfry's functions in their places.

import promises = require('node:fs/promises');

import { removingPromises } from './removing.js';
import { replacedPromises } from './replaced.js';

const own: Omit<typeof promises, keyof typeof replacedPromises> & typeof replacedPromises = {
  ...promises, ...removingPromises(promises), ...replacedPromises,
};

export = own;
