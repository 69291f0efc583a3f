import { expect } from 'chai';
import fc from 'fast-check';
import { modelDocument } from '../../formats/text/modelDocument.ts';
import { transcriptIn } from '../../models/prompts.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ModelProviders, OcrAnswer, ReadBlock, ReadPage } from '../../ports/modelProvider.ts';
import { reads, status, answers } from '../support/scriptedProvider/steps.ts';
import type { ScriptedPage } from '../support/scriptedProvider/wires.ts';
import { startScriptedProvider, type ScriptedProvider } from '../support/scriptedProvider.ts';
import { plainPdf } from '../support/pdfs.ts';
import { accessTo, openProviders, PDF } from './asking.ts';
import { documentWork } from './documentWork.ts';

const rounded = (box: readonly number[] | null | undefined) => box?.map(Math.round);
const pagesIn = (answer: OcrAnswer): readonly ReadPage[] => (answer.kind === 'read' ? answer.pages : []);

/** One page as a provider that places blocks reads it. */
const INVOICE: ScriptedPage = {
  markdown:
    '# Invoice\n\nInvoice number: 4711\n\n| Item | Price |\n| --- | --- |\n| Chair | 12.50 |\n\nPage 1 of 1',
  blocks: [
    { type: 'title', text: 'Invoice', box: [50, 40, 200, 60], confidence: 0.98 },
    { type: 'text', text: 'Invoice number: 4711', box: [50, 80, 150, 92], confidence: 0.6 },
    {
      type: 'table',
      text: '| Item | Price |\n| --- | --- |\n| Chair | 12.50 |',
      box: [50, 120, 400, 180],
      cells: [
        [
          { text: 'Item', box: [50, 120, 200, 140], confidence: 1 },
          { text: 'Price', box: [300, 120, 400, 140], confidence: 1 },
        ],
        [
          { text: 'Chair', box: [50, 150, 200, 170], confidence: 1 },
          { text: '12.50', box: [300, 150, 400, 170], confidence: 1 },
        ],
      ],
    },
    { type: 'footer', text: 'Page 1 of 1', box: [50, 800, 120, 812] },
  ],
};

