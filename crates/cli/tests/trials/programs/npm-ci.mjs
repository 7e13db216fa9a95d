// `npm ci --offline` of a node_modules of 20,000 files, from a cache filled before.
//
// The logs of npm go to the cache, which is not compared. Install scripts are left out: they could
// do anything.

import { moveAway } from '../input.mjs';

export default {
  make(directory, input) {
    input.fillCache(`${directory}/install`);
  },
  command: ['npm', 'ci', '--prefix', 'install', '--cache', '../npm-cache', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'],
  prepare: moveAway('install/node_modules'),
  outputs: ['install/node_modules'],
};
