'use strict';
// The scenario `read-many` under Node. The counterpart of native/read_many.rs: same steps, same order.

const readAll = {
  sync: (functions, files, encoding) => files.map((file) => functions.readFileSync(file, encoding)),
  parallel: (functions, files, encoding) =>
    Promise.all(files.map((file) => functions.promises.readFile(file, encoding))),
};

async function readMany(functions, { style, data, folder, compare }) {
  const files = fs.readdirSync(folder).sort().map((name) => `${folder}/${name}`);
  const [encoding, absent] = data === 'string' ? ['utf8', '\0'] : [undefined, 0];
  let looked = 0;
  const started = resources();
  const all = await readAll[style](functions, files, encoding);
  for (const contents of all) looked += contents.indexOf(absent);
  const usage = resourcesSince(started);
  if (looked !== -files.length) throw new Error('a zero was found, and there is none');
  if (compare) {
    files.forEach((file, i) => {
      if (Buffer.compare(Buffer.from(all[i]), fs.readFileSync(file)) !== 0) throw new Error(`read ${file} wrongly`);
    });
  }
  const bytes = all.reduce((sum, contents) => sum + contents.length, 0);
  return { 'read-many': { files: all.length, bytes, usage } };
}
