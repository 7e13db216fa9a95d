// Functions that several scenarios call: all files read or written, in the row's style.

// Calls a function with a callback for every file at once. Resolves to all results.
const callForEach = (files, call) =>
  new Promise((resolve, reject) => {
    const all = new Array(files.length);
    let left = files.length;
    files.forEach((file, i) =>
      call(file, i, (error, result) => {
        if (error) return reject(error);
        all[i] = result;
        if (--left === 0) resolve(all);
      }),
    );
  });

const readAll = {
  sync: (functions, files, encoding) => files.map((file) => functions.readFileSync(file, encoding)),
  callback: (functions, files, encoding) =>
    callForEach(files, (file, i, callback) => functions.readFile(file, encoding, callback)),
  parallel: (functions, files, encoding) =>
    Promise.all(files.map((file) => functions.promises.readFile(file, encoding))),
  'bulk-sync': (functions, files, encoding) => functions.readFilesSync(files, { encoding }),
  bulk: (functions, files, encoding) => functions.readFiles(files, { encoding }),
};

const entriesOf = (files, contents) => files.map((file, i) => [file, contents[i]]);

// `options` are those of smallfry, or an encoding, which bulk calls do not take.
const writeAll = {
  sync: (functions, files, contents, options) =>
    files.forEach((file, i) => functions.writeFileSync(file, contents[i], options)),
  callback: (functions, files, contents, encoding) =>
    callForEach(files, (file, i, callback) => functions.writeFile(file, contents[i], encoding, callback)),
  parallel: (functions, files, contents, options) =>
    Promise.all(files.map((file, i) => functions.promises.writeFile(file, contents[i], options))),
  'bulk-sync': (functions, files, contents, options) =>
    functions.writeFilesSync(entriesOf(files, contents), ...(typeof options === 'object' ? [options] : [])),
  bulk: (functions, files, contents, options) =>
    functions.writeFiles(entriesOf(files, contents), ...(typeof options === 'object' ? [options] : [])),
};

// Where closing is slow, smallfry's functions leave it to other threads.
async function allClosed(functions) {
  const [unclosed] = (await functions.drainCloses?.()) ?? [];
  if (unclosed) throw unclosed;
}

async function timeWriting(request, write) {
  const files = pathsOf(request.layout);
  const contents = files.map((_, i) => contentsOf(i, request));
  const started = resources();
  await write(files, contents);
  const usage = resourcesSince(started);
  return { many: { files: files.length, bytes: files.length * request.bytes, usage } };
}

function nsSince(started) {
  const [seconds, nanoseconds] = process.hrtime(started);
  return seconds * 1e9 + nanoseconds;
}

// Splits the name of a row that copies or removes a tree into a function's name and its holder.
// `loaded` is what the package of a peer exports.
function treeFunctions(call, { package: installed }, loaded) {
  const [whose, ...words] = call.split(' ');
  const name = words.join(' ');
  if (whose === 'Node') return [name, fs];
  if (whose !== 'smallfry') return [name, loaded.default];
  return [name, require(`${installed}/dist/${/Tree$/.test(name) ? 'index' : 'fs'}.js`)];
}
