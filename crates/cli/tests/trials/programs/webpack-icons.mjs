// webpack with copy-webpack-plugin: a bundle of all modules of lodash-es, and the icons of
// simple-icons copied beside it.

import fs from 'node:fs';

import { moveAway } from '../input.mjs';

const CONFIG = `\
import CopyPlugin from 'copy-webpack-plugin';

export default {
  mode: 'production',
  entry: './main.js',
  output: { filename: 'main.js' },
  performance: { hints: false },
  stats: 'errors-warnings',
  plugins: [new CopyPlugin({ patterns: [{ from: 'icons', to: 'icons' }] })],
};
`;

export default {
  make(directory, input) {
    input.copyIcons(`${directory}/icons`);
    fs.writeFileSync(`${directory}/webpack.config.mjs`, CONFIG);
    fs.writeFileSync(`${directory}/main.js`, "import * as lodash from 'lodash-es';\nconsole.log(Object.values(lodash).length);\n");
  },
  command: ['webpack'],
  prepare: moveAway('dist'),
  outputs: ['dist'],
};
