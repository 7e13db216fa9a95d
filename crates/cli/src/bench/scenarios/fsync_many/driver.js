// The rows under Node. The counterpart of native.rs: same files, same bytes.

const durably = { durability: 'full' };

const writeAllDurably = {
  sync: (functions, files, contents, replace) =>
    functions.sync
      ? files.forEach((file, i) => functions.sync(file, contents[i]))
      : writeEachDurably(files, contents, replace),
  parallel: (functions, files, contents) => Promise.all(files.map((file, i) => functions(file, contents[i]))),
  'bulk-sync': (functions, files, contents, replace) =>
    functions.writeFilesSync(files.map((file, i) => [file, contents[i]]), { ...durably, replace }),
  bulk: (functions, files, contents, replace) =>
    functions.writeFiles(files.map((file, i) => [file, contents[i]]), { ...durably, replace }),
};

async function fsyncMany(functions, { style, layout, replace, bytes }) {
  const files = pathsOf(layout);
  const contents = files.map((_, i) => contentsOf(i, { data: 'string', bytes }));
  const started = resources();
  await writeAllDurably[style](functions, files, contents, replace);
  const usage = resourcesSince(started);
  return { many: { files: files.length, bytes: files.length * bytes, usage } };
}

scenarios['fsync-many'] = fsyncMany;
