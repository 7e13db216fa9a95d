// eslint on the package lodash-es. The report names files by absolute paths, which are the same in
// all runs.

import fs from 'node:fs';

import { moveAway } from '../input.mjs';

const CONFIG = `\
export default [{ rules: { 'no-unused-vars': 'warn', 'prefer-const': 'warn', eqeqeq: 'warn', 'no-shadow': 'warn', 'no-var': 'warn' } }];
`;

export default {
  make(directory, input) {
    input.copyPackage('lodash-es', `${directory}/src`, '.js');
    fs.writeFileSync(`${directory}/package.json`, JSON.stringify({ name: 'linted', type: 'module' }));
    fs.writeFileSync(`${directory}/eslint.config.mjs`, CONFIG);
  },
  command: ['eslint', '--format', 'json', '--output-file', 'out/report.json', 'src'],
  prepare: moveAway('out'),
  outputs: ['out'],
};
