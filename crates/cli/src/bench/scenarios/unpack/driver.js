// The rows under Node.

const unpackers = {
  smallfry: (functions, archive, to) => functions.unpack(archive, to),
  'npm-tar': (functions, file, cwd) => functions.default.x({ file, cwd }),
  'extract-zip': (functions, archive, dir) => functions.default(archive, { dir }),
};

scenarios.unpack = async (functions, { archive, to }, launch) => {
  const started = resources();
  await unpackers[launch.functions](functions, archive, to);
  return { many: { files: 0, bytes: 0, usage: resourcesSince(started) } };
};
