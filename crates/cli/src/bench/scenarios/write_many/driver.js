// The rows under Node. The counterpart of native.rs: same steps, same bytes.

const writeAll = {
  sync: (functions, files, contents, encoding) =>
    files.forEach((file, i) => functions.writeFileSync(file, contents[i], encoding)),
  callback: (functions, files, contents, encoding) =>
    new Promise((resolve, reject) => {
      let left = files.length;
      files.forEach((file, i) =>
        functions.writeFile(file, contents[i], encoding, (error) => {
          if (error) reject(error);
          else if (--left === 0) resolve();
        }),
      );
    }),
  parallel: (functions, files, contents, encoding) =>
    Promise.all(files.map((file, i) => functions.promises.writeFile(file, contents[i], encoding))),
  'bulk-sync': (functions, files, contents) => functions.writeFilesSync(files.map((file, i) => [file, contents[i]])),
  bulk: (functions, files, contents) => functions.writeFiles(files.map((file, i) => [file, contents[i]])),
};

async function writeMany(functions, request) {
  const files = pathsOf(request.layout);
  const contents = files.map((_, i) => contentsOf(i, request));
  const started = resources();
  await writeAll[request.style](functions, files, contents, request.data === 'string' ? 'utf8' : undefined);
  // Where closing is slow, smallfry's functions leave it to other threads.
  const [unclosed] = (await functions.drainCloses?.()) ?? [];
  if (unclosed) throw unclosed;
  const usage = resourcesSince(started);
  return { many: { files: files.length, bytes: files.length * request.bytes, usage } };
}

scenarios['write-many'] = writeMany;
