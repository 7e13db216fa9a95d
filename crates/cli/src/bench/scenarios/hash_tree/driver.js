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

// 64 files at a time: with all at once Node runs out of descriptors.
async function hashAllByCrypto(files, algorithm) {
  const digests = [];
  let next = 0;
  const loop = async () => {
    while (next < files.length) {
      const index = next++;
      digests[index] = await hashByCrypto(files[index], algorithm);
    }
  };
  await Promise.all(Array.from({ length: 64 }, loop));
  return digests;
}

async function outputOf(functions, { function: algorithm, prints, tree }) {
  if (prints === 'Digest') return (await functions.hashTree(tree, { algorithm: algorithm.toLowerCase() })).digest;
  const files = await filesOf(tree);
  const name = algorithm.toLowerCase();
  const digests = functions === fs
    ? await hashAllByCrypto(files, name)
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
