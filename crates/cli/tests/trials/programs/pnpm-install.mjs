// `pnpm install --offline --frozen-lockfile` of a node_modules of 20,000 files, from a store filled
// before.
//
// pnpm writes the time of the installation into .modules.yaml and .pnpm-workspace-state-v1.json.
// They differ between any two runs, so that `smallfry try` finds no fault with them.

import { moveAway } from '../input.mjs';

// A relative store is taken from the directory of the project.
export default {
  make(directory, input) {
    input.fillStore(`${directory}/install`);
  },
  command: ['pnpm', '--dir', 'install', 'install', '--store-dir', '../../pnpm-store', '--offline', '--frozen-lockfile', '--ignore-scripts', '--reporter', 'silent'],
  prepare: moveAway('install/node_modules'),
  outputs: ['install/node_modules'],
};
