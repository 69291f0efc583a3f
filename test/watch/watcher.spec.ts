import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Quire } from '../../sdk/src/index.ts';
import { watchConfigFrom } from '../../src/clientConfig.ts';
import { type Place, placeAt } from '../../src/watch/places.ts';
import { placeSource, type WatchDeps, watchRound } from '../../src/watch/watcher.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';

/** An operation as the service tells of it, by the key that began it. */
type Ends = (key: string, text: string) => object | Promise<object>;

const succeeded = { status: 'succeeded', result: { result: {} }, error: null, cost: null };
const busy = {
  status: 'failed',
  result: null,
  error: { code: 'busy', detail: 'No place is free.' },
  cost: null,
};

describe('a round of quire watch', () => {
  let temp: TempFolder;
  let place: Place;
  beforeEach(async () => {
    temp = tempFolder();
    place = await placeAt(temp.path, watchConfigFrom({}));
  });
  afterEach(() => temp.remove());

  const put = (name: string, text: string): void => {
    const at = statSync(temp.path).mtimeMs / 1_000 - 60 + text.length;
    writeFileSync(join(temp.path, name), text);
    utimesSync(join(temp.path, name), at, at);
  };
  const resultOf = (name: string) =>
    JSON.parse(readFileSync(join(temp.path, `${name}.json`), 'utf8')) as Record<string, unknown>;

  const rounds = (ends: Ends) => {
    const begun: string[] = [];
    const quire = {
      extractLater: async ({ file }: { readonly file: File }, { idempotencyKey }: Record<string, string>) => {
        begun.push(idempotencyKey!);
        return {
          operation_id: `op_${String(begun.length)}`,
          ...(await ends(idempotencyKey!, await file.text())),
        };
      },
      operations: { wait: (operation: object) => Promise.resolve(operation) },
    } as unknown as Quire;
    const { signal } = new AbortController();
    const deps = {
      quire,
      source: placeSource(place),
      results: place,
      asked: {},
      signal,
      note: () => undefined,
    };
    const attempts: WatchDeps['attempts'] = new Map();
    let ms = 0;
    const round = (afterMs = 2 * 3_600_000) => {
      ms += afterMs;
      return watchRound({ ...deps, attempts, now: () => ms });
    };
    return { begun, round };
  };

  it('writes each result under its own name, however many are written at once', async () => {
    const names = Array.from({ length: 100 }, (_, n) => `below/${String(n)}.json`);
    await Promise.all(names.map((name) => place.write(name, name)));
    for (const name of names) expect(readFileSync(join(temp.path, name), 'utf8')).to.equal(name);
    expect(readdirSync(join(temp.path, 'below'))).to.have.length(100);
  });

  it('leaves nothing behind of a result that it cannot write', async () => {
    await place.write('taken/inside.json', '{}');
    let refused: unknown;
    await place.write('taken', '{}').catch((error: unknown) => (refused = error));
    expect(refused).to.be.instanceOf(Error);
    expect(readdirSync(temp.path)).to.deep.equal(['taken']);
  });

  it('does a document anew that was replaced while it was worked on', async () => {
    put('scan.txt', 'first');
    const { round, begun } = rounds((_, text) => {
      if (text === 'first') put('scan.txt', 'second text');
      return { ...succeeded, result: { text } };
    });
    expect(await round()).to.equal(1);
    expect(readdirSync(temp.path)).to.deep.equal(['scan.txt']);
    expect(await round()).to.equal(0);
    expect(resultOf('scan.txt')['result']).to.deep.equal({ text: 'second text' });
    expect(begun).to.have.length(2);
  });

  it('says the SHA-256 of the document', async () => {
    put('a.txt', 'text');
    await rounds(() => succeeded).round();
    const expected = createHash('sha256').update('text').digest('hex');
    expect(resultOf('a.txt')['source_sha256']).to.equal(expected);
  });

  it('begins anew, under another key, what ended for want of a place', async () => {
    put('a.txt', 'text');
    let first: string | undefined;
    const { round, begun } = rounds((key) => (key === (first ??= key) ? busy : succeeded));
    expect(await round()).to.equal(1);
    expect(readdirSync(temp.path)).to.deep.equal(['a.txt']);
    expect(await round()).to.equal(0);
    expect(resultOf('a.txt')['status']).to.equal('succeeded');
    expect(new Set(begun).size).to.equal(2);
  });

  it('asks under the same keys when it is begun again, so that nothing is paid twice', async () => {
    put('a.txt', 'text');
    const one = rounds(() => busy);
    const other = rounds(() => busy);
    for (const { round } of [one, one, other, other]) await round();
    expect(one.begun).to.deep.equal(other.begun);
  });

  it('waits twice as long after each, for two hours in all, and then files it as failed', async () => {
    put('a.txt', 'text');
    const { round, begun } = rounds(() => busy);
    for (let failed = 0; failed < 7; failed += 1) {
      expect(await round(1)).to.equal(1);
      expect(begun).to.have.length(failed + 1);
      expect(await round(60_000 * 2 ** failed - 1)).to.equal(1);
      expect(begun, 'too soon').to.have.length(failed + 1);
    }
    expect(await round(1)).to.equal(0);
    expect(await round()).to.equal(0);
    expect(begun).to.have.length(8);
    expect(resultOf('a.txt')).to.deep.include({ status: 'failed', error: busy.error });
  });
});
