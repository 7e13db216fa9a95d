// The rows under Node: the digest of a tree, or a line for each file, as sha256sum prints it.

async function filesOf(tree) {
  const entries = await fs.promises.readdir(tree, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, path, name }) => `${parentPath ?? path}/${name}`);
}

async function hashByCrypto(path, algorithm) {
  const { createHash } = require('node:crypto');
  return createHash(algorithm).update(await fs.promises.readFile(path)).digest('hex');
}

async function outputOf(functions, { function: algorithm, prints, tree }) {
  if (prints === 'Digest') return (await functions.hashTree(tree, { algorithm: algorithm.toLowerCase() })).digest;
  const files = await filesOf(tree);
  const name = algorithm.toLowerCase();
  const digests = functions === fs
    ? await Promise.all(files.map((file) => hashByCrypto(file, name)))
    : await functions.hashFiles(files, { algorithm: name });
  return files.map((file, index) => `${digests[index]}  ${file}`).join('\n');
}

scenarios['hash-tree'] = async (functions, request) => {
  const started = resources();
  const output = await outputOf(functions, request);
  const usage = resourcesSince(started);
  fs.writeFileSync(request.output, output);
  return { many: { files: 0, bytes: 0, usage } };
};
