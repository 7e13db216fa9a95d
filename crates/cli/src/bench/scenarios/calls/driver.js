// The rows under Node. Each call is made on the files of 100 directories, one directory after the
// other. What a call needs is made before it is timed, and what it leaves is removed after.

const pathCalls = (() => {
  const nothing = () => {};
  const make = (write) => ({ made }) => { for (const path of made) write(path); };
  const remove = ({ made }) => { for (const path of made) fs.rmSync(path, { recursive: true, force: true }); };
  const called = (call) => new Promise((resolve, reject) => { call((error) => { if (error) reject(error); else resolve(); }); });
  const emptyFile = (path) => fs.writeFileSync(path, '');
  const text = 'text '.repeat(2_000);
  const file = make((path) => fs.writeFileSync(path, text));
  const onFile = (call) => [(f, { files }, i) => call(f, files[i]), nothing, nothing];
  const onNew = (call, before = nothing, after = remove) => [(f, { files, made }, i) => call(f, made[i], files[i]), before, after];
  const inDirectory = (call) => [(f, { directories, files }, i) => call(f, directories[Math.floor(i * directories.length / files.length)]), nothing, nothing];
  const missing = (call) => onNew((f, path) => call(f, path).then(() => { throw new Error('there is such a file'); }, nothing));
  const removeRenamed = ({ made }) => { for (const path of made) fs.rmSync(`${path}-`, { force: true }); };
  const removeLike = ({ directories }) => {
    for (const directory of directories) {
      for (const name of fs.readdirSync(directory)) if (name.startsWith('made')) fs.rmdirSync(`${directory}/${name}`);
    }
  };
  return {
    access: onFile((f, path) => f.access(path)),
    stat: onFile((f, path) => f.stat(path)),
    'stat, bigint': onFile((f, path) => f.stat(path, { bigint: true })),
    'stat, missing': missing((f, path) => f.stat(path)),
    lstat: onFile((f, path) => f.lstat(path)),
    readdir: inDirectory((f, path) => f.readdir(path)),
    'readdir, types': inDirectory((f, path) => f.readdir(path, { withFileTypes: true })),
    realpath: onFile((f, path) => f.realpath(path)),
    readlink: onNew((f, path) => f.readlink(path), make((path) => fs.symlinkSync('target', path))),
    chmod: onFile((f, path) => f.chmod(path, 0o644)),
    utimes: onFile((f, path) => f.utimes(path, 1, 2)),
    mkdir: onNew((f, path) => f.mkdir(path)),
    'mkdir, parents': onNew((f, path) => f.mkdir(`${path}/below`, { recursive: true })),
    'realpath, callback': onFile((f, path) => called((done) => f.withCallbacks.realpath(path, done))),
    'mkdir, callback': onNew((f, path) => called((done) => f.withCallbacks.mkdir(`${path}/below`, { recursive: true }, done))),
    readFile: onNew((f, path) => f.readFile(path), file),
    'readFile, utf8': onNew((f, path) => f.readFile(path, 'utf8'), file),
    'readFile, missing': missing((f, path) => f.readFile(path)),
    'readFile, callback': onNew((f, path) => called((done) => f.withCallbacks.readFile(path, done)), file),
    writeFile: onNew((f, path) => f.writeFile(path, text)),
    'mkdir, there': inDirectory((f, path) => f.mkdir(path, { recursive: true })),
    rmdir: onNew((f, path) => f.rmdir(path), make((path) => fs.mkdirSync(path))),
    unlink: onNew((f, path) => f.unlink(path), make(emptyFile)),
    rename: onNew((f, path) => f.rename(path, `${path}-`), make(emptyFile), removeRenamed),
    copyFile: onNew((f, path, from) => f.copyFile(from, path)),
    symlink: onNew((f, path) => f.symlink('target', path)),
    link: onNew((f, path, from) => f.link(from, path)),
    mkdtemp: onNew((f, path) => f.mkdtemp(path), nothing, removeLike),
  };
})();

scenarios.calls = async (_functions, { call: name, at_once: atOnce, directory, count }, { functions, package: installed }) => {
  const withCallbacks = functions === 'smallfry' ? require(`${installed}/dist/fs.js`) : fs;
  const calls = { ...withCallbacks.promises, withCallbacks };
  const directories = Array.from({ length: 100 }, (_, index) => `${directory}/${index}`);
  const pathsNamed = (what) => Array.from({ length: count }, (_, index) => `${directories[Math.floor(index * 100 / count)]}/${what}${index}`);
  const paths = { directories, files: pathsNamed('file'), made: pathsNamed('made') };
  for (const made of directories) fs.mkdirSync(made, { recursive: true });
  for (const file of paths.files) if (!fs.existsSync(file)) fs.writeFileSync(file, 'contents');
  const [call, before, after] = pathCalls[name];
  const run = async () => {
    before(paths);
    const started = resources();
    if (atOnce) {
      await Promise.all(paths.files.map((_, index) => call(calls, paths, index)));
    } else {
      for (let index = 0; index < count; index++) await call(calls, paths, index);
    }
    const usage = resourcesSince(started);
    after(paths);
    return usage;
  };
  // The first time compiles what is called.
  await run();
  return { many: { files: count, bytes: 0, usage: await run() } };
};
