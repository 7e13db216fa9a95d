// The rows under Node. The counterpart of native.rs: same files, same bytes.

scenarios['fsync-many'] = (functions, request) =>
  timeWriting(request, (files, contents) => {
    const { style, replace } = request;
    if (functions === fs) {
      const write = style === 'parallel' ? writeConcurrentlyDurably : writeEachDurably;
      return write(files, contents, replace);
    }
    const options = { durability: 'full', replace };
    if (style.startsWith('bulk')) return writeAll[style](functions, files, contents, options);
    // write-file-atomic.
    if (style === 'sync') return files.forEach((file, i) => functions.sync(file, contents[i]));
    return Promise.all(files.map((file, i) => functions(file, contents[i])));
  });

// Flushes and names all files at once, then flushes each directory once.
async function writeConcurrentlyDurably(files, contents, replace) {
  // Read when the pool is first used, which is below.
  process.env.UV_THREADPOOL_SIZE = String(Math.min(files.length, 128));
  const flushed = async (path, flags, write) => {
    const file = await fs.promises.open(path, flags, 0o666);
    try {
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
  };
  const writeOne = async (file, i) => {
    const temporary = replace ? `${file}.tmp` : file;
    await flushed(temporary, replace ? 'wx' : 'w', (opened) => opened.writeFile(contents[i], 'utf8'));
    if (replace) await fs.promises.rename(temporary, file);
  };
  await Promise.all(files.map(writeOne));
  const directories = [...new Set(files.map(directoryOf))];
  await Promise.all(directories.map((directory) => flushed(directory, 'r', () => {})));
}
