// The rows under Node. The counterpart of native.rs: same steps, same bytes.

scenarios['write-many'] = (functions, request) =>
  timeWriting(request, async (files, contents) => {
    await writeAll[request.style](functions, files, contents, request.data === 'string' ? 'utf8' : undefined);
    await allClosed(functions);
  });
