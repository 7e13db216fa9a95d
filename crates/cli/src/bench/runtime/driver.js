'use strict';
// The process of a row under Node: obeys the requests of protocol.rs from standard input until it
// ends. The drivers of the scenarios follow; each puts its function into `scenarios`, by its name.

const fs = require('node:fs');
const scenarios = {};
const nullDevice = process.platform === 'win32' ? '\\\\.\\NUL' : '/dev/null';

const resources = () => ({ began: process.hrtime.bigint(), usage: process.resourceUsage() });

// Processor time of the process, what is not timed included.
function resourcesSince({ began, usage }) {
  const wall_ns = Number(process.hrtime.bigint() - began);
  const now = process.resourceUsage();
  return {
    wall_ns,
    user_ns: (now.userCPUTime - usage.userCPUTime) * 1e3,
    sys_ns: (now.systemCPUTime - usage.systemCPUTime) * 1e3,
    peak_kib: now.maxRSS,
  };
}

// Blocks. A module that imports node:process has made standard input one that does not.
function readSome(chunk) {
  for (;;) {
    try {
      return fs.readSync(0, chunk);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

// Returns the next line of standard input, or null at its end. Blocks: a row that is not asked uses
// no processor time. Nothing follows the line, since the bench waits for the reply first.
function readLine() {
  const parts = [];
  for (;;) {
    const chunk = Buffer.allocUnsafe(1 << 16);
    const length = readSome(chunk);
    if (length === 0) return null;
    parts.push(chunk.subarray(0, length));
    if (chunk[length - 1] === 10) return Buffer.concat(parts).toString();
  }
}

function send(reply) {
  const bytes = Buffer.from(`${JSON.stringify(reply)}\n`);
  for (let offset = 0; offset < bytes.length;) offset += fs.writeSync(1, bytes, offset);
}

function failure(error, operation) {
  return {
    failure: {
      operation: error?.syscall ?? operation,
      path: error?.path ?? null,
      code: error?.code ?? null,
      message: String(error?.message ?? error).split('\n', 1)[0],
    },
  };
}

function load({ functions, package: directory }) {
  if (functions === 'smallfry' || functions === 'write-file-atomic') return require(directory);
  if (directory !== undefined) return importPeer(directory);
  return functions === 'before' ? functionsBefore : fs;
}

async function main(launch) {
  let functions;
  const started = resources();
  try {
    functions = await load(launch);
  } catch (error) {
    send(failure(error, 'load the package'));
    return;
  }
  const load_ns = resourcesSince(started).wall_ns;
  if (launch.warm_up) warmUp(functions);
  const { bun, deno } = process.versions;
  const version = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : process.version;
  send({ hello: { version, load_ns } });
  let isAsked = false;
  process.on('exit', () => {
    if (isAsked) send(failure('nothing is left to wait for, and its promise is not settled', 'run'));
  });
  for (let line = readLine(); line !== null; line = readLine()) {
    const request = JSON.parse(line);
    isAsked = true;
    let reply;
    try {
      const [[scenario, of]] = Object.entries(request);
      reply = await scenarios[scenario](functions, of, launch);
    } catch (error) {
      reply = failure(error, 'run');
    }
    isAsked = false;
    send(reply);
  }
}

// Functions that several scenarios call.

const directoryOf = (file) => file.slice(0, Math.max(file.lastIndexOf('/'), 0));

function pathsOf({ directory, directories, files, name }) {
  const digits = (number, count) => String(number).padStart(count, '0');
  return Array.from({ length: files }, (_, i) => {
    const where = directories > 0 ? `${directory}/${digits(i % directories, 4)}` : directory;
    return `${where}/${name}${digits(i, 7)}`;
  });
}

// Returns one line, repeated. A string is flat in memory, as text that a program has built and used
// usually is.
function contentsOf(index, { data, bytes }) {
  const buffer = Buffer.alloc(bytes, `${index}: smallfry writes many small files.\n`);
  return data === 'string' ? buffer.toString('latin1') : buffer;
}

// Opens a file, writes to it and flushes it.
function writeFlushed(path, flags, write) {
  const fd = fs.openSync(path, flags, 0o666);
  try {
    write(fd);
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

// Flushes and names each file, and flushes its directory, before the next one.
function writeEachDurably(files, contents, replace) {
  files.forEach((file, i) => {
    const temporary = replace ? `${file}.tmp` : file;
    writeFlushed(temporary, replace ? 'wx' : 'w', (fd) => fs.writeFileSync(fd, contents[i], 'utf8'));
    if (replace) fs.renameSync(temporary, file);
    flushDirectory(directoryOf(file));
  });
}

function flushDirectory(directory) {
  if (process.platform !== 'win32') writeFlushed(directory, 'r', () => {});
}

// As Node: no further than a directory node_modules, and not at the root.
const endsSearch = (directory) => directory === '' || directory.endsWith('/node_modules');

function typeIn(text) {
  try {
    const { type } = JSON.parse(text);
    return type === 'module' || type === 'commonjs' ? type : 'none';
  } catch {
    return 'none';
  }
}

// An npm package that may be a module of either kind.
function importPeer(directory) {
  const path = require('node:path');
  const root = path.join(directory, '..', '..');
  return import(require('node:url').pathToFileURL(require.resolve(path.basename(directory), { paths: [root] })));
}

// smallfry's functions for package.json, or undefined where a package has none.
function packageJSONOf(directory) {
  const path = require('node:path');
  const file = require(path.join(directory, 'package.json')).exports?.['./package-json'];
  return typeof file === 'string' ? require(path.join(directory, file)) : undefined;
}

// Writes whole files as Node did before it had a native path for strings.
function before(flag) {
  return (target, data, options) => {
    const bytes = typeof data === 'string' ? Buffer.from(data, options) : data;
    const byDescriptor = typeof target === 'number';
    const fd = byDescriptor ? target : fs.openSync(target, flag, 0o666);
    try {
      let offset = 0;
      while (offset < bytes.byteLength) {
        offset += fs.writeSync(fd, bytes, offset, bytes.byteLength - offset, null);
      }
    } finally {
      if (!byDescriptor) fs.closeSync(fd);
    }
  };
}

const functionsBefore = { writeFileSync: before('w'), appendFileSync: before('a') };

// Tells whether the option `durability` is taken: a right value passes and a wrong one is refused.
// node:fs ignores both.
function askDurability(functions) {
  const accepts = (durability) => {
    try {
      functions.writeFileSync(nullDevice, '', { durability });
      return true;
    } catch {
      return false;
    }
  };
  return { durability: accepts('none') && !accepts('nonsense') };
}

scenarios['ask-durability'] = askDurability;
