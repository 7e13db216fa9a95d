// The rows under Node. The counterpart of native.rs: same files, same answers.

// The files of a list: a line each, in how many directories there is to look, and the path.
function listed(list) {
  const lines = fs.readFileSync(list, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => line.slice(line.indexOf(' ') + 1));
}

// Asked as .js, so that the extension leaves the answer open. Few implementations look at the file
// itself.
const asJavaScript = (file) => file.replace(/\.[cm]js$/, '.js');

// Makes the paths anew for each pass, as flat strings: a string that was looked up once keeps its
// hash, and callers do not have that.
function freshly(files) {
  const bytes = Buffer.from(files.join(''));
  const ends = [];
  let end = 0;
  for (const file of files) ends.push((end += Buffer.byteLength(file)));
  const encoding = bytes.every((byte) => byte < 0x80) ? 'latin1' : 'utf8';
  return () => ends.map((end, i) => bytes.toString(encoding, i === 0 ? 0 : ends[i - 1], end));
}

// One call a file; what is compared is not the time of this loop.
const oneByOne = (isModule) => (files) => {
  const answers = new Uint8Array(files.length);
  for (let i = 0; i < files.length; i++) answers[i] = isModule(files[i]) ? 1 : 0;
  return answers;
};

const awaitedOneByOne = (isModule) => async (files) => {
  const answers = new Uint8Array(files.length);
  for (let i = 0; i < files.length; i++) answers[i] = (await isModule(files[i])) ? 1 : 0;
  return answers;
};

// Fewer at once than a process may have open.
const AT_ONCE = 256;

const allAtOnce = (isModule) => async (files) => {
  const answers = new Uint8Array(files.length);
  for (let first = 0; first < files.length; first += AT_ONCE) {
    answers.set(await Promise.all(files.slice(first, first + AT_ONCE).map(isModule)), first);
  }
  return answers;
};

const missing = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);

// As typeIn; undefined where there is no package.json. To ask first takes half as long as to have
// an error made where there is none, which is most often.
function typeWithin(directory) {
  const file = `${directory}/package.json`;
  if (!fs.existsSync(file)) return undefined;
  try {
    return typeIn(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    if (missing.has(error.code)) return undefined;
    throw error;
  }
}

// The look-up of Node's loader while it was written in JavaScript, without and with what it
// remembered.
function walking(file) {
  for (let directory = directoryOf(file); !endsSearch(directory); directory = directoryOf(directory)) {
    const type = typeWithin(directory);
    if (type !== undefined) return type === 'module';
  }
  return false;
}

function mapped() {
  const known = new Map();
  const nearest = (directory) => {
    let type = known.get(directory);
    if (type === undefined) {
      type = endsSearch(directory) ? 'none' : (typeWithin(directory) ?? nearest(directoryOf(directory)));
      known.set(directory, type);
    }
    return type;
  };
  return (file) => nearest(directoryOf(file)) === 'module';
}

// It finds the file; what that says is remembered by its path.
function found() {
  const { findPackageJSON } = require('node:module');
  const types = new Map();
  return (url) => {
    const path = findPackageJSON(url);
    if (path === undefined) return false;
    let type = types.get(path);
    if (type === undefined) {
      type = typeWithin(directoryOf(path)) ?? 'none';
      types.set(path, type);
    }
    return type === 'module';
  };
}

function ours(revalidate) {
  return (functions, { style }, { package: directory }) => {
    const { revalidating, formats, clear } = packageJSONOf(directory);
    // Nothing is known before the first pass, of this process or of what loading has asked for.
    clear();
    const { moduleFormat, moduleFormats } = revalidating(revalidate);
    if (style === 'sync') return { pass: oneByOne((file) => moduleFormat(file) === 'module') };
    const ofModule = formats.indexOf('module');
    return { pass: moduleFormats, answers: (codes) => codes.map((code) => (code === ofModule ? 1 : 0)) };
  };
}

// `as`: how the function wants the paths; `real`: of the files that are there.
const lookups = {
  never: ours('never'),
  'on-change': ours('on-change'),
  after: ours({ after: 1_000 }),
  'find-package-json': () => ({
    as: (file) => require('node:url').pathToFileURL(file).href,
    real: true,
    pass: oneByOne(found()),
  }),
  walk: () => ({ pass: oneByOne(walking) }),
  map: () => ({ pass: oneByOne(mapped()) }),

  'node-internal': () => {
    const { getNearestParentPackageJSONType } = require('internal/test/binding').internalBinding('modules');
    return { pass: oneByOne((file) => getNearestParentPackageJSONType(file) === 'module') };
  },

  // `cwd` is a directory, and joining and parting paths is not its work.
  'read-package-up': ({ readPackageUpSync }) => ({
    as: directoryOf,
    pass: oneByOne((cwd) => readPackageUpSync({ cwd, normalize: false })?.packageJson.type === 'module'),
  }),

  'pkg-types': ({ readPackageJSON }, { style }) => {
    const isModule = async (directory) => (await readPackageJSON(directory, { cache: true })).type === 'module';
    return { as: directoryOf, pass: style === 'sync' ? awaitedOneByOne(isModule) : allAtOnce(isModule) };
  },

  // It resolves a name to a file that is there, and says of what type that is.
  'oxc-resolver': ({ ResolverFactory }) => {
    const resolver = new ResolverFactory({ moduleType: true, symlinks: false });
    return {
      real: true,
      pass: oneByOne((file) => {
        const directory = directoryOf(file);
        const { error, moduleType } = resolver.sync(directory, `.${file.slice(directory.length)}`);
        if (error !== undefined) throw new Error(error);
        return moduleType === 'module';
      }),
    };
  },
};

// Only files whose extension leaves the type open count. Resolvers tell the type of others
// without a package.json.
function hashOf(answers, files) {
  let hash = 0x811c9dc5;
  files.forEach((file, i) => {
    if (file.endsWith('.js')) hash = Math.imul(hash ^ answers[i], 0x01000193);
  });
  return hash >>> 0;
}

async function packageScope(functions, request, launch) {
  const files = listed(request.list);
  const lookup = lookups[request.lookup === 'theirs' ? launch.functions : request.lookup];
  const { as = (file) => file, real = false, pass, answers = (all) => all } = lookup(functions, request, launch);
  const fresh = freshly((real ? files : files.map(asJavaScript)).map(as));
  let last;
  const timed = async () => {
    const paths = fresh();
    const started = process.hrtime();
    last = pass(paths);
    if (typeof last.then === 'function') last = await last;
    return nsSince(started);
  };
  const passesFor = async (milliseconds) => {
    let [passes, ns] = [0, 0];
    do {
      ns += await timed();
      passes += 1;
    } while (ns < milliseconds * 1e6);
    return [passes, ns];
  };
  if (!request.cold) await passesFor(request.warm_up_ms);
  const started = resources();
  const [passes, ns] = await passesFor(request.cold ? 0 : request.measure_ms);
  const usage = { ...resourcesSince(started), wall_ns: ns };
  return { many: { files: files.length * passes, bytes: 0, usage, answers: hashOf(answers(last), files) } };
}

scenarios['package-scope'] = packageScope;
