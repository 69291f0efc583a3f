import { expect } from 'chai';
import { connection, openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { served } from '../../adapters/eventstoredb/reads.ts';
import { startEsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { batchOf } from '../support/logs/eventLogProbe.ts';
import { until } from '../../engine/test/support/until.ts';

/** Fewer than the streams on the way keep between them, as many, and more. */
const SIZES = [1, 16, 31, 32, 33, 48, 64, 200];

/** Long enough for all to arrive that is on its way, of which the client tells nothing. */
// eslint-disable-next-line no-restricted-globals
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('reads that are left before their end', () => {
  for (const isLate of [false, true])
    it(`are forgotten by the client, left ${isLate ? 'when all has arrived' : 'at once'}`, async () => {
      const double = await startEsdbDouble();
      const log = openEventStoreDb({ connectionString: double.connectionString });
      await log.append('account-t1', 'no_stream', batchOf(Math.max(...SIZES)));
      const reads = connection(double.connectionString);
      const client = reads.client();
      const kept = (): number => (Reflect.get(client, 'disposableStreams') as ReadonlySet<unknown>).size;
      for (const limit of [...SIZES, ...SIZES, ...SIZES])
        for await (const one of served(
          client,
          { isBackwards: true, limit },
          { what: 'a read of $all', ms: 2_000 },
        )) {
          expect(one).to.include({ kind: 'event' });
          if (isLate) await pause(15);
          break;
        }
      await until(() => kept() === 0);
      await Promise.all([reads.close(), log.close()]);
      await double.close();
    });
});
