// The rows of `read-many` and `scale` under Node. The counterpart of native.rs: same steps, same
// order.

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Asks the event loop to turn each millisecond, which is the least that timers do, and notes in
// microseconds when it did. perf_hooks.monitorEventLoopDelay would not do: it begins to count after
// its first turn, so that it overlooks whatever blocks the loop from the start (starting 10,000
// calls does), and it keeps no raw values. The function that comes back stops it.
function watchEventLoop() {
  const gaps = [];
  let goesOn = true;
  let last = performance.now();
  const turn = () => {
    const now = performance.now();
    gaps.push(Math.round((now - last) * 1e3));
    last = now;
    if (goesOn) setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  return async () => {
    goesOn = false;
    // The turn that is under way ends the last gap.
    await wait(5);
    return gaps;
  };
}

// The resident set: now, and the highest since it was last set back. Linux tells.
function resident(name) {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(fs.readFileSync('/proc/self/status', 'latin1'))[1]);
}

// In the case `steady`: rounds that are not timed, and those that are.
const STEADY = [3, 5];

async function readMany(functions, { style, data, layout, compare, watch }) {
  const files = pathsOf(layout);
  const [encoding, absent] = data === 'string' ? ['utf8', '\0'] : [undefined, 0];
  const [probe, memory] = [watch === 'event-loop', watch === 'memory'];
  const [untimed, timed] = watch === 'steady' ? STEADY : [0, 1];
  const read = () => readAll[style](functions, files, encoding);
  let looked = 0;
  const look = (all) => all.forEach((contents) => (looked += contents.indexOf(absent)));
  for (let round = 0; round < untimed; round++) look(await read());
  if (memory) fs.writeFileSync('/proc/self/clear_refs', '5');
  const before = memory && resident('VmRSS');
  const stop = probe && watchEventLoop();
  const started = resources();
  for (let round = 1; round < timed; round++) look(await read());
  const all = await read();
  let usage = probe || memory ? resourcesSince(started) : undefined;
  const gaps = probe ? await stop() : [];
  const used = memory ? { before, peak: resident('VmHWM'), after: resident('VmRSS') } : undefined;
  look(all);
  usage ??= resourcesSince(started);
  for (const time of ['wall_ns', 'user_ns', 'sys_ns']) usage[time] = Math.round(usage[time] / timed);
  if (looked !== -files.length * (untimed + timed)) throw new Error('a zero was found, and there is none');
  if (compare) {
    files.forEach((file, i) => {
      if (Buffer.compare(Buffer.from(all[i]), fs.readFileSync(file)) !== 0) throw new Error(`read ${file} wrongly`);
    });
  }
  const bytes = all.reduce((sum, contents) => sum + contents.length, 0);
  return { many: { files: all.length, bytes, usage, gaps_us: gaps, memory_kib: used } };
}

scenarios['read-many'] = readMany;
