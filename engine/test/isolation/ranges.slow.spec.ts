import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { PartShelf, RangedWork, RangeTurns } from '../../ports/extractionEngine.ts';
import { pagedPdf } from '../bench/pagedPdf.ts';
import { ledgerPages, reportPages } from '../bench/pdfPages.ts';
import { busyPdf } from '../support/pdfs.ts';
import { tempFolder, type TempFolder } from '../support/tempFolder.ts';
import { until } from '../support/until.ts';

const PAGES = 66;
const LIMITS = { effort: 'fast', pagesMax: 2_000, deadlineMs: 60_000, share: 't' } as const;
const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);

const LEDGER_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    account_number: { type: 'string' },
    entries: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          date: { type: 'string', format: 'date' },
          voucher: { type: 'string' },
          amount: { type: 'number' },
        },
      },
    },
  },
};

/** A shelf in memory, and what was put on it. */
const shelfOf = () => {
  const parts = new Map<string, Uint8Array>();
  const put: string[] = [];
  const shelf: PartShelf = {
    find: (name) => Promise.resolve(parts.get(name)),
    put: (name, bytes) => {
      parts.set(name, bytes);
      put.push(name);
      return Promise.resolve();
    },
  };
  return { shelf, parts, put };
};

/** Ranges that several readers take, each the next that nobody has. */
const sharedTurns = () => {
  const done = new Set<number>();
  const readers = new Map<string, Set<number>>();
  let part: string | undefined;
  const turnsOf = (reader: string): RangeTurns => {
    const mine = new Set<number>();
    readers.set(reader, mine);
    const told = (ended: readonly number[]): void => {
      for (const at of ended) {
        done.add(at);
        mine.delete(at);
      }
    };
    return {
      take: ({ part: asked, ranges, done: ended, most }) => {
        part ??= asked;
        told(ended);
        const taken = new Set([...readers.values()].flatMap((own) => [...own]));
        for (let at = 0; at < ranges && mine.size < most; at += 1)
          if (!done.has(at) && !taken.has(at)) mine.add(at);
        return Promise.resolve({ mine: [...mine], done });
      },
      leave: ({ done: ended }) => {
        told(ended);
        mine.clear();
        return Promise.resolve();
      },
    };
  };
  return { turnsOf, done, part: () => part };
};

