import { setImmediate as settled } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { pagedPdf } from '../bench/pagedPdf.ts';
import { ledgerPages } from '../bench/pdfPages.ts';
import { layoutTextOf } from '../../document/layoutText.ts';
import type { Line, Word } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { firstPages, nextPages } from '../../models/byModel/chosenPages.ts';
import { fairGate } from '../../models/byModel/modelWorkDeps.ts';
import { pageRanks } from '../../models/byModel/pageRanks.ts';
import type { Keeping } from '../../ports/modelWork.ts';
import { answers, status } from '../support/scriptedProvider/steps.ts';
import { documentWork, sentText } from './documentWork.ts';

const PROSE =
  'No failure to exercise and no delay in exercising any right under this instrument shall operate as a waiver, ' +
  'nor shall any single or partial exercise of a right preclude any other or further exercise of the same. ';
const FACTS: Readonly<Record<number, string>> = {
  1: 'CREDIT AGREEMENT dated as of 14 March 2031',
  40: 'The governing law of this instrument is the law of the State of Oldcastle. '.repeat(2),
  71: 'Schedule of lenders\n\nFirst Bank of Hartlow\n\nSecond Bank of Hartlow\n\nThird Bank of Oldcastle',
};
const PAGES = 80;

/** A contract: prose, with a fact on few of its pages. */
const contract = Array.from(
  { length: PAGES },
  (_, at) => `<!-- page ${at + 1} -->\n\n${FACTS[at + 1] ?? ''}\n\n${at + 1 === 71 ? '' : PROSE.repeat(10)}`,
).join('\n\n');

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    agreement_date: { type: 'string', description: 'Date of the agreement' },
    governing_law: { type: ['string', 'null'], description: 'Law that governs the agreement' },
    lenders: { type: 'array', items: { type: 'string' }, description: 'All lenders' },
  },
};

describe('the pages that a model is shown', () => {
  const ranks = pageRanks(contract, SCHEMA);
  const shareOf = (pages: readonly number[]): number => {
    const sum = (of: readonly { readonly characters: number }[]) =>
      of.reduce((all, { characters }) => all + characters, 0);
    return sum(ranks.pages.filter(({ page }) => pages.includes(page))) / sum(ranks.pages);
  };

  it('are those that speak of what is asked for, within a share of the document', () => {
    const first = firstPages(ranks, [{ path: '/agreement_date', page: 12 }]);
    expect(first).to.include.members([1, 2, 12, 40, 71]);
    expect(shareOf(first)).to.be.at.most(0.23);
  });

  it('are then those that speak next best of what is missing, and all where a value is required', () => {
    const seen = new Set(firstPages(ranks, []));
    const next = nextPages(ranks, { seen, standing: [], says: (path) => path !== '/governing_law' });
    expect(next.filter((page) => seen.has(page))).to.deep.equal([]);
    expect(shareOf([...seen, ...next])).to.be.at.most(0.36);
    const strict = pageRanks(contract, { ...SCHEMA, required: ['agreement_date'] });
    const rest = nextPages(strict, { seen, standing: [], says: () => false });
    expect(seen.size + rest.length).to.equal(PAGES);
    const nullable = pageRanks(contract, { ...SCHEMA, required: ['governing_law'] });
    const some = nextPages(nullable, { seen, standing: [], says: () => false });
    expect(seen.size + some.length).to.be.below(PAGES);
  });

  it('are for a list the neighbours of its items, and every page of records and of the same look', () => {
    const signed = (at: number) =>
      at > 70
        ? `By the undersigned officer thereof on behalf of bank ${at} which executes and delivers this signature ` +
          'page under seal and hereby agrees to be bound by all covenants of the instrument named above, as lender.'
        : FACTS[at + 1] === undefined || at + 1 === 71
          ? `${PROSE.repeat(5)} clause${at} term${at % 7}`
          : FACTS[at + 1];
    const text = Array.from({ length: PAGES }, (_, at) => `<!-- page ${at + 1} -->\n\n${signed(at) ?? ''}`);
    const listed = pageRanks(text.join('\n\n'), SCHEMA);
    const next = nextPages(listed, {
      seen: new Set([75]),
      standing: [{ path: '/lenders/0', page: 75 }],
      says: () => true,
    });
    expect(next).to.deep.equal([72, 73, 74, 76, 77, 78, 79, 80]);
  });

  it('are pages of the document, each once, in order, whatever text and schema', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 60 }), { minLength: 1, maxLength: 30 }),
        fc.nat(30),
        (texts, at) => {
          const safe = texts.map((text) => text.replaceAll('<!--', ''));
          const text = safe.map((one, page) => `<!-- page ${page + 1} -->\n\n${one}`).join('\n\n');
          const found = pageRanks(text, SCHEMA);
          expect(found.pages.map(({ page }) => page)).to.deep.equal(texts.map((_, page) => page + 1));
          const first = firstPages(found, [{ path: '/lenders/0', page: at }]);
          const seen = new Set(first);
          const next = nextPages(found, {
            seen,
            standing: [{ path: '/lenders/0', page: at }],
            says: () => false,
          });
          expect([...first, ...next]).to.deep.equal([...new Set([...first, ...next])]);
          expect(first).to.deep.equal([...first].sort((a, b) => a - b));
        },
      ),
      { numRuns: 60, verbose: true },
    );
  });
});

