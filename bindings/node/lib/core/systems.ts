// The packages with native parts, one for each system.

/** Returns the ends that names of such packages have for this system, such as `linux-x64-gnu`. */
export function systems(): string[] {
  const system = `${process.platform}-${process.arch}`;
  // Which C library a Linux has is known when its addon loads or does not.
  if (process.platform === 'linux') return [`${system}-gnu`, `${system}-musl`];
  return [process.platform === 'win32' ? `${system}-msvc` : system];
}
