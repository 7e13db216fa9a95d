// The rows under Node.

const unpackers = {
  smallfry: (functions, archive, to) => functions.unpack(archive, to),
  'npm-tar': (functions, file, cwd) => functions.default.x({ file, cwd }),
  'extract-zip': (functions, archive, dir) => functions.default(archive, { dir }),
  yauzl: unpackByYauzl,
};

// As the example of yauzl's documentation, with permissions and links.
async function unpackByYauzl({ default: yauzl }, archive, to) {
  const path = require('node:path');
  const { text } = require('node:stream/consumers');
  const { pipeline } = require('node:stream/promises');
  const { promisify } = require('node:util');
  const zip = await promisify(yauzl.open)(archive, { lazyEntries: true });
  const open = promisify(zip.openReadStream.bind(zip));
  const unpackEntry = async (entry) => {
    const target = path.join(to, entry.fileName);
    if (entry.fileName.endsWith('/')) return fs.promises.mkdir(target, { recursive: true });
    await fs.promises.mkdir(path.dirname(target), { recursive: true });
    const stream = await open(entry);
    const mode = entry.externalFileAttributes >>> 16;
    const isLink = (mode & fs.constants.S_IFMT) === fs.constants.S_IFLNK;
    if (isLink) return fs.promises.symlink(await text(stream), target);
    return pipeline(stream, fs.createWriteStream(target, { mode: mode & 0o777 }));
  };
  await new Promise((resolve, reject) => {
    zip.on('entry', (entry) => unpackEntry(entry).then(() => zip.readEntry(), reject));
    zip.on('end', resolve);
    zip.on('error', reject);
    zip.readEntry();
  });
}

scenarios.unpack = async (functions, { archive, to }, launch) => {
  const started = resources();
  await unpackers[launch.functions](functions, archive, to);
  return { many: { files: 0, bytes: 0, usage: resourcesSince(started) } };
};
