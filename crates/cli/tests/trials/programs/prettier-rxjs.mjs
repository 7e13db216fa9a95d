// `prettier --check` over the sources in the package rxjs. It writes nothing; the names of the
// files that are formatted otherwise are printed, and so compared. They make it fail.

import fs from 'node:fs';

export default {
  make(directory, input) {
    input.copyPackage('rxjs/src', `${directory}/src`, '.ts');
    fs.writeFileSync(`${directory}/.prettierrc.json`, JSON.stringify({ printWidth: 140, singleQuote: true, trailingComma: 'es5' }));
  },
  command: ['prettier', '--check', 'src'],
  allowFailure: true,
};
