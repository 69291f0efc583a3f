import { expect } from 'chai';
import fc from 'fast-check';
import { LOG_STREAM, SEALS_STREAM } from '../../domain/kernel/json.ts';
import { divergenceOf } from '../../projections/engine/divergence.ts';
import type { Generation } from '../../projections/engine/registry.ts';
import { witnessOf } from '../../domain/kernel/witness.ts';
import { textOfWitness, witnessAt } from '../../projections/engine/arrivals.ts';
import { memoryLog, type MemoryLog } from '../support/logs/memoryLog.ts';
import { propertyRuns } from '../../engine/test/support/properties.ts';

const LOG_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

const opened = (log_id = LOG_ID): MemoryLog => {
  const log = memoryLog();
  log.append(LOG_STREAM, 'LogOpened', { log_id, opened_at: '2026-01-31T08:00:00.000Z' });
  return log;
};

const write = (log: MemoryLog, events: number, of: string): void => {
  for (let n = 0; n < events; n += 1) log.append(`account-${String(n % 3)}`, 'Happened', { of, n });
};

/** Read models that have taken everything up to the log's end, or up to what is given. */
const readUpTo = (log: MemoryLog, position?: bigint): Generation => {
  const at = position ?? log.events().at(-1)!.position;
  const last = log.events().findLast((event) => event.position <= at && !event.stream.startsWith('$'));
  return {
    name: 'balances',
    version: 1,
    generation: 1,
    schema: 'rm',
    state: 'live',
    serves: true,
    reason: null,
    parks: 0n,
    isPaused: false,
    position: at,
    logId: LOG_ID,
    witness: last === undefined ? null : witnessOf(last),
  };
};

describe('comparing read models with a log', () => {
  const sizes = fc.record({ before: fc.nat(12), kept: fc.nat(12), after: fc.nat(12) });
  it('finds a log that lost what was read, however far it has grown since, and no other', async () => {
    const property = fc.asyncProperty(sizes, async ({ before, kept, after }) => {
      const log = opened();
      write(log, before, 'first');
      const read = readUpTo(log);
      log.goBack(1 + kept);
      write(log, after, 'second');
      expect((await divergenceOf(log, [read])) !== undefined).to.equal(kept < before);
    });
    // A failure prints its seed.
    await fc.assert(property, { numRuns: propertyRuns(0.2) });
  });

  it('finds another log, and one without a name', async () => {
    const read = readUpTo(opened());
    const other = opened('6fa459ea-ee8a-4ca1-894e-db77e160355e');
    expect((await divergenceOf(other, [read]))?.reason).to.contain('6fa459ea');
    expect((await divergenceOf(memoryLog(), [read]))?.reason).to.contain('without a name');
  });

  it('finds an event where nothing was when the checkpoint passed it', async () => {
    const log = opened();
    write(log, 2, 'first');
    const { position } = log.append(SEALS_STREAM, 'Sealed', {});
    const read = readUpTo(log, position);
    expect(await divergenceOf(log, [read])).to.equal(undefined);
    log.goBack(3);
    // What is written at that place from now on would be taken for read.
    expect((await divergenceOf(log, [read]))?.reason).to.contain('the log ends at');
    write(log, 1, 'second');
    expect((await divergenceOf(log, [read]))?.reason).to.contain('was not there');
  });

  it('compares the end where a release without witnesses moved the checkpoint, and adopts the log', async () => {
    const log = opened();
    write(log, 5, 'first');
    const read = { ...readUpTo(log), logId: null, witness: undefined };
    expect(await divergenceOf(log, [read])).to.equal(undefined);
    log.goBack(3);
    expect((await divergenceOf(log, [read]))?.reason).to.contain('the log ends at');
  });

  it('keeps a witness with its checkpoint alone', () => {
    const log = opened();
    write(log, 1, 'first');
    const witness = witnessOf(log.events().at(-1)!);
    expect(witnessAt(9n, textOfWitness(9n, witness))).to.deep.equal(witness);
    expect(witnessAt(9n, textOfWitness(9n, null))).to.equal(null);
    expect(witnessAt(12n, textOfWitness(9n, witness))).to.equal(undefined);
    expect(witnessAt(12n, null)).to.equal(undefined);
    expect(witnessAt(null, null)).to.equal(null);
  });
});
