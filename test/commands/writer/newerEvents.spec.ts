import { expect } from 'chai';
import { accountStream } from '../../../domain/account/messages.ts';
import { chainHash, eventIdOfHash } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import { adjustment, charge } from '../../support/money/accountCommands.ts';
import { eventsOf, LOGS, type LogUnderTest } from '../../support/logs/eventLogs.ts';

const TENANT = 'acme';

for (const { name, open } of LOGS)
  describe(`an account that a newer release has written to, on the ${name}`, () => {
    let log: LogUnderTest;
    beforeEach(async () => {
      log = await open();
      const writer = accountWriter({ store: log.store });
      await writer.execute(adjustment(TENANT, 100, 'a'));
      await writer.close();
    });
    afterEach(() => log.dispose());

    const events = async () => {
      const found = [];
      for await (const event of log.store.read(accountStream(TENANT))) found.push(event);
      return found;
    };

    /** What the newer release appends: the last event in another guise. */
    const appendNewer = async (type: string, change: JsonObject): Promise<void> => {
      const last = (await eventsOf(log.store, accountStream(TENANT))).at(-1)!;
      const { data, revision } = last;
      const covered = { ...last.metadata, ...change, prev_hash: last.metadata['hash'] ?? null };
      const stream = accountStream(TENANT);
      const hash = chainHash({ stream, revision: revision + 1n, type, data, metadata: covered });
      const stored = { id: eventIdOfHash(hash), type, data, metadata: { ...covered, hash } };
      const result = await log.store.append(stream, revision, [stored]);
      expect(result.kind).to.equal('appended');
    };

    const cases = [
      { what: 'an event type that this one does not know', type: 'CreditsLent', change: {} },
      { what: 'a newer version of an event', type: 'CreditsAdjusted', change: { schema_version: 2 } },
    ] as const;
    for (const { what, type, change } of cases) {
      it(`is refused loudly for ${what}, and nothing is decided`, async () => {
        await appendNewer(type, change);
        const before = (await events()).length;
        const writer = accountWriter({ store: log.store });
        for (const command of [charge(TENANT, 10, 'c'), adjustment(TENANT, 5, 'b')]) {
          const outcome = await writer.execute(command).catch((error: unknown) => String(error));
          expect(outcome).to.be.a('string').that.contains(type).and.contains('cannot be read');
        }
        const state = await writer.stateOf(TENANT).catch((error: unknown) => String(error));
        expect(state, 'never a wrong balance').to.be.a('string').that.contains(type);
        expect(await events()).to.have.length(before);
        await writer.close();
      });

      it(`is refused by a writer that has it in memory already, for ${what}`, async () => {
        const writer = accountWriter({ store: log.store });
        expect((await writer.stateOf(TENANT)).balance).to.equal(100);
        await appendNewer(type, change);
        const before = (await events()).length;
        const outcome = await writer
          .execute(charge(TENANT, 10, 'c'))
          .catch((error: unknown) => String(error));
        expect(outcome).to.be.a('string').that.contains(type);
        expect(await events()).to.have.length(before);
        await writer.close();
      });
    }
  });
