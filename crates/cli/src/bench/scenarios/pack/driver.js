// The rows under Node.

const packers = {
  smallfry: (functions, { tree, archive }) => functions.pack(tree, archive),
  'npm-tar': (functions, { tree, archive, format }) => functions.default.c({ file: archive, cwd: tree, gzip: format === 'gzip' }, ['.']),
};

scenarios.pack = async (functions, request, launch) => {
  const started = resources();
  await packers[launch.functions](functions, request);
  return { many: { files: 0, bytes: 0, usage: resourcesSince(started) } };
};
