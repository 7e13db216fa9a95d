// Reads questions from standard input, each `[call, path or URL]` as a line of JSON, and prints the
// package.json that Node finds: its path, name and type, null for none, or the path where a scope's
// search ended.

'use strict';

const { internalBinding } = require('internal/test/binding');
const { readFileSync } = require('node:fs');

const { getNearestParentPackageJSON, getPackageScopeConfig } = internalBinding('modules');

for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const [call, what] = JSON.parse(line);
  let answer;
  try {
    const found = call === 'scope' ? getPackageScopeConfig(what) : getNearestParentPackageJSON(what);
    answer = Array.isArray(found) ? { path: found[5], name: found[0] ?? null, type: found[2] } : found ?? null;
  } catch (error) {
    answer = { error: error.code ?? error.name };
  }
  console.log(JSON.stringify(answer));
}
