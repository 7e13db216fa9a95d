'use strict';
// The scenario `sync-many` under Node. The counterpart of native/sync_many.rs: same files, same bytes.

// One by one: the file flushed, named, and its directory flushed, before the next one.
function writeEachDurably(files, contents, replace) {
  files.forEach((file, i) => {
    const temporary = replace ? `${file}.tmp` : file;
    const fd = fs.openSync(temporary, replace ? 'wx' : 'w', 0o666);
    try {
      fs.writeFileSync(fd, contents[i], 'utf8');
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    if (replace) fs.renameSync(temporary, file);
    flushDirectory(directoryOf(file));
  });
}

function flushDirectory(directory) {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(directory, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

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

async function syncMany(functions, { style, layout, replace, bytes }) {
  const files = pathsOf(layout);
  const contents = files.map((_, i) => contentsOf(i, { data: 'string', bytes }));
  const started = resources();
  await writeAllDurably[style](functions, files, contents, replace);
  const usage = resourcesSince(started);
  return { many: { files: files.length, bytes: files.length * bytes, usage } };
}
