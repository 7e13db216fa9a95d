// The rows under Node. The counterpart of native.rs: same files, same bytes.

scenarios['fsync-many'] = (functions, request) =>
  timeWriting(request, (files, contents) => {
    const { style, replace } = request;
    if (functions === fs) return writeEachDurably(files, contents, replace);
    const options = { durability: 'full', replace };
    if (style.startsWith('bulk')) return writeAll[style](functions, files, contents, options);
    // write-file-atomic.
    if (style === 'sync') return files.forEach((file, i) => functions.sync(file, contents[i]));
    return Promise.all(files.map((file, i) => functions(file, contents[i])));
  });
