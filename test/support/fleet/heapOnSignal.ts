/**
 * Loaded into the processes of a fleet before anything else, with `--expose-gc`: on SIGUSR2 the process
 * collects its garbage and prints what is left. Resident memory alone does not tell a leak from garbage
 * that nobody needed to collect yet.
 */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`{"kept_bytes":${String(heapUsed + external)}}\n`);
});
