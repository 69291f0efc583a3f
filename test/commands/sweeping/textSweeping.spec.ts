import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { aesSecretBox } from '../../../adapters/local/local.ts';
import { openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import type { FeedItem } from '../../../domain/ports/log.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { tokenOf } from '../../../domain/writtenText.ts';
import { evaluationSets } from '../../../src/commands/evaluations.ts';
import { sweepTexts } from '../../../src/worker/textSweeping.ts';
import { textVault } from '../../../src/writer/vault.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { metaOf } from '../../support/money/accountCommands.ts';

const HOUR_MS = 3_600_000;
const TENANT = 'acme';
const STREAM = 'set-set_1';
const { signal } = new AbortController();

/** Objects with the times at which they were put; `step`: called before each of its calls, which it counts. */
const objectsAt = (nowMs: () => number) => {
  const all = new Map<string, { readonly bytes: Uint8Array; readonly modified_at: string }>();
  let step: () => Promise<void> = () => Promise.resolve();
  const objects: Pick<ObjectStore, 'get' | 'put' | 'remove' | 'list'> = {
    get: async (key) => {
      await step();
      return all.get(key)?.bytes;
    },
    put: async (key, bytes) => {
      await step();
      all.set(key, { bytes, modified_at: new Date(nowMs()).toISOString() });
    },
    remove: async (key) => {
      await step();
      all.delete(key);
    },
    list: async function* (prefix) {
      await step();
      for (const [key, { bytes, modified_at }] of [...all])
        if (key.startsWith(prefix)) yield { key, bytes: bytes.length, modified_at };
    },
  };
  const onStep = (work: (step: number) => Promise<void>): void => {
    let [steps, isInside] = [0, false];
    step = async () => {
      if (isInside) return;
      isInside = true;
      await work((steps += 1));
      isInside = false;
    };
  };
  return { all, objects, onStep };
};

/** A log with texts beside it, a sweeper of them, and a clock. */
const world = () => {
  const folder = tempFolder();
  const log = openSqliteEventLog({ path: join(folder.path, 'log.db') });
  let nowMs = Date.UTC(2026, 0, 1);
  const { all, objects, onStep } = objectsAt(() => nowMs);
  const vault = textVault({
    objects,
    box: aesSecretBox({ current: randomBytes(32).toString('base64'), old: [] }),
    boxOf: aesSecretBox,
    nowMs: () => nowMs,
    random: (bytes: number) => randomBytes(bytes),
  });
  const sets = evaluationSets({ ...log, vault });
  const later = (hours: number): void => void (nowMs += hours * HOUR_MS);
  const sweep = sweepTexts({ feed: log, objects, nowMs: () => nowMs, seed: 7 });
  const put = async (text: string): Promise<string> => {
    const sealer = await vault.sealer(TENANT);
    const token = sealer.token(STREAM, text);
    await sealer.keep();
    return token;
  };
  return {
    log,
    vault,
    all,
    onStep,
    later,
    sweep,
    put,
    /** An event that names the text, or a token of it. */
    publish: async (set_name: string): Promise<void> => {
      const set_id = `set_${randomUUID()}`;
      const names = { set_id, tenant_id: TENANT, project_id: 'p', task_id: 't', set_name };
      const data = { ...names, examples: [], fingerprint: '', update: false };
      const meta = { ...metaOf(), now: new Date(nowMs).toISOString() };
      const { kind } = await sets.handle(set_id, { type: 'PublishSet', data, meta }, TENANT);
      expect(kind).to.equal('done');
    },
    read: async (token: string): Promise<string | undefined> => (await vault.texts([token])).get(token),
    end: async (): Promise<void> => {
      await log.close();
      folder.remove();
    },
  };
};

describe('texts that no event names', () => {
  it('are set aside a day after they were put and removed after another one; all others stay', async () => {
    const { later, publish, put, sweep, read, all, end } = world();
    await publish('January');
    const named = await put('January');
    const orphan = await put('never published');
    later(23);
    expect(await sweep(signal)).to.deep.equal({ removed: 0, left: 0 });
    expect(all.size).to.equal(3);
    later(24);
    expect(await sweep(signal)).to.deep.equal({ removed: 0, left: 0 });
    expect([...all.keys()].filter((key) => key.endsWith('.aside'))).to.have.length(1);
    later(25);
    expect(await sweep(signal)).to.deep.equal({ removed: 1, left: 0 });
    expect([await read(named), await read(orphan)]).to.deep.equal(['January', undefined]);
    expect([...all.keys()].some((key) => key.includes('/keys/'))).to.equal(true);
    later(24 * 365);
    await sweep(signal);
    expect(await read(named)).to.equal('January');
    await end();
  });

  it('are put again before an event names them, however long this process has known them', async () => {
    const { later, publish, put, sweep, read, end } = world();
    const token = await put('late');
    for (let day = 0; day < 3; day += 1) {
      later(25);
      await sweep(signal);
    }
    await publish('late');
    later(25);
    await sweep(signal);
    expect(await read(token)).to.equal('late');
    await end();
  });

  it('stay if an event names them in the end, wherever in a sweep the text is put and the event written', async () => {
    const { later, publish, put, sweep, read, onStep, end } = world();
    const tokens: string[] = [];
    let most = 0;
    // A sweep of one text has five steps: listed, read, put aside, looked for again, removed.
    for (let putAt = 1; putAt <= 6; putAt += 1)
      for (let writtenAt = putAt; writtenAt <= 6; writtenAt += 1) {
        const text = `contended ${String(putAt)} ${String(writtenAt)}`;
        const token = await put(text);
        tokens.push(token);
        await publish('another');
        later(25);
        let steps = 0;
        onStep(async (step) => {
          steps = step;
          if (step === putAt) await put(text);
          if (step === writtenAt) await publish(token);
        });
        await sweep(signal);
        onStep(() => Promise.resolve());
        expect(await read(token)).to.equal(text);
        most = Math.max(most, steps);
        if (writtenAt > steps) await publish(token);
      }
    for (let day = 0; day < 4; day += 1) {
      later(25);
      await sweep(signal);
    }
    for (const token of tokens) expect(await read(token)).to.match(/^contended/);
    expect([tokens.length, most]).to.deep.equal([21, 5]);
    await end();
  });

  it('do not come back where the tenant is erased in the middle of a sweep', async () => {
    for (let erasedAt = 1; erasedAt <= 6; erasedAt += 1) {
      const { later, put, publish, sweep, vault, onStep, all, end } = world();
      await put('mine');
      await publish('also mine');
      later(25);
      onStep(async (step) => {
        if (step === erasedAt) await vault.forget({ tenant_id: TENANT });
      });
      await sweep(signal);
      onStep(() => Promise.resolve());
      await vault.forget({ tenant_id: TENANT });
      for (let day = 0; day < 3; day += 1) {
        later(25);
        await sweep(signal);
      }
      expect([...all.keys()], String(erasedAt)).to.deep.equal([]);
      await end();
    }
  });

  it('cannot be told where the log is another one, or has no event', async () => {
    const { later, publish, put, sweep, all, end } = world();
    const empty = world();
    await publish('January');
    await put('orphan');
    await sweep(signal);
    later(25);
    const nowMs = () => Date.UTC(2026, 0, 10);
    const objects = objectsAt(nowMs);
    for (const [key, object] of all) objects.all.set(key, object);
    const of = (feed: Parameters<typeof sweepTexts>[0]['feed']) =>
      sweepTexts({ feed, objects: objects.objects, nowMs, seed: 1 });
    await of(empty.log)(signal);
    expect([...objects.all.keys()]).to.deep.equal([...all.keys()]);
    await empty.end();
    await end();
  });

  it('are told from 30,000 that events name, of which each is read once', async () => {
    const [MANY, FEW] = [30_000, 1_000];
    const nowMs = () => Date.UTC(2026, 0, 3);
    const { all, objects } = objectsAt(nowMs);
    const tokens = Array.from({ length: MANY + FEW }, () => {
      const hex = () => randomBytes(8).toString('hex');
      return { tenant: '0'.repeat(16), scope: '1'.repeat(16), text: hex() + hex() };
    });
    const old = { bytes: new Uint8Array(1), modified_at: '2026-01-01T00:00:00.000Z' };
    for (const { tenant, scope, text } of tokens) all.set(`vault/${tenant}/${scope}/${text}`, old);
    let read = 0;
    const feed = {
      subscribe: async function* ({ after = 0n }: { readonly after?: bigint | undefined }) {
        await Promise.resolve();
        for (let n = Number(after); n < MANY; n += 1) {
          read += 1;
          const name = { set_name: tokenOf(tokens[n]!) };
          const place = { stream: 's', revision: BigInt(n), position: BigInt(n + 1), id: String(n) };
          const event = { ...place, type: 'EvaluationSetPublished', data: name, metadata: {} };
          yield { kind: 'event', event } satisfies FeedItem;
        }
        yield { kind: 'caught_up' } satisfies FeedItem;
      },
    };
    const sweep = sweepTexts({ feed, objects, nowMs, seed: 99 });
    await sweep(signal);
    const aside = [...all.keys()].filter((key) => key.endsWith('.aside'));
    for (const { tenant, scope, text } of tokens.slice(0, MANY))
      if (!all.has(`vault/${tenant}/${scope}/${text}`)) expect.fail(`${text} is named by an event`);
    expect(aside.length).to.be.within(FEW - 10, FEW);
    await sweep(signal);
    expect(read).to.equal(MANY + 1);
  });
});
