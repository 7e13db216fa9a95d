// The copy of fs-extra, over a node_modules of 20,000 files.

import fs from 'node:fs';

import { moveAway } from '../input.mjs';

const SCRIPT = `\
import fs from 'fs-extra';

await fs.copy('tree', 'out');
`;

export default {
  make(directory, input) {
    input.copyTree(`${directory}/tree`);
    fs.writeFileSync(`${directory}/copy.mjs`, SCRIPT);
  },
  command: ['node', 'copy.mjs'],
  prepare: moveAway('out'),
  outputs: ['out'],
};
