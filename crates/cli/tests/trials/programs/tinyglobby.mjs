// tinyglobby over a node_modules of 20,000 files. The paths are sorted, because they come in the
// order in which directories were listed.

import fs from 'node:fs';

const SCRIPT = `\
import fs from 'node:fs';
import { glob } from 'tinyglobby';

const paths = await glob('**/*', { cwd: 'tree', dot: true });
fs.writeFileSync('paths.txt', paths.sort().join('\\n'));
`;

export default {
  make(directory, input) {
    input.copyTree(`${directory}/tree`);
    fs.writeFileSync(`${directory}/walk.mjs`, SCRIPT);
  },
  command: ['node', 'walk.mjs'],
  prepare: 'rm -f paths.txt',
  outputs: ['paths.txt'],
};
