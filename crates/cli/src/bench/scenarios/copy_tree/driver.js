// The rows under Node.

const copies = {
  'promises.cp': (f, from, to) => f.promises.cp(from, to, { recursive: true }),
  'promises.cp, filter': (f, from, to) => f.promises.cp(from, to, { recursive: true, filter: () => true }),
  cpSync: (f, from, to) => f.cpSync(from, to, { recursive: true }),
  copyTree: (f, from, to) => f.copyTree(from, to),
  copy: (f, from, to) => f.copy(from, to),
};

scenarios['copy-tree'] = async (loaded, { call, from, to }, launch) => {
  const [name, functions] = treeFunctions(call, launch, loaded);
  const started = resources();
  await copies[name](functions, from, to);
  return { many: { files: 0, bytes: 0, usage: resourcesSince(started) } };
};