describe('text as its pages are set', () => {
  const word = (text: string, x: number, y: number): Word => ({
    text,
    box: [x, y, x + 6 * text.length, y + 10],
    confidence: 1,
    fontSize: 10,
    bold: false,
  });
  const line = (...words: readonly Word[]): Line => ({
    text: words.map(({ text }) => text).join(' '),
    box: [words[0]?.box?.[0] ?? 0, words[0]?.box?.[1] ?? 0, 500, (words[0]?.box?.[1] ?? 0) + 10],
    words,
  });
  const page = (number: number, lines: readonly Line[]) => ({
    page: number,
    status: 'ok' as const,
    source: 'text_layer' as const,
    detail: null,
    width: 600,
    height: 800,
    lines,
    blocks: [],
  });

  it('keeps columns and rows apart by spaces', () => {
    const lines = [
      line(word('Item', 60, 100), word('Price', 240, 100)),
      line(word('Brass', 60, 114), word('mount', 95, 114), word('184.50', 234, 114)),
      line(word('Total', 60, 160), word('369.00', 234, 160)),
    ];
    const plain: Line = { text: 'No places here', box: null, words: [] };
    const document = { mimeType: 'application/pdf', warnings: [], pages: [page(1, lines), page(2, [plain])] };
    expect(layoutTextOf(document)).to.equal(
      [
        '<!-- page 1 -->\n',
        'Item                          Price',
        'Brass mount                  184.50\n',
        'Total                        369.00\n',
        '<!-- page 2 -->\n',
        'No places here\n',
      ].join('\n'),
    );
  });
});

describe('requests of several tenants', () => {
  const AT_ONCE = 8;

  /** How many lengths of a call it takes until all calls of one tenant have ended, beside those of others. */
  const lengthsOf = async (others: readonly number[], calls: number): Promise<number> => {
    const gate = fairGate(AT_ONCE);
    const running: (() => void)[] = [];
    let left = calls;
    const run = (share: string): void =>
      void gate.enter(share).then((leave) => {
        running.push(() => {
          if (share === 'mine') left -= 1;
          leave();
        });
      });
    for (const [at, count] of others.entries()) for (let i = 0; i < count; i += 1) run(`other ${at}`);
    for (let i = 0; i < calls; i += 1) run('mine');
    let lengths = 0;
    for (; left > 0; lengths += 1) {
      await settled();
      expect(running.length).to.be.at.most(AT_ONCE);
      for (const end of running.splice(0)) end();
    }
    return lengths;
  };

  it('take turns: one tenant, however much it asks for, slows another by no more than twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 300 }),
        async (calls, others) => {
          const alone = await lengthsOf([], calls);
          // One length more: those that run already are not broken off.
          expect(await lengthsOf([others], calls)).to.be.at.most(2 * alone + 1);
          expect(await lengthsOf([others, others, others], calls)).to.be.at.most(2 * alone + 1);
        },
      ),
      { numRuns: 40, verbose: true },
    );
  });

  it('give each place back once, and need none to be given up', async () => {
    const gate = fairGate(4);
    const leaves = await Promise.all([gate.enter('a'), gate.enter('a')]);
    const givingUp = new AbortController();
    const waiting = gate.enter('a', givingUp.signal);
    const behind = gate.enter('a');
    givingUp.abort();
    (await waiting)();
    const aborted = gate.enter('a', AbortSignal.abort());
    (await aborted)();
    let isIn = false;
    const entered = behind.then((leave) => {
      isIn = true;
      return leave;
    });
    await settled();
    expect(isIn).to.equal(false);
    for (const leave of leaves) leave();
    for (const leave of leaves) leave();
    (await entered)();
    // All places are free again: two of each share, and not one more.
    const all = await Promise.all(['a', 'a', 'b', 'b'].map((share) => gate.enter(share)));
    let tooMany = false;
    void gate.enter('c').then(() => (tooMany = true));
    await settled();
    expect(tooMany).to.equal(false);
    for (const leave of all) leave();
    await settled();
    expect(tooMany).to.equal(true);
  });
});