describe('a long document that is read in ranges', () => {
  let workers: DocumentWorkers;
  let folder: TempFolder;
  before(() => {
    workers = openDocumentWorkers({ processes: 2 });
    folder = tempFolder();
  });
  after(async () => {
    await workers.close();
    folder.remove();
  });

  const fileOf = (name: string, pages: readonly string[]) => {
    const path = join(folder.path, name);
    writeFileSync(path, pagedPdf(pages));
    return { ...LIMITS, path, fileName: name };
  };

  it('has the text of one reading, and tells how far it is', async () => {
    const request = fileOf('report.pdf', reportPages(PAGES));
    const form = { pageMarkdown: true };
    const whole = await workers.parser.render({ ...request, form });
    const told: number[] = [];
    const ranged = await workers.ranged.render({
      ...request,
      form,
      numbers: numbersTo(PAGES),
      shelf: shelfOf().shelf,
      onPages: (done) => told.push(done),
    });
    if (whole.kind !== 'ok' || ranged.kind !== 'ok') throw new Error(`${whole.kind}, ${ranged.kind}`);
    expect(ranged.rendition.markdown).to.equal(whole.rendition.markdown);
    expect(ranged.rendition.plainText).to.equal(whole.rendition.plainText);
    expect(ranged.rendition.pages).to.deep.equal(whole.rendition.pages);
    expect(ranged.rendition.pageContents).to.deep.equal(whole.rendition.pageContents);
    expect(told).to.deep.equal([...told].sort((a, b) => a - b));
    expect(told[0]).to.be.within(1, PAGES - 1);
    expect(told.at(-1)).to.equal(PAGES);
  });

  it('has the rows of a table that goes over many ranges, its header on the first page alone', async () => {
    const request = fileOf('ledger.pdf', ledgerPages(PAGES));
    const asked = { ...request, schema: LEDGER_SCHEMA, settings: { citations: true } };
    const whole = await workers.localEngine.extract(asked);
    const ranged = await workers.ranged.extract({
      ...asked,
      numbers: numbersTo(PAGES),
      shelf: shelfOf().shelf,
      onPages: () => undefined,
    });
    if (whole.kind !== 'ok' || ranged.kind !== 'ok') throw new Error(`${whole.kind}, ${ranged.kind}`);
    const { value, citations } = ranged.extraction;
    expect(value['account_number']).to.equal(whole.extraction.value['account_number']);
    expect(value['entries']).to.have.lengthOf(30 * PAGES);
    expect(value['entries']).to.deep.equal(whole.extraction.value['entries']);
    expect(citations).to.deep.equal(whole.extraction.citations);
  });

  it('goes on from the parts that are on the shelf', async () => {
    const request = fileOf('report.pdf', reportPages(PAGES));
    const { shelf, parts, put } = shelfOf();
    const asked = { ...request, numbers: numbersTo(PAGES), shelf, onPages: () => undefined };
    const first = await workers.ranged.render(asked);
    expect(put).to.have.lengthOf(4);
    const [lost = ''] = put.splice(0);
    parts.delete(lost);
    expect(await workers.ranged.render(asked)).to.deep.equal(first);
    expect(put).to.deep.equal([lost]);
  });

  for (const [what, pages, ranges] of [
    ['text', 24, 2],
    ['data', 24, 2],
  ] as const)
    it(`has the same ${what} where others read ranges of it, each range once`, async () => {
      const isText = what === 'text';
      const request = {
        ...fileOf(`${what}.pdf`, isText ? reportPages(pages) : ledgerPages(pages)),
        numbers: numbersTo(pages),
        onPages: () => undefined,
      };
      const work = (shared: Pick<Parameters<RangedWork['extract']>[0], 'shelf' | 'turns'>) =>
        isText
          ? workers.ranged.render({ ...request, ...shared })
          : workers.ranged.extract({
              ...request,
              schema: LEDGER_SCHEMA,
              settings: { citations: true },
              ...shared,
            });
      const helpers = openDocumentWorkers({ processes: 1 });
      try {
        const alone = await work({ shelf: shelfOf().shelf });
        const { shelf, put } = shelfOf();
        const { turnsOf, done, part } = sharedTurns();
        const owner = work({ shelf, turns: turnsOf('owner') });
        // The owner tells how ranges are read, once it knows the look of the whole.
        await until(() => Promise.resolve(part() !== undefined));
        const { signal } = new AbortController();
        const helped = { path: request.path, signal, shelf, turns: turnsOf('helper') };
        expect(await helpers.ranged.help({ ...helped, share: 't', part: part() ?? '' })).to.equal(undefined);
        expect(await owner).to.deep.equal(alone);
        expect(done.size).to.equal(ranges);
        expect(new Set(put).size).to.equal(put.length);
      } finally {
        await helpers.close();
      }
    });

  it('is read by its owner where a helper is gone, or knows of no plan', async () => {
    const request = fileOf('report.pdf', reportPages(PAGES));
    const { shelf, parts } = shelfOf();
    const { turnsOf, done } = sharedTurns();
    const helped = { path: request.path, share: 't', shelf, turns: turnsOf('helper'), part: 'v1-render' };
    expect(await workers.ranged.help(helped)).to.equal(undefined);
    expect(await workers.ranged.help({ ...helped, part: 'v0-render' })).to.equal(undefined);
    expect(parts.size).to.equal(0);
    // What was said to be read and is not there is read by the owner.
    done.add(2);
    const plain = { ...request, numbers: numbersTo(PAGES), onPages: () => undefined };
    const read = await workers.ranged.render({ ...plain, shelf, turns: turnsOf('owner') });
    expect(read).to.deep.equal(await workers.ranged.render({ ...plain, shelf: shelfOf().shelf }));
  });

  it('has the chosen pages alone', async () => {
    const request = fileOf('report.pdf', reportPages(PAGES));
    const numbers = [2, 3, ...numbersTo(PAGES).slice(10)];
    const ranged = await workers.ranged.render({
      ...request,
      numbers,
      shelf: shelfOf().shelf,
      onPages: () => undefined,
    });
    if (ranged.kind !== 'ok') throw new Error(ranged.kind);
    expect(ranged.rendition.pages.map(({ page }) => page)).to.deep.equal(numbers);
  });

  it('has all pages but one that has no end', async () => {
    // Lines that are alike on all pages would be taken for running headers.
    const lines = Array.from({ length: 24 }, (_, i) => {
      const letter = String.fromCharCode(65 + i);
      return `${letter.repeat(3 + (i % 7))} says ${letter}`;
    });
    const path = join(folder.path, 'busy.pdf');
    writeFileSync(path, busyPdf(lines.map((line, i) => (i === 9 ? undefined : line))));
    const ranged = await workers.ranged.render({
      ...LIMITS,
      path,
      fileName: 'busy.pdf',
      deadlineMs: 24_000,
      numbers: numbersTo(24),
      shelf: shelfOf().shelf,
      onPages: () => undefined,
    });
    if (ranged.kind !== 'ok') throw new Error(ranged.kind);
    const { plainText, warnings } = ranged.rendition;
    expect(lines.filter((line) => !plainText.includes(line))).to.deep.equal([lines[9]]);
    // Which of its limits it meets first, time or memory, is up to the machine.
    const [warning] = warnings;
    expect(warning?.code).to.be.oneOf(['deadline_reached', 'page_failed']);
    expect(warning?.message).to.match(/\bpage 10\b/i);
  });

  it('is given up with its request, and is refused as one reading is', async () => {
    const request = fileOf('report.pdf', reportPages(PAGES));
    const asked = { ...request, numbers: numbersTo(PAGES), onPages: () => undefined };
    const { shelf, put } = shelfOf();
    const giveUp = new AbortController();
    const onPages = () => giveUp.abort();
    const { signal } = giveUp;
    expect(await workers.ranged.render({ ...asked, shelf, signal, onPages })).to.deep.equal({
      kind: 'aborted',
    });
    expect(put.length).to.be.lessThan(4);
    const path = join(folder.path, 'broken.pdf');
    writeFileSync(path, '%PDF-1.4 nothing');
    const broken = await workers.ranged.render({ ...asked, shelf: shelfOf().shelf, path });
    expect(broken.kind).to.equal('unreadable');
  });
});
