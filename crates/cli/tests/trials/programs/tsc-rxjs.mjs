// tsc on the sources in the package rxjs. All of them at any size, because they import each other.
//
// This TypeScript is newer than the sources, and finds an error in one of them.

import fs from 'node:fs';

import { moveAway } from '../input.mjs';

const CONFIG = {
  compilerOptions: {
    target: 'es2022', module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom', 'esnext.disposable'], types: [],
    outDir: 'dist', rootDir: 'src', declaration: true, sourceMap: true, skipLibCheck: true,
  },
  include: ['src'],
};

export default {
  make(directory, input) {
    input.copyPackage('rxjs/src', `${directory}/src`);
    for (const name of fs.readdirSync(`${directory}/src`)) {
      if (name.startsWith('tsconfig')) fs.rmSync(`${directory}/src/${name}`);
    }
    fs.writeFileSync(`${directory}/tsconfig.json`, JSON.stringify(CONFIG));
  },
  command: ['tsc', '--project', '.'],
  allowFailure: true,
  prepare: moveAway('dist'),
  outputs: ['dist'],
};
