import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { placesStream } from '../../../domain/places.ts';
import { takePlace, type PlaceRequest } from '../../../src/writer/places.ts';
import { eventsOf, LOGS, type LogUnderTest } from '../../support/logs/eventLogs.ts';

const NOW = '2026-01-31T08:00:00.000Z';
const MAX = 3;
const STREAM = placesStream({ tenant_id: 'acme', thing: 'webhooks' });

for (const { name: log, open } of LOGS)
  describe(`a place for a thing, in ${log}`, () => {
    let under: LogUnderTest;
    let over: Set<string>;
    let asked: string[];
    beforeEach(async () => {
      under = await open();
      [over, asked] = [new Set(), []];
    });
    afterEach(() => under.dispose());

    const take = async (name: string, request: Partial<PlaceRequest> = {}): Promise<string> => {
      const meta: CommandMeta = {
        now: NOW,
        correlation_id: 'r',
        command_id: randomUUID(),
        actor: { key_id: 'key_1', role: 'admin' },
      };
      const isOver = (holder: string): Promise<boolean> => {
        asked.push(holder);
        return Promise.resolve(over.has(holder));
      };
      const of = { tenant_id: 'acme', thing: 'webhooks', name, max: MAX, meta: () => meta, isOver };
      return (await takePlace({ store: under.store }, { ...of, ...request })).kind;
    };
    const holders = async (): Promise<string[]> => {
      const last = (await eventsOf(under.store, STREAM)).at(-1)?.data as
        | { holders: { name: string }[] }
        | undefined;
      return (last?.holders ?? []).map(({ name }) => name);
    };

    it('is taken, once for its name, until there are no more', async () => {
      for (const name of ['a', 'b', 'b', 'c', 'a']) expect(await take(name), name).to.equal('done');
      expect(asked, 'nobody is asked while there is room').to.deep.equal([]);
      expect(await take('d')).to.equal('rejected');
      expect(asked).to.deep.equal(['a', 'b', 'c']);
      expect(await eventsOf(under.store, STREAM)).to.have.lengthOf(MAX);
    });

    it('is that of another which is over', async () => {
      for (const name of ['a', 'b', 'c']) await take(name);
      over.add('b');
      expect(await take('d')).to.equal('done');
      expect(await holders()).to.deep.equal(['a', 'c', 'd']);
      expect(await take('b'), 'it has none any more').to.equal('rejected');
    });

    it('is given to as many as there are places, however many ask at once', async () => {
      const outcomes = await Promise.all(Array.from({ length: 24 }, (_, at) => take(`thing-${String(at)}`)));
      expect(outcomes.filter((kind) => kind === 'done')).to.have.lengthOf(MAX);
      expect(outcomes.filter((kind) => kind === 'rejected')).to.have.lengthOf(24 - MAX);
      expect(await holders()).to.have.lengthOf(MAX);
    });

    it('of one that is over is given to one of those who ask at once', async () => {
      for (const name of ['a', 'b', 'c']) await take(name);
      over.add('a');
      const outcomes = await Promise.all(Array.from({ length: 12 }, (_, at) => take(`thing-${String(at)}`)));
      expect(outcomes.filter((kind) => kind === 'done')).to.have.lengthOf(1);
      expect(await holders()).to.have.lengthOf(MAX);
    });

    it('is taken by those that were there before places were counted', async () => {
      let listed = 0;
      const earlier = (): Promise<readonly string[]> => {
        listed += 1;
        return Promise.resolve(['x', 'y']);
      };
      const outcomes = await Promise.all(['a', 'b'].map((name) => take(name, { earlier })));
      expect(outcomes.sort()).to.deep.equal(['done', 'rejected']);
      expect(await holders()).to.have.lengthOf(MAX);
      over.add('x');
      const before = listed;
      expect(await take('c', { earlier })).to.equal('done');
      expect(listed, 'asked once').to.equal(before);
    });

    it('is refused while more are there from before than there are places', async () => {
      const earlier = () => Promise.resolve(['w', 'x', 'y', 'z']);
      expect(await take('a', { earlier })).to.equal('rejected');
      over.add('w').add('x');
      expect(await take('a', { earlier })).to.equal('done');
      expect(await holders()).to.deep.equal(['y', 'z', 'a']);
    });

    it('needs the last event alone, however many were taken', async () => {
      for (let at = 0; at < 40; at += 1) {
        over.add(`thing-${String(at - 1)}`);
        expect(await take(`thing-${String(at)}`)).to.equal('done');
      }
      let read = 0;
      const { store } = under;
      const counting: typeof store = {
        ...store,
        append: (...args) => store.append(...args),
        async *read(...args) {
          for await (const event of store.read(...args)) {
            read += 1;
            yield event;
          }
        },
      };
      const meta = {
        now: NOW,
        actor: { key_id: 'k', role: 'admin' },
        correlation_id: 'r',
        command_id: randomUUID(),
      } as const;
      const request = { tenant_id: 'acme', thing: 'webhooks', name: 'last', max: 100, meta: () => meta };
      const outcome = await takePlace(
        { store: counting },
        { ...request, isOver: () => Promise.resolve(false) },
      );
      expect(outcome.kind).to.equal('done');
      expect(read).to.be.at.most(2);
    });
  });