describe('readers of others', () => {
  let server: ScriptedProvider;
  let providers: ModelProviders;
  before(async () => {
    server = await startScriptedProvider();
    providers = openProviders();
  });
  after(async () => {
    await providers.close();
    await server.stop();
  });
  beforeEach(() => void (server.requests.length = 0));

  const read = (model: string, more: object = {}) =>
    providers.readPages({ access: accessTo(model, server.url), file: PDF, deadlineMs: 60_000, ...more });

  it('take the boxes, the kinds and the confidence of the blocks that Mistral places', async () => {
    server.script('*', reads(INVOICE));
    const [page] = pagesIn(await read('mistral/mistral-ocr-4-1'));
    const [title, number, table] = page?.blocks ?? [];
    expect(title).to.include({ kind: 'heading', text: 'Invoice', confidence: 0.98 });
    expect(number).to.include({ kind: 'text', confidence: 0.6 });
    expect(rounded(number?.box)).to.deep.equal([50, 80, 150, 92]);
    expect(table).to.include({ kind: 'table', confidence: 1 });
    expect(server.requests[0]?.body).to.include({
      include_blocks: true,
      confidence_scores_granularity: 'block',
    });
  });

  it('take how sure Mistral was of each word before it placed blocks', async () => {
    const word = { text: '4711', box: [0, 0, 1, 1], confidence: 0.4 } as const;
    server.script('*', reads({ markdown: 'Number: 4711', words: [word] }));
    const [page] = pagesIn(await read('mistral/mistral-ocr-2512'));
    expect(page?.words).to.deep.equal([
      { text: '4711', box: null, confidence: 0.4, fontSize: null, bold: false },
    ]);
    expect(page?.blocks).to.equal(undefined);
    expect(server.requests[0]?.body).not.to.have.property('include_blocks');
  });

  it('ask a server that refuses what stands beside the text for the text alone, once', async () => {
    server.script('*', status(422), reads({ markdown: 'One' }));
    const answer = await read('mistral/mistral-ocr-latest');
    expect(pagesIn(answer).map(({ markdown }) => markdown)).to.deep.equal(['One']);
    expect(server.requests.map(({ body }) => 'include_blocks' in body)).to.deep.equal([true, false]);
    server.script('*', status(422));
    const refused = await read('mistral/mistral-ocr-latest');
    expect(refused).to.have.nested.property('failure.provider_status', 422);
    expect(server.requests).to.have.length(4);
  });

  it('read a document of docling-serve: its headings, lists, tables and blank pages', async () => {
    server.script('*', { ...reads(INVOICE, { markdown: '' }), running: 2 });
    const answer = await read('docling/standard', { pages: [1, 2] });
    expect(answer).to.have.nested.property('usage.pages', 2);
    const [page, blank] = pagesIn(answer);
    expect(blank).to.deep.include({ page: 2, markdown: '', blocks: [], width: 595, height: 842 });
    expect(page?.markdown)
      .to.match(/^## Invoice\n\nInvoice number: 4711\n\n<table>/u)
      .and.to.match(/Page 1 of 1$/u);
    const blocks = page?.blocks ?? [];
    expect(blocks.map(({ kind }) => kind)).to.deep.equal(['heading', 'text', 'table', 'text']);
    expect(blocks.map(({ box }) => rounded(box))[1]).to.deep.equal([50, 80, 150, 92]);
    expect(blocks[2]).to.have.nested.property('cells[3]').that.includes({ row: 1, column: 1 });
  });

  it('hand a file to docling-serve, ask after it and fetch it', async () => {
    server.script('*', { ...reads(INVOICE), running: 2 });
    await read('docling/standard', { pages: [1, 2] });
    const [handedIn, ...asked] = server.requests;
    expect(handedIn?.path).to.equal('/v1/convert/source/async');
    expect(handedIn?.headers['x-api-key']).to.be.a('string');
    expect(handedIn?.body['options']).to.deep.include({ pipeline: 'standard', page_range: [1, 2] });
    expect(asked.map(({ path }) => path.split('/')[2])).to.deep.equal([
      'status',
      'status',
      'status',
      'result',
    ]);
  });

  it('cut a text of docling-serve that stands on two pages, whatever it says of where', async () => {
    const text = 'First part, second part';
    const prov = (page_no: number, charspan: unknown) => ({
      page_no,
      charspan,
      bbox: { l: 1, t: 1, r: 9, b: 9 },
    });
    const readAs = async (...places: readonly object[]) => {
      const beside = { texts: [{ label: 'text', text, prov: places }] } as unknown as JsonObject;
      const blocks = [{ type: 'text', text, box: [1, 1, 9, 9] }] as const;
      server.script('*', reads({ markdown: '', blocks, beside }, { markdown: '' }));
      return pagesIn(await read('docling/standard')).map(({ markdown }) => markdown);
    };
    expect(await readAs(prov(1, [0, 11]), prov(2, [11, 23]))).to.deep.equal(['First part,', ' second part']);
    const all = Array.from({ length: 500 }, () => prov(1, [0, 23]));
    expect(await readAs(...all, prov(2, null))).to.deep.equal([text, '']);
  });

  it('take each text of docling-serve once, however often it is referred to', async () => {
    const beside = { body: { children: Array.from({ length: 300_000 }, () => ({ $ref: '#/texts/0' })) } };
    const blocks = [{ type: 'text', text: 'Once', box: [10, 20, 30, 40] }] as const;
    server.script('*', reads({ markdown: '', blocks, beside }));
    expect(pagesIn(await read('docling/standard')).map(({ markdown }) => markdown)).to.deep.equal(['Once']);
  });

  it('tell that docling-serve cannot read a file', async () => {
    server.script('*', { do: 'read_failed' });
    const answer = await read('docling/vlm');
    expect(answer).to.have.nested.property('failure.detail', 'docling could not read the document.');
  });

  const OFF = [700, 80, 900, 92] as const;
  for (const model of ['mistral/mistral-ocr-latest', 'docling/standard'])
    it(`${model}: a box beside the page is none, one over its edge ends there`, async () => {
      server.script(
        '*',
        reads({
          markdown: 'Off\n\nOver\n\nFlat',
          blocks: [
            { type: 'text', text: 'Off', box: OFF },
            { type: 'text', text: 'Over', box: [500, 800, 9_000, 9_000] },
            { type: 'text', text: 'Flat', box: [10, 20, 10, 40] },
          ],
        }),
      );
      const [page] = pagesIn(await read(model));
      const boxes = page?.blocks?.map(({ box }) => rounded(box) ?? null);
      expect(boxes).to.deep.equal([null, [500, 800, 595, 842], null]);
    });

  it('take the kinds and boxes of paragraphs, tables and cells that Azure tells', async () => {
    server.script('*', reads({ markdown: 'Before' }, INVOICE));
    const [, page] = pagesIn(await read('azure_di/prebuilt-layout'));
    const blocks = page?.blocks ?? [];
    expect(blocks.map(({ kind }) => kind)).to.deep.equal(['heading', 'text', 'table', 'text']);
    expect(blocks.map(({ box }) => rounded(box))[1]).to.deep.equal([50, 80, 150, 92]);
    expect(blocks[2]?.cells?.map(({ box }) => rounded(box))[3]).to.deep.equal([300, 150, 400, 170]);
  });

  it('leave out what Azure tells beside the text in another form', async () => {
    const far = Array.from({ length: 300_000 }, () => 1);
    const paragraphs = [
      { content: 'A', spans: [{ offset: 0, length: 1 }], boundingRegions: [{ pageNumber: 1, polygon: far }] },
    ];
    server.script('*', reads({ markdown: 'A', beside: { paragraphs, tables: 'none' } }));
    const [page] = pagesIn(await read('azure_di/prebuilt-layout'));
    expect(page).to.deep.include({ markdown: 'A', words: [] });
    expect(page?.blocks?.map(({ box }) => box)).to.deep.equal([null]);
  });

  it('take what is no number for nothing, and keep the text', async () => {
    const block = { type: 'text', content: 'A', top_left_x: 'NaN', top_left_y: null, bottom_right_x: 1e300 };
    const scores = { average_content_confidence_score: 'NaN' };
    const beside = {
      blocks: [
        { ...block, confidence_scores: scores },
        { ...block, confidence_scores: 7 },
      ],
    };
    server.script('*', reads({ markdown: 'A', beside }));
    const [page] = pagesIn(await read('mistral/mistral-ocr-latest'));
    expect(page?.blocks?.map(({ box, confidence }) => [box, confidence])).to.deep.equal([
      [null, 1],
      [null, 1],
    ]);
    server.script('*', reads({ markdown: 'A', beside: { blocks: { no: 'list' }, dimensions: { dpi: 0 } } }));
    const [other] = pagesIn(await read('mistral/mistral-ocr-latest'));
    expect(other).to.deep.include({ markdown: 'A', width: null, words: [] });
    const words = [
      { text: 'A', box: [10, 20, 1e307, 40], confidence: 7 },
      { text: 'B', box: [10, 20, 30, 40], confidence: -1 },
    ] as const;
    server.script('*', reads({ markdown: 'A B', words }));
    const [azure] = pagesIn(await read('azure_di/prebuilt-layout'));
    expect(azure?.words.map(({ confidence }) => confidence)).to.deep.equal([1, 1]);
    expect(azure?.words.every(({ box }) => box === null || box.every(Number.isFinite))).to.equal(true);
  });

  it('a document of docling-serve that refers to itself ends', async () => {
    const loop = {
      label: 'list',
      children: [{ $ref: '#/groups/0' }, { $ref: '#/texts/0' }, { $ref: '#/no/1' }],
    };
    const beside = { body: { children: [{ $ref: '#/groups/0' }, { $ref: '#/texts/99' }] }, groups: [loop] };
    const blocks = [{ type: 'text', text: 'Once', box: [10, 20, 30, 40] }] as const;
    server.script('*', reads({ markdown: '', blocks, beside }));
    expect(pagesIn(await read('docling/standard')).map(({ markdown }) => markdown)).to.deep.equal(['Once']);
  });

  const HOSTILE = [
    ['nonsense', { do: 'nonsense' }, 'another form', 60_000],
    ['half of one', { do: 'truncate' }, 'could not be reached|another form', 60_000],
    ['a flood', { do: 'flood', bytes: 20_000_000 }, 'too large', 60_000],
    ['a drip', { do: 'drip', everyMs: 50 }, 'in time', 1_500],
    ['a page of HTML', { do: 'html' }, 'another form', 60_000],
  ] as const;
  for (const [what, step, detail, deadlineMs] of HOSTILE)
    for (const model of ['mistral/mistral-ocr-latest', 'azure_di/prebuilt-layout', 'docling/standard'])
      it(`${model} answers with ${what}`, async () => {
        server.script('*', step);
        const access = accessTo(model, server.url, { retries: 0 });
        const answer = await providers.readPages({ access, file: PDF, deadlineMs });
        expect(answer).to.have.property('kind', 'failed');
        expect(answer).to.have.nested.property('failure.detail').that.matches(new RegExp(detail, 'u'));
        expect(answer).to.have.nested.property('usage.pages', null);
      });

  it('a docling-serve in a private network is not asked for a caller', async () => {
    const shut = openProviders({ allowPrivateNetwork: false });
    const access = accessTo('docling/standard', server.url);
    const answer = await shut.readPages({ access, file: PDF, deadlineMs: 60_000 });
    expect(answer).to.have.nested.property('failure.kind', 'unsafe_api_base');
    expect(server.requests).to.deep.equal([]);
    await shut.close();
  });
});

describe('a page that a model read', () => {
  const textsOf = (page: ReadPage): readonly string[] =>
    modelDocument('application/pdf', [{ status: 'ok', page }]).pages.flatMap(({ lines }) =>
      lines.map(({ text }) => text),
    );
  const part = fc.constantFrom(
    'a',
    'B c',
    '# T',
    '- x',
    '| a | b |\n| - | - |\n| 1 | 2 |',
    '4.50',
    '*',
    '\n',
    '¥',
  );

  it('keeps all of its text, whatever its reader places beside it', () => {
    const markdowns = fc.array(part, { maxLength: 12 }).map((parts) => parts.join('\n\n'));
    const block = fc.record({
      kind: fc.constantFrom('heading', 'table', 'text'),
      text: markdowns,
      box: fc.constantFrom(null, [1, 2, 3, 4] as const),
      confidence: fc.constantFrom(0, 0.5, 1),
      cells: fc.constantFrom(undefined, [{ row: 0, column: 9, box: [1, 2, 3, 4] as const }]),
    });
    const word = fc.record({ text: part, confidence: fc.constantFrom(0, 1) });
    const unplaced = { box: null, fontSize: null, bold: false };
    const blocks = fc.array(block, { maxLength: 6 }) as fc.Arbitrary<ReadBlock[]>;
    const run = fc.property(markdowns, blocks, fc.array(word), (markdown, placed, words) => {
      const page = { page: 1, markdown, width: 100, height: 100, words: [] };
      const told = { ...page, blocks: placed, words: words.map((one) => ({ ...unplaced, ...one })) };
      expect(textsOf(told)).to.deep.equal(textsOf(page));
    });
    fc.assert(run, { numRuns: 300 });
  });

  it('is done with in time, however many blocks and lines its reader tells of', () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at} of it`);
    const blocks = lines.map((text): ReadBlock => ({
      kind: 'text',
      text: `no ${text}`,
      box: null,
      confidence: 1,
    }));
    const long: ReadBlock = { kind: 'text', text: 'x '.repeat(2_000_000), box: null, confidence: 1 };
    const page = { page: 1, markdown: lines.join('\n\n'), width: null, height: null, words: [] };
    const startedAt = performance.now();
    expect(textsOf({ ...page, blocks: [long, ...blocks] })).to.have.length(lines.length);
    expect(performance.now() - startedAt).to.be.below(20_000);
  });

  it('does not begin with what a model says about it', () => {
    const about =
      '---\nprimary_language: en\nis_rotation_valid: True\nrotation_correction: 0\nis_table: False\n---\n';
    expect(transcriptIn(`${about}Invoice 7`)).to.equal('Invoice 7');
    expect(transcriptIn('---\n\nInvoice 7\n---\n')).to.equal('---\n\nInvoice 7\n---\n');
  });
});

describe('values that readers of others found', () => {
  const { provider, work, calls, access, fileOf, onCall } = documentWork();
  const LISTED = {
    type: 'object',
    properties: { number: { type: 'string' }, price: { type: 'number' } },
  } as const;

  const extracted = async (name: 'mistral' | 'docling' | 'azure_di' | 'hosted_vllm', model: string) => {
    const request = {
      ...(await fileOf('a.pdf', plainPdf(['x']))),
      effort: 'robust' as const,
      schema: LISTED,
      settings: { citations: true },
    };
    const llm = access('sk-llm');
    const ocr = access('sk-ocr', { ref: { provider: name, model } });
    const result = await work.extract(request, { llm, ocr, onCall });
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    return result.extraction;
  };

  for (const [name, model] of [
    ['mistral', 'mistral-ocr-latest'],
    ['docling', 'standard'],
    ['azure_di', 'prebuilt-layout'],
  ] as const)
    it(`are cited where ${name} placed them`, async () => {
      provider.script('sk-ocr', reads(INVOICE));
      provider.script('sk-llm', answers({ number: '4711', price: 12.5 }));
      const { value, citations } = await extracted(name, model);
      expect(value).to.deep.equal({ number: '4711', price: 12.5 });
      const boxes = Object.fromEntries(citations.map(({ path, bbox }) => [path, rounded(bbox)]));
      const price = name !== 'mistral' ? [300, 150, 400, 170] : [50, 120, 400, 180];
      expect(boxes).to.deep.equal({ '/number': [50, 80, 150, 92], '/price': price });
      expect(calls.map(({ step }) => step)).to.deep.equal(['ocr', 'extraction']);
    });

  it('come from a vision model on vLLM that answers a page as Markdown', async () => {
    provider.script(
      'sk-ocr',
      answers('```markdown\nInvoice number: 4711\n\n| Item | Price |\n| --- | --- |\n| Chair | 12.50 |\n```'),
    );
    provider.script('sk-llm', answers({ number: '4711', price: 12.5 }));
    const { value, citations } = await extracted('hosted_vllm', 'allenai/olmOCR-2-7B');
    expect(value).to.deep.equal({ number: '4711', price: 12.5 });
    expect(citations.map(({ bbox }) => bbox)).to.deep.equal([null, null]);
    const [sent] = provider.requests;
    expect(sent?.path).to.match(/\/chat\/completions$/u);
    expect(JSON.stringify(sent?.body)).to.contain('image_url').and.to.contain('Transcribe this page');
  });

  it('are found by the embedded engine in the cells of a table that Azure placed', async () => {
    const words = INVOICE.blocks?.flatMap(({ cells = [] }) => cells.flat()) ?? [];
    provider.script('sk-ocr', reads({ ...INVOICE, words }));
    const request = {
      ...(await fileOf('a.pdf', plainPdf(['x']))),
      effort: 'robust' as const,
      settings: { citations: true },
    };
    const ocr = access('sk-ocr', { ref: { provider: 'azure_di', model: 'prebuilt-layout' } });
    const row = {
      type: 'object',
      properties: { item: { type: 'string' }, price: { type: 'number' } },
    } as const;
    const schema = { type: 'object', properties: { items: { type: 'array', items: row } } } as const;
    const result = await work.extract({ ...request, schema }, { llm: null, ocr, onCall });
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    const { value, citations } = result.extraction;
    expect(value).to.deep.equal({ items: [{ item: 'Chair', price: 12.5 }] });
    const boxes = Object.fromEntries(citations.map(({ path, bbox }) => [path, rounded(bbox)]));
    expect(boxes).to.deep.equal({
      '/items/0/item': [50, 150, 200, 170],
      '/items/0/price': [300, 150, 400, 170],
    });
  });

  it('are found by the embedded engine in what they read', async () => {
    provider.script('sk-ocr', reads(INVOICE));
    const request = {
      ...(await fileOf('a.pdf', plainPdf(['x']))),
      effort: 'robust' as const,
      settings: { citations: true },
    };
    const ocr = access('sk-ocr', { ref: { provider: 'docling', model: 'standard' } });
    const schema = { type: 'object', properties: { invoice_number: { type: 'string' } } } as const;
    const result = await work.extract({ ...request, schema }, { llm: null, ocr, onCall });
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    expect(result.extraction.citations.map(({ bbox }) => rounded(bbox))).to.deep.equal([[50, 80, 150, 92]]);
  });
});
