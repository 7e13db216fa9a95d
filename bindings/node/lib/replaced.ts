// The functions of node:fs that have a native form, under their names.

import { appendFile, promises, readFile, writeFile } from './async.js';
import { appendFileSync, readFileSync, writeFileSync } from './sync.js';

export const replaced = { appendFile, appendFileSync, readFile, readFileSync, writeFile, writeFileSync };
export const replacedPromises = promises;
