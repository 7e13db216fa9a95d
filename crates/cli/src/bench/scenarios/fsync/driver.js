// The rows under Node. The counterpart of native.rs: one file written again and again, each call
// timed alone.

function syncCallOf(functions, { path, text, level, replace }) {
  const flush = level !== 'none';
  if (functions === functionsBefore) {
    const write = (fd) => functionsBefore.writeFileSync(fd, text);
    return () => (flush ? writeFlushed(path, 'w', write) : functionsBefore.writeFileSync(path, text));
  }
  if (functions === fs) {
    // Not with encoding 'utf8': then Node up to 26 does not flush,
    // https://github.com/nodejs/node/issues/60552.
    const options = flush ? { flush } : 'utf8';
    return () => fs.writeFileSync(path, text, options);
  }
  if (functions.sync) return () => functions.sync(path, text, { fsync: flush });
  const options = { durability: level, replace };
  return () => functions.writeFileSync(path, text, options);
}

scenarios.fsync = (functions, request) => {
  const call = syncCallOf(functions, request);
  for (let i = 0; i < request.warm_up; i++) call();
  const samples = new Array(request.samples).fill(0);
  const started = resources();
  for (let i = 0; i < samples.length; i++) {
    const before = process.hrtime();
    call();
    samples[i] = nsSince(before);
  }
  const usage = resourcesSince(started);
  const bytes = samples.length * Buffer.byteLength(request.text);
  return { many: { files: samples.length, bytes, usage, samples_ns: samples } };
};
