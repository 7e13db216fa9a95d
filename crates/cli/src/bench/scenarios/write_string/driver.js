// The rows under Node. The counterpart of native.rs: same steps, same names.

const texts = new Map();

// Flat in memory, as text that a program has built and used usually is: Array.prototype.join makes
// one sequential string, of one byte a character if the pattern allows.
function textOf({ pattern, length }) {
  const key = `${pattern} ${length}`;
  let text = texts.get(key);
  if (text === undefined) {
    const parts = new Array(Math.floor(length / pattern.length)).fill(pattern);
    parts.push(pattern.slice(0, length % pattern.length));
    text = parts.join('');
    texts.set(key, text);
  }
  return text;
}

// The file written to, and what has to happen to it between samples, outside the timing.
class Target {
  constructor(request, bytes) {
    this.request = request;
    this.step = bytes.byteLength;
    this.grown = 0;
    this.made = [];
    this.where = request.path;
    const { addressing } = request;
    if (addressing === 'new') this.next();
    if (addressing === 'fd') this.open();
    if (addressing === 'overwritten') fs.writeFileSync(request.path, bytes);
    this.grows = addressing === 'fd' || (addressing === 'overwritten' && request.function === 'appendFileSync');
  }

  next() {
    this.where = `${this.request.path}-${process.pid}-${++Target.count}`;
    this.made.push(this.where);
  }

  open() {
    if (typeof this.where === 'number') fs.closeSync(this.where);
    this.where = fs.openSync(this.request.path, 'w');
  }

  reset(calls) {
    if (this.request.addressing === 'new') this.next();
    if (!this.grows) return;
    this.grown += this.step * calls;
    if (this.grown + this.step * this.request.calls <= this.request.grow_to) return;
    this.grown = 0;
    if (this.request.addressing === 'fd') this.open();
    else fs.truncateSync(this.request.path, 0);
  }

  close() {
    if (typeof this.where === 'number') fs.closeSync(this.where);
    this.made.pop();
    for (const path of this.made) {
      if (this.request.target === 'disk') fs.truncateSync(path, 0);
      else fs.unlinkSync(path);
    }
  }
}

Target.count = 0;

// A loop of its own for each case, so that what V8 learns in one case does not slow the next.
function loopOf(asString) {
  const call = asString ? `write(target.where, data, 'utf8')` : 'write(target.where, data)';
  return new Function('write', 'target', 'data', 'warmUp', 'calls', 'times', 'now', `
    for (let i = 0; i < warmUp; i++) { ${call}; target.reset(1); }
    const resources = now();
    for (let i = 0; i < times.length; i++) {
      const started = process.hrtime();
      for (let k = 0; k < calls; k++) ${call};
      const [seconds, nanoseconds] = process.hrtime(started);
      times[i] = seconds * 1e9 + nanoseconds;
      target.reset(calls);
    }
    return resources;`);
}

const loops = new Map();

function writeString(functions, request) {
  const text = textOf(request);
  const bytes = Buffer.from(text);
  const asString = request.data === 'string';
  const key = [request.length, request.text, request.function, request.data, request.addressing].join();
  if (!loops.has(key)) loops.set(key, loopOf(asString));
  const target = new Target(request, bytes);
  const times = new Array(request.samples).fill(0);
  const write = functions[request.function];
  const data = asString ? text : bytes;
  const started = loops.get(key)(write, target, data, request.warm_up, request.calls, times, resources);
  const usage = resourcesSince(started);
  target.close();
  return { many: { files: times.length, bytes: 0, usage, samples_ns: times } };
}

// Lets V8 compile the functions in question before the first case.
function warmUp(functions) {
  const rounds = 1500;
  const fd = fs.openSync(nullDevice, 'w');
  const some = ['file', 'café', 'жé漢€'].map((pattern) => textOf({ pattern, length: 12 }));
  for (const target of [fd, nullDevice]) {
    for (const write of [functions.writeFileSync, functions.appendFileSync]) {
      for (let i = 0; i < rounds; i++) {
        write(target, some[i % some.length], 'utf8');
        if (i % 4 === 0) write(target, Buffer.from(some[0]));
      }
    }
  }
  fs.closeSync(fd);
}

scenarios['write-string'] = writeString;
