// Reads directories from standard input, and prints for each a line of JSON with the fields that
// Node reads from its package.json.

'use strict';

const { internalBinding } = require('internal/test/binding');
const { readFileSync } = require('node:fs');

const { readPackageJSON } = internalBinding('modules');
const types = ['none', 'commonjs', 'module'];

for (const directory of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  let found;
  try {
    const [name, main, type, imports, exports] = readPackageJSON(`${directory}/package.json`, false, undefined, undefined);
    found = { name: name ?? null, main: main ?? null, type: types.indexOf(type), imports: imports ?? null, exports: exports ?? null };
  } catch (error) {
    found = { error: error.code };
  }
  console.log(JSON.stringify(found));
}
