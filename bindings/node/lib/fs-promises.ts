// Exports all of node:fs/promises, with some functions replaced by smallfry's.

import own = require('node:fs/promises');

import { promises } from './stubs.js';

const all = { ...own, ...promises } as typeof own & typeof import('./api.js').promises;

export = all;