describe('long documents with a model', () => {
  const { provider, work, calls, access, fileOf, onCall } = documentWork();
  const text = contract.replaceAll(/<!-- page \d+ -->\n\n/g, '');
  const SMALL = { ref: { provider: 'ollama', model: 'm' } } as const;

  /** What is kept of an attempt, in memory. */
  const shelfOf = () => {
    const parts = new Map<string, Uint8Array>();
    const pages: number[] = [];
    const keeping: Keeping = {
      shelf: {
        find: (name) => Promise.resolve(parts.get(name)),
        put: (name, bytes) => {
          parts.set(name, bytes);
          return Promise.resolve();
        },
      },
      onPages: (done) => pages.push(done),
    };
    return { keeping, pages, parts };
  };
  const asked = async (
    key: string,
    more: { readonly shownPages?: 'all'; readonly shownText?: 'layout'; readonly keeping?: Keeping } = {},
  ) => {
    const { keeping, ...shown } = more;
    const file = { ...(await fileOf('a.txt', text)), effort: 'standard' as const };
    const models = { llm: access(key, SMALL), ocr: null, onCall };
    return work.extract({ ...file, schema: SCHEMA, citations: true, ...shown }, models, keeping);
  };
  const extracted = async (...args: Parameters<typeof asked>) => {
    const result = await asked(...args);
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    return result.extraction;
  };

  it('show what matters, name the pages, and say which were left out', async () => {
    provider.script('sk-some', ({ body }) => {
      const shown = JSON.stringify(body['messages']);
      return answers({
        ...(shown.includes('CREDIT AGREEMENT') && { agreement_date: '14 March 2031' }),
        ...(shown.includes('State of Oldcastle') && { governing_law: 'the State of Oldcastle' }),
        ...(shown.includes('Schedule of lenders') && {
          lenders: ['First Bank of Hartlow', 'Second Bank of Hartlow', 'Third Bank of Oldcastle'],
        }),
      });
    });
    const { value, warnings } = await extracted('sk-some');
    expect(value).to.deep.equal({
      agreement_date: '14 March 2031',
      governing_law: 'the State of Oldcastle',
      lenders: ['First Bank of Hartlow', 'Second Bank of Hartlow', 'Third Bank of Oldcastle'],
    });
    const left = warnings.find(({ code }) => code === 'pages_not_shown');
    expect(left).to.have.property('pages').that.has.length.greaterThan(20);
    const shown = provider.requests.map(sentText);
    expect(shown[0]).to.match(
      /Of the \d+ pages of the document some are shown: 1-[\d,-]+\. Give what these pages say/,
    );
    expect(shown.join('').length).to.be.below(0.6 * text.length);
  });

  it('show every page where that is asked for', async () => {
    provider.script('sk-all', answers({ agreement_date: '14 March 2031' }));
    const { warnings } = await extracted('sk-all', { shownPages: 'all' });
    expect(warnings.map(({ code }) => code)).not.to.include('pages_not_shown');
    const shown = provider.requests.map(sentText).join('');
    for (const fact of ['CREDIT AGREEMENT', 'State of Oldcastle', 'Third Bank'])
      expect(shown).to.include(fact);
    expect(shown.length).to.be.above(text.length);
  });

  it('ask again about a part that failed, and say which pages are missing where it keeps failing', async () => {
    let failures = 0;
    provider.script('sk-again', ({ body }) => {
      const isLast = JSON.stringify(body['messages']).includes('Schedule of lenders');
      if (isLast && failures++ === 0) return status(503);
      return answers(isLast ? { lenders: ['First Bank of Hartlow'] } : { agreement_date: '14 March 2031' });
    });
    const mended = await extracted('sk-again', { shownPages: 'all' });
    expect(mended.value).to.deep.include({ lenders: ['First Bank of Hartlow'] });
    expect(mended.warnings.map(({ code }) => code)).not.to.include('pages_not_answered');

    provider.script('sk-missing', ({ body }) => {
      const isLast = JSON.stringify(body['messages']).includes('Schedule of lenders');
      return isLast ? status(503) : answers({ agreement_date: '14 March 2031' });
    });
    const { value, warnings } = await extracted('sk-missing', { shownPages: 'all' });
    expect(value).to.deep.include({ agreement_date: '14 March 2031' });
    const missing = warnings.find(({ code }) => code === 'pages_not_answered');
    expect(missing).to.have.property('pages').that.is.not.empty;
  });

  it('stop at once where the provider refuses the key', async () => {
    provider.script('sk-refused', status(401));
    expect(await asked('sk-refused', { shownPages: 'all' })).to.have.property('kind', 'model_failed');
    expect(provider.requests.length).to.be.at.most(4);
  });

  it('go on with what an earlier attempt was answered: no call is made twice, each has one name', async () => {
    const { keeping, pages } = shelfOf();
    const gone = ({ body }: { readonly body: JsonObject }) =>
      JSON.stringify(body['messages']).includes('Schedule of lenders');
    provider.script('sk-kept', (request) =>
      gone(request) ? status(404) : answers({ agreement_date: '14 March 2031' }),
    );
    const first = await extracted('sk-kept', { shownPages: 'all', keeping });
    expect(first.warnings.map(({ code }) => code)).to.include('pages_not_answered');
    const before = new Set(calls.map(({ id }) => id));
    const asking = provider.requests.length;
    expect(before.size).to.equal(asking);
    calls.length = 0;
    provider.script('sk-kept', answers({ lenders: ['First Bank of Hartlow'] }));
    const { value, warnings } = await extracted('sk-kept', { shownPages: 'all', keeping });
    expect(warnings.map(({ code }) => code)).not.to.include('pages_not_answered');
    expect(value).to.deep.include({ agreement_date: '14 March 2031', lenders: ['First Bank of Hartlow'] });
    const anew = provider.requests.length - asking;
    expect(anew).to.be.below(asking);
    const told = calls.filter(({ again }) => again === true);
    expect(told.length).to.equal(calls.length - anew);
    for (const { id } of told) expect(before.has(id)).to.equal(true);
    expect(Math.max(...pages)).to.be.at.most(200);
    expect(pages.length).to.be.greaterThan(2);
  });

  it('read long PDFs in ranges, and hold each answer against the pages that it is about', async () => {
    const { keeping, pages, parts } = shelfOf();
    const numbers = Array.from({ length: 44 }, (_, at) => at + 1);
    provider.script('sk-pdf', answers({ account_number: '4711-0815' }));
    const file = { ...(await fileOf('a.pdf', pagedPdf(ledgerPages(44)))), effort: 'fast' as const };
    const models = { llm: access('sk-pdf', SMALL), ocr: null, onCall };
    const schema: JsonObject = { type: 'object', properties: { account_number: { type: 'string' } } };
    const asking = { ...file, schema, citations: true, shownText: 'layout' as const };
    const result = await work.extract(asking, models, { ...keeping, numbers });
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    expect(result.extraction.value).to.deep.equal({ account_number: '4711-0815' });
    expect(result.extraction.pages.map(({ page }) => page)).to.deep.equal(numbers);
    expect([...parts.keys()].filter((name) => name.endsWith('-read'))).to.have.length(3);
    expect(Math.max(...pages)).to.equal(44);
    expect(sentText(provider.requests[0]!)).to.match(/\d{2} {3,}\S/);
  });

  it('hold what the parts say together where the text is too long to be looked through at once', async () => {
    const words = 'Several words of a long filing that has nothing else to say, and says that again. ';
    const numbers = Array.from({ length: 700 }, (_, at) => at + 1);
    const long = numbers.map((number) => `Number ${number}.\n\n${words.repeat(30)}\n\n`).join('');
    provider.script('sk-whole', (request) => {
      const said = [...sentText(request).matchAll(/Number (\d+)\./gu)].map(([, digits]) => Number(digits));
      return answers({ numbers: said });
    });
    const file = { ...(await fileOf('a.txt', long)), effort: 'standard' as const, pagesMax: 10_000 };
    const models = { llm: access('sk-whole'), ocr: null, onCall };
    const schema: JsonObject = {
      type: 'object',
      properties: { numbers: { type: 'array', items: { type: 'integer' } } },
    };
    const asking = { ...file, schema, citations: true, shownPages: 'all' as const };
    const result = await work.extract(asking, models, shelfOf().keeping);
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    const { value, citations } = result.extraction;
    expect(value).to.deep.equal({ numbers });
    expect(citations.map(({ path }) => path)).to.deep.equal(numbers.map((_, at) => `/numbers/${at}`));
    expect(new Set(citations.map(({ grounding }) => grounding))).to.deep.equal(new Set(['exact']));
    expect(citations.map(({ text: said }) => Number(said))).to.deep.equal(numbers);
  });
});
