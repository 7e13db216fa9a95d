// The rows under Node.

const copies = {
  'promises.cp': (f, from, to) => f.promises.cp(from, to, { recursive: true }),
  'promises.cp, filter': (f, from, to) => f.promises.cp(from, to, { recursive: true, filter: () => true }),
  cpSync: (f, from, to) => f.cpSync(from, to, { recursive: true }),
  copyTree: (f, from, to) => f.copyTree(from, to),
};

// `call` is the name of the row: whose functions, and which.
function treeFunctions(call, { package: installed }) {
  const [whose, ...words] = call.split(' ');
  const name = words.join(' ');
  if (whose === 'Node') return [name, fs];
  return [name, require(`${installed}/dist/${/Tree$/.test(name) ? 'index' : 'fs'}.js`)];
}

scenarios['copy-tree'] = async (_functions, { call, from, to }, launch) => {
  const [name, functions] = treeFunctions(call, launch);
  const started = resources();
  await copies[name](functions, from, to);
  return { many: { files: 0, bytes: 0, usage: resourcesSince(started) } };
};
