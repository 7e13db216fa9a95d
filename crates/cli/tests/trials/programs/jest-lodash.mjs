// jest on a package with 500 test files: one for each of so many modules of lodash.
//
// jest prints results and times in the order in which tests end. So a reporter writes the results
// sorted, and nothing is printed. Each run transforms all files, as on a new machine.

import fs from 'node:fs';

import { moveAway } from '../input.mjs';

const REPORTER = `\
const fs = require('node:fs');
const path = require('node:path');

module.exports = class {
  onRunComplete(_, { testResults }) {
    const lines = testResults.flatMap(({ testFilePath, testResults: each }) =>
      each.map(({ fullName, status }) => [path.basename(testFilePath), fullName, status].join(': ')));
    fs.mkdirSync('out', { recursive: true });
    fs.writeFileSync('out/results.txt', lines.sort().join('\\n'));
  }
};
`;

const test = (name) => `\
const own = require('lodash/${name}');

describe('${name}', () => {
  it('is a function', () => {
    expect(typeof own).toBe('function');
  });

  it('has a number of parameters', () => {
    expect(own.length).toBeGreaterThanOrEqual(0);
  });
});
`;

export default {
  make(directory, input) {
    const modules = fs.readdirSync(input.installed('lodash'))
      .filter((file) => /^\w+\.js$/.test(file))
      .map((file) => file.slice(0, -'.js'.length))
      .filter((name) => typeof input.require(`lodash/${name}`) === 'function');
    fs.mkdirSync(`${directory}/test`);
    for (const name of modules.slice(0, input.count(500))) fs.writeFileSync(`${directory}/test/${name}.test.js`, test(name));
    fs.writeFileSync(`${directory}/reporter.cjs`, REPORTER);
    fs.writeFileSync(`${directory}/package.json`, JSON.stringify({
      name: 'tested', jest: { cacheDirectory: '<rootDir>/cache', reporters: ['<rootDir>/reporter.cjs'] },
    }));
  },
  command: ['jest', '--ci'],
  prepare: moveAway('out', 'cache'),
  outputs: ['out'],
};
