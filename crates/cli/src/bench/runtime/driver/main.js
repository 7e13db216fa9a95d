'use strict';
// The process of a row under Node: obeys the requests of protocol.rs from standard input until it ends.

const fs = require('node:fs');
const nullDevice = process.platform === 'win32' ? '\\\\.\\NUL' : '/dev/null';

function resources() {
  return { hrtime: process.hrtime(), usage: process.resourceUsage() };
}

// Processor time of the process, what is not timed included.
function resourcesSince({ hrtime, usage }) {
  const [seconds, nanoseconds] = process.hrtime(hrtime);
  const now = process.resourceUsage();
  return {
    wall_ns: seconds * 1e9 + nanoseconds,
    user_ns: (now.userCPUTime - usage.userCPUTime) * 1e3,
    sys_ns: (now.systemCPUTime - usage.systemCPUTime) * 1e3,
    peak_kib: now.maxRSS,
  };
}

const input = { waiting: '', decoder: new (require('node:string_decoder').StringDecoder)('utf8') };

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

// The next line of standard input, or null at its end. Blocks: a row that is not asked uses no processor time.
function readLine() {
  const chunk = Buffer.allocUnsafe(1 << 16);
  for (;;) {
    const end = input.waiting.indexOf('\n');
    if (end >= 0) {
      const line = input.waiting.slice(0, end);
      input.waiting = input.waiting.slice(end + 1);
      return line;
    }
    const length = readSome(chunk);
    if (length === 0) return null;
    input.waiting += input.decoder.write(chunk.subarray(0, length));
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

const scenarios = Object.entries({
  build,
  'read-many': readMany,
  'write-many': writeMany,
  'write-string': writeString,
  sync: syncOne,
  'sync-many': syncMany,
  'package-scope': packageScope,
  'ask-durability': askDurability,
});

async function main(launch) {
  let functions;
  const started = process.hrtime();
  try {
    functions = await load(launch);
  } catch (error) {
    send(failure(error, 'load the package'));
    return;
  }
  const [seconds, nanoseconds] = process.hrtime(started);
  if (launch.warm_up) warmUp(functions);
  const { bun, deno } = process.versions;
  const version = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : process.version;
  send({ hello: { version, load_ns: seconds * 1e9 + nanoseconds } });
  for (let line = readLine(); line !== null; line = readLine()) {
    const request = JSON.parse(line);
    try {
      for (const [scenario, run] of scenarios) {
        if (request[scenario]) send(await run(functions, request[scenario], launch));
      }
    } catch (error) {
      send(failure(error, 'run'));
    }
  }
}

main(JSON.parse(process.argv.at(-1)));
