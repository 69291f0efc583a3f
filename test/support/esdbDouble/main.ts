import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { startEsdbDouble } from './esdbDouble.ts';
import type { AppendFault } from './faults.ts';

/**
 * The double as a process of its own: `node tools/build/run.js test/support/esdbDouble/main.ts --port N [--file F]`.
 * It prints its connection string. Lines on its input throw switches: an append fault as JSON, or
 * `end_subscriptions`, `close_connections`, `freeze`, `thaw`, `halt_reads`, `resume_reads`, `refuse_features`.
 * Each is said back once it is thrown. Reads that are halted have sent one event.
 */
const { values } = parseArgs({ options: { port: { type: 'string' }, file: { type: 'string' } } });
const double = await startEsdbDouble({
  port: Number(values.port ?? 0),
  ...(values.file === undefined ? {} : { file: values.file }),
  onDie: () => process.kill(process.pid, 'SIGKILL'),
});
process.stdout.write(`${double.connectionString}\n`);

const switches: Readonly<Record<string, () => void>> = {
  end_subscriptions: double.endSubscriptions,
  close_connections: double.closeConnections,
  freeze: () => double.freeze(true),
  thaw: () => double.freeze(false),
  halt_reads: () => double.faults.haltReads(1),
  resume_reads: () => double.faults.haltReads(),
  refuse_features: () => {
    double.faults.refuseFeatures = true;
  },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const known = switches[line.trim()];
  if (known !== undefined) known();
  else if (line.startsWith('{')) double.faults.nextAppend(JSON.parse(line) as AppendFault);
  process.stdout.write(`${line}\n`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void double.close().then(() => process.exit(0)));
