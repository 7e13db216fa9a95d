// The rows under Node. The counterpart of native.rs: same phases, same order, same bytes.

const within = (directory, files) => files.map((file) => `${directory}/${file}`);

// The format that Node takes a file for, by its extension, or else by its nearest package.json's
// type.
const byExtension = { cjs: 'commonjs', mjs: 'module', json: 'json', js: undefined, ts: undefined };
const formatOf = (file) => byExtension[file.slice(file.lastIndexOf('.') + 1)];
const formatOfType = (type) => (type === 'module' ? 'module' : 'commonjs');

const transform = (text, type) =>
  `/* built by smallfry bench; type: ${type} */\n${text.replaceAll('\r\n', '\n')}`;

// With smallfry, if it can write durably: each file whole or not at all, and for good.
const published = { durability: 'full', replace: true };

// Parts the entries of a directory into files that are wanted, and directories.
function sorted(entries, directory, extensions, files) {
  const directories = [];
  for (const entry of entries) {
    if (entry.name.includes('\ufffd')) continue;
    const dot = entry.name.lastIndexOf('.');
    if (entry.isDirectory()) directories.push(`${directory}${entry.name}/`);
    else if (entry.isFile() && dot >= 0 && extensions.has(entry.name.slice(dot + 1))) files.push(directory + entry.name);
  }
  return directories;
}

// One call after another.
const sync = {
  clean: (functions, { last }) => functions.rmSync(last, { recursive: true, force: true }),

  walk({ tree }, extensions, files) {
    const directories = [''];
    while (directories.length > 0) {
      const directory = directories.pop();
      const entries = fs.readdirSync(`${tree}/${directory}`, { withFileTypes: true });
      directories.push(...sorted(entries, directory, extensions, files));
    }
  },

  types(functions, paths) {
    const known = new Map();
    const nearest = (directory) => {
      let type = known.get(directory);
      if (type === undefined) {
        try {
          type = endsSearch(directory) ? 'none' : typeIn(functions.readFileSync(`${directory}/package.json`, 'utf8'));
        } catch (error) {
          if (error.code !== 'ENOENT') throw error;
          type = nearest(directoryOf(directory));
        }
        known.set(directory, type);
      }
      return type;
    };
    return paths.map((path) => formatOf(path) ?? formatOfType(nearest(directoryOf(path))));
  },

  copyAssets: (functions, { assets, copied }) => functions.cpSync(assets, copied, { recursive: true }),

  publish: (functions, paths, texts) => writeEachDurably(paths, texts, true),
};

// Promise.all over everything that can go at once.
const parallel = {
  clean: (functions, { last }) => functions.promises.rm(last, { recursive: true, force: true }),

  async walk({ tree }, extensions, files) {
    const visit = async (directory) => {
      const entries = await fs.promises.readdir(`${tree}/${directory}`, { withFileTypes: true });
      await Promise.all(sorted(entries, directory, extensions, files).map(visit));
    };
    await visit('');
  },

  async types(functions, paths) {
    const known = new Map();
    const find = async (directory) => {
      if (endsSearch(directory)) return 'none';
      try {
        return typeIn(await functions.promises.readFile(`${directory}/package.json`, 'utf8'));
      } catch (error) {
        if (error.code !== 'ENOENT') throw error;
        return nearest(directoryOf(directory));
      }
    };
    const nearest = (directory) => {
      if (!known.has(directory)) known.set(directory, find(directory));
      return known.get(directory);
    };
    return Promise.all(paths.map(async (path) => formatOf(path) ?? formatOfType(await nearest(directoryOf(path)))));
  },

  copyAssets: (functions, { assets, copied }) => functions.promises.cp(assets, copied, { recursive: true }),

  async publish(functions, paths, texts) {
    const flushed = async (path, flag, write) => {
      const handle = await fs.promises.open(path, flag);
      try {
        await write(handle);
        await handle.sync();
      } finally {
        await handle.close();
      }
    };
    await Promise.all(
      paths.map(async (path, i) => {
        const temporary = `${path}.tmp`;
        await flushed(temporary, 'w', (handle) => functions.promises.writeFile(handle, texts[i], 'utf8'));
        await fs.promises.rename(temporary, path);
      }),
    );
    if (process.platform === 'win32') return;
    const directories = [...new Set(paths.map(directoryOf))];
    await Promise.all(directories.map((directory) => flushed(directory, 'r', () => {})));
  },
};

// By smallfry/package-json.
function typesInOneCall({ moduleFormats, moduleFormat, formats }, paths) {
  const options = { typescript: true };
  try {
    return Array.from(moduleFormats(paths, options), (code) => formats[code]);
  } catch (error) {
    if (error.code !== 'ERR_INVALID_PACKAGE_CONFIG') throw error;
  }
  // Some package in it tests what happens with an invalid package.json.
  return paths.map((path) => {
    try {
      return moduleFormat(path, options);
    } catch {
      return 'commonjs';
    }
  });
}

scenarios.build = async (functions, request, launch) => {
  const { style } = request;
  // Bulk rows make one call for all files where there is one.
  const steps = style.endsWith('sync') ? sync : parallel;
  const asks = launch.functions === 'smallfry' && style.startsWith('bulk');
  const packageJSON = asks ? packageJSONOf(launch.package) : undefined;
  const onTrees = launch.functions === 'smallfry' ? require(`${launch.package}/dist/fs.js`) : fs;
  const durable = functions !== fs && askDurability(functions).durability;
  const phases = [];
  const started = resources();
  let last = process.hrtime();
  const phase = (name) => {
    phases.push([name, nsSince(last)]);
    last = process.hrtime();
  };
  await steps.clean(onTrees, request);
  phase('clean');
  let files = [];
  await steps.walk(request, new Set(request.extensions), files);
  // By code point, as in every runtime; JavaScript's own order differs for characters beyond
  // U+FFFF.
  const beyond = files.some((file) => /[\ud800-\uffff]/.test(file));
  files.sort(beyond ? (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)) : undefined);
  files = files.slice(0, request.files);
  phase('walk');
  const paths = within(request.tree, files);
  const types = packageJSON ? typesInOneCall(packageJSON, paths) : await steps.types(functions, paths);
  phase('type');
  let texts = await readAll[style](functions, paths, 'utf8');
  phase('read');
  texts = texts.map((text, i) => transform(text, types[i]));
  phase('transform');
  await writeAll[style](functions, within(request.output, files), texts, 'utf8');
  // Without waiting, publish would pay for it.
  await allClosed(functions);
  // Functions for whole files close inside, so there is no phase for that.
  phase('write');
  await steps.copyAssets(onTrees, request);
  phase('assets');
  const places = within(request.published, files.slice(0, request.publish));
  if (durable) await writeAll[style](functions, places, texts, published);
  else await steps.publish(functions, places, texts);
  phase('publish');
  const usage = resourcesSince(started);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return { many: { phases, files: files.length, bytes, usage } };
};
