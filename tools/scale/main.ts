import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { COEFFICIENTS_PATH, readCoefficients, type Coefficients } from './simulation/coefficients.ts';
import { pricesFrom } from './costs.ts';
import { updateDocument, writeFormatted } from './document.ts';
import { foldEventMs, measureLive, measureRest } from './measure/measure.ts';
import * as sim from './simulation/simTables.ts';
import * as paper from './tables.ts';
import { validate } from './simulation/validate.ts';

const { values } = parseArgs({
  options: {
    /** `all`, or `live`: the writer and the log's commit only. */
    measure: { type: 'string' },
    /** A JSON file of prices that replace the assumed ones. */
    prices: { type: 'string' },
    /** Runs the real writer beside the simulated one. */
    validate: { type: 'boolean', default: false },
    /** Puts the tables into the documentation. */
    write: { type: 'boolean', default: false },
  },
});
const { env } = process;

const measuring = {
  databaseUrl: env['SCALE_DATABASE_URL'] ?? '',
  folder: env['SCALE_DIR'] ?? tmpdir(),
  events: Number(env['SCALE_EVENTS'] ?? 200_000),
  tenants: Number(env['SCALE_TENANTS'] ?? 1_000),
  coldMax: Number(env['SCALE_COLD_MAX'] ?? 100_000),
  seconds: Number(env['SCALE_SECONDS'] ?? 4),
};

const measured = async (): Promise<Coefficients> => {
  if (values.measure === undefined) return readCoefficients();
  if (values.measure === 'all' && measuring.databaseUrl === '')
    throw new Error('SCALE_DATABASE_URL must name a PostgreSQL that may be emptied');
  const rest = values.measure === 'all' ? await measureRest(measuring, console.log) : readCoefficients();
  const coefficients = { ...rest, ...(await measureLive(measuring, foldEventMs(rest))) };
  await writeFormatted(COEFFICIENTS_PATH, JSON.stringify(coefficients));
  return coefficients;
};

const coefficients = await measured();
const prices = pricesFrom(values.prices);
const blocks: Record<string, string> = {};
const show = (name: string, block: string) => {
  blocks[name] = block;
  console.log(`\n${name}\n\n${block}`);
};

if (values.validate) {
  const rounds = Number(env['SCALE_ROUNDS'] ?? 3);
  const { folder, seconds } = measuring;
  show('validation', sim.validationTable(await validate(coefficients, { folder, seconds, rounds })));
}
show('costs', paper.costTable(coefficients, prices));
show('prices', paper.priceTable(prices));
show('history', paper.historyTable(coefficients));
show('tenants', paper.tenantTable(coefficients));
show('cold loads', paper.coldTable(coefficients));
show('events', paper.eventTable(coefficients));
show('tables', paper.readModelTable(coefficients));
show('one machine', sim.oneMachineTable(coefficients));
show('replicas', sim.kneeTable(coefficients));
show('sticky', sim.stickyTable(coefficients));
show('cold share', sim.coldShareTable(coefficients));
show('ring', paper.ringTable());
show('lag', sim.lagTable(coefficients));
show('shards', sim.shardTable(coefficients));
show('documents', sim.documentTable(coefficients));
show('day', sim.dayTable(coefficients));
if (values.write) await updateDocument(blocks);
