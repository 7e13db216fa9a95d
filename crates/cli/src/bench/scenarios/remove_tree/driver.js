// The rows under Node.

const removals = {
  'promises.rm': (f, path) => f.promises.rm(path, { recursive: true }),
  rmSync: (f, path) => f.rmSync(path, { recursive: true }),
  removeTree: (f, path) => f.removeTree(path),
  remove: (f, path) => f.remove(path),
};

scenarios['remove-tree'] = async (loaded, { call, path }, launch) => {
  const [name, functions] = treeFunctions(call, launch, loaded);
  const started = resources();
  await removals[name](functions, path);
  return { many: { files: 0, bytes: 0, usage: resourcesSince(started) } };
};
