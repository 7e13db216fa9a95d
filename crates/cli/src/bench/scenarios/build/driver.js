// The rows under Node. The counterpart of native.rs: same phases, same order, same bytes.

const join = (directory, name) => `${directory}/${name}`;
const isWanted = (name, extensions) => {
  const dot = name.lastIndexOf('.');
  return dot >= 0 && extensions.has(name.slice(dot + 1));
};

// The format that Node takes a file for, by its extension, or else by its nearest package.json's
// type.
const byExtension = { cjs: 'commonjs', mjs: 'module', json: 'json', js: undefined, ts: undefined };
const formatOf = (file) => byExtension[file.slice(file.lastIndexOf('.') + 1)];
const formatOfType = (type) => (type === 'module' ? 'module' : 'commonjs');

const transform = (text, type) =>
  `/* built by smallfry bench; type: ${type} */\n${text.replaceAll('\r\n', '\n')}`;

// With smallfry, if it can write durably: each file whole or not at all, and for good.
const published = { durability: 'full', replace: true };

function firstOf(walked, request) {
  // By code point, as in every runtime; JavaScript's own order differs for characters beyond
  // U+FFFF.
  const beyond = walked.some((file) => /[\ud800-\uffff]/.test(file));
  walked.sort(beyond ? (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)) : undefined);
  return walked.slice(0, request.files);
}

// One call after another.
const sync = {
  walk(functions, request) {
    const extensions = new Set(request.extensions);
    const files = [];
    const directories = [''];
    while (directories.length > 0) {
      const directory = directories.pop();
      for (const entry of fs.readdirSync(join(request.tree, directory), { withFileTypes: true })) {
        if (entry.name.includes('\ufffd')) continue;
        if (entry.isDirectory()) directories.push(`${directory}${entry.name}/`);
        else if (entry.isFile() && isWanted(entry.name, extensions)) files.push(directory + entry.name);
      }
    }
    return firstOf(files, request);
  },

  types(functions, request, files) {
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
    return files.map((file) => formatOf(file) ?? formatOfType(nearest(directoryOf(join(request.tree, file)))));
  },

  read(functions, request, files) {
    return files.map((file) => functions.readFileSync(join(request.tree, file), 'utf8'));
  },

  write(functions, request, files, texts) {
    files.forEach((file, i) => functions.writeFileSync(join(request.output, file), texts[i], 'utf8'));
  },

  publish(functions, request, files, texts, durable) {
    const paths = files.map((file) => join(request.published, file));
    if (durable) paths.forEach((path, i) => functions.writeFileSync(path, texts[i], published));
    else writeEachDurably(paths, texts, true);
  },
};

// Promise.all over everything that can go at once.
const parallel = {
  async walk(functions, request) {
    const extensions = new Set(request.extensions);
    const files = [];
    const visit = async (directory) => {
      const entries = await fs.promises.readdir(join(request.tree, directory), { withFileTypes: true });
      const inner = [];
      for (const entry of entries) {
        if (entry.name.includes('\ufffd')) continue;
        if (entry.isDirectory()) inner.push(visit(`${directory}${entry.name}/`));
        else if (entry.isFile() && isWanted(entry.name, extensions)) files.push(directory + entry.name);
      }
      await Promise.all(inner);
    };
    await visit('');
    return firstOf(files, request);
  },

  async types(functions, request, files) {
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
      let type = known.get(directory);
      if (type === undefined) {
        type = find(directory);
        known.set(directory, type);
      }
      return type;
    };
    return Promise.all(
      files.map(async (file) => formatOf(file) ?? formatOfType(await nearest(directoryOf(join(request.tree, file))))),
    );
  },

  read(functions, request, files) {
    return Promise.all(files.map((file) => functions.promises.readFile(join(request.tree, file), 'utf8')));
  },

  write(functions, request, files, texts) {
    return Promise.all(
      files.map((file, i) => functions.promises.writeFile(join(request.output, file), texts[i], 'utf8')),
    );
  },

  async publish(functions, request, files, texts, durable) {
    const paths = files.map((file) => join(request.published, file));
    if (durable) {
      await Promise.all(paths.map((path, i) => functions.promises.writeFile(path, texts[i], published)));
      return;
    }
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

// By smallfry/package-json, if the package has that.
function typesInOneCall(plain) {
  return (functions, request, files) => {
    if (!functions.packageJSON) return plain.types(functions, request, files);
    const { moduleFormats, moduleFormat, formats } = functions.packageJSON;
    const options = { typescript: true };
    const paths = files.map((file) => join(request.tree, file));
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
  };
}

// The same with one call for all files where there is one.
const bulkSync = {
  ...sync,

  types: typesInOneCall(sync),

  read: (functions, request, files) =>
    functions.readFilesSync(files.map((file) => join(request.tree, file)), { encoding: 'utf8' }),

  write: (functions, request, files, texts) =>
    functions.writeFilesSync(files.map((file, i) => [join(request.output, file), texts[i]])),

  publish(functions, request, files, texts, durable) {
    if (!durable) return sync.publish(functions, request, files, texts, durable);
    functions.writeFilesSync(files.map((file, i) => [join(request.published, file), texts[i]]), published);
  },
};

const bulk = {
  ...parallel,

  types: typesInOneCall(parallel),

  read: (functions, request, files) =>
    functions.readFiles(files.map((file) => join(request.tree, file)), { encoding: 'utf8' }),

  write: (functions, request, files, texts) =>
    functions.writeFiles(files.map((file, i) => [join(request.output, file), texts[i]])),

  publish: (functions, request, files, texts, durable) =>
    durable
      ? functions.writeFiles(files.map((file, i) => [join(request.published, file), texts[i]]), published)
      : parallel.publish(functions, request, files, texts, durable),
};

const styles = { sync, parallel, 'bulk-sync': bulkSync, bulk };

async function build(loaded, request, launch) {
  const steps = styles[request.style];
  const packageJSON = launch.functions === 'smallfry' ? packageJSONOf(launch.package) : undefined;
  const functions = packageJSON && request.style.startsWith('bulk') ? { ...loaded, packageJSON } : loaded;
  const durable = loaded !== fs && askDurability(functions).durability;
  const phases = [];
  const started = resources();
  let last = process.hrtime();
  const phase = (name) => {
    const [seconds, nanoseconds] = process.hrtime(last);
    phases.push([name, seconds * 1e9 + nanoseconds]);
    last = process.hrtime();
  };
  const files = await steps.walk(functions, request);
  phase('walk');
  const types = await steps.types(functions, request, files);
  phase('type');
  let texts = await steps.read(functions, request, files);
  phase('read');
  texts = texts.map((text, i) => transform(text, types[i]));
  phase('transform');
  await steps.write(functions, request, files, texts);
  // Where closing is slow, smallfry's functions leave it to other threads; without waiting, publish
  // would pay for it.
  const [unclosed] = (await functions.drainCloses?.()) ?? [];
  if (unclosed) throw unclosed;
  // Functions for whole files close inside, so there is no phase for that.
  phase('write');
  await steps.publish(functions, request, files.slice(0, request.publish), texts, durable);
  phase('publish');
  const usage = resourcesSince(started);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return { many: { phases, files: files.length, bytes, usage } };
}

scenarios.build = build;
