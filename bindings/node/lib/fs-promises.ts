// All of node:fs/promises, with smallfry's functions in their places.

import promises = require('node:fs/promises');

import { replacedPromises } from './replaced.js';

const own: typeof promises = { ...promises, ...replacedPromises };

export = own;
