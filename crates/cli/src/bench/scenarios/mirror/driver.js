// The row under Node.

scenarios.mirror = async (_functions, { call, from, to, contents }, launch) => {
  const [name, functions] = treeFunctions(call, launch);
  const started = resources();
  await functions[name](from, to, { delete: true, compare: contents ? 'contents' : 'time' });
  return { many: { files: 0, bytes: 0, usage: resourcesSince(started) } };
};
