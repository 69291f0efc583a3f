import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import sharp from 'sharp';
import { confinementAmong } from '../../isolation/confinement/confinement.ts';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { ParseRequest } from '../../ports/documentParser.ts';
import { tellChildren } from '../support/stoppedChildren.ts';
import { until } from '../support/until.ts';
import { pictureOf } from '../support/pagePictures.ts';
import { drawnPdf, encryptedPdf, plainPdf, scannedPdf } from '../support/pdfs.ts';
import { tempFolder, type TempFolder } from '../support/tempFolder.ts';

const HOSTILE = fileURLToPath(new URL('../support/hostileChild.js', import.meta.url));
/** Of a job that is to be answered: far more than it takes on a busy machine. */
const DEADLINE_MS = 60_000;

describe('jobs in isolated processes', () => {
  let workers: DocumentWorkers;
  const file = fileURLToPath(import.meta.url);
  const job = (
    fileName: string,
    more: Partial<ParseRequest> = {},
  ): ReturnType<typeof workers.parser.inspect> =>
    workers.parser.inspect({
      path: file,
      fileName,
      effort: 'fast',
      pagesMax: 1,
      deadlineMs: DEADLINE_MS,
      share: 't',
      ...more,
    });

  const opened = (patienceMs?: number): DocumentWorkers =>
    openDocumentWorkers({ processes: 2, memoryMb: 768, entry: HOSTILE, ...(patienceMs && { patienceMs }) });
  beforeEach(() => {
    workers = opened();
  });
  afterEach(() => workers.close());

  it('kills an endless job at its deadline, and the next job works', async () => {
    const started = performance.now();
    expect((await job('endless', { deadlineMs: 400 })).kind).to.equal('timed_out');
    expect(performance.now() - started).to.be.below(DEADLINE_MS);
    expect((await job('good')).kind).to.equal('ok');
  });

  /** Begins a job in a process that is there already, and keeps it from its work. */
  const stoppedJob = async (deadlineMs: number) => {
    await job('good');
    const answer = job('good', { deadlineMs });
    tellChildren('SIGSTOP');
    return { answer };
  };

  it('do not lose their time while the machine has no processor for them', async () => {
    const deadlineMs = 1_000;
    const since = performance.now();
    const { answer } = await stoppedJob(deadlineMs);
    await until(() => performance.now() - since > 1.5 * deadlineMs);
    tellChildren('SIGCONT');
    expect((await answer).kind).to.equal('ok');
  });

  it('are given up when the machine never has one, which is not said of the file', async () => {
    await workers.close();
    workers = opened(500);
    const { answer } = await stoppedJob(100);
    expect((await answer).kind).to.equal('starved');
    expect((await job('good')).kind).to.equal('ok');
  });

  it('say nothing of a file that no process could be started for, but why, until one starts', async () => {
    const folder = tempFolder();
    const confinement = () => confinementAmong([], { permissionModel: false });
    const entry = folder.file('entry.mjs', "console.error('no such\\n  library'); process.exit(7);");
    const none = openDocumentWorkers({ processes: 1, entry, confinement });
    const request = { path: file, fileName: null, effort: 'fast', pagesMax: 1, share: 't' } as const;
    const inspected = () => none.parser.inspect({ ...request, deadlineMs: DEADLINE_MS });
    const both = await Promise.allSettled([inspected(), inspected()]);
    const told = both.map((one) => String(one.status === 'rejected' ? one.reason : one.value.kind));
    const checked = await none.schemaValidator
      .check(
        { type: 'object', properties: { name: { type: 'string' } } },
        { share: 't', signal: new AbortController().signal },
      )
      .catch((error: unknown) => error);
    folder.file('entry.mjs', `import ${JSON.stringify(HOSTILE)};`);
    const healed = await inspected();
    await none.close();
    folder.remove();
    const did = (count: number) =>
      `ProcessNotStarted: ${String(count)} processes for documents in a row did not start: ` +
      'the last ended with code 7: no such library';
    expect(told).to.deep.equal([did(3), did(4)]);
    expect(String(checked)).to.equal(did(5));
    expect(healed.kind).to.equal('ok');
  });

  it('tells a child to hurry before the deadline, and takes what it has by then', async () => {
    expect((await job('hurried', { deadlineMs: 5_000 })).kind).to.equal('ok');
  });

  it('caps the memory of a job', async () => {
    // Filling it takes long on a busy machine.
    expect((await job('memory', { deadlineMs: 150_000 })).kind).to.equal('unreadable');
    expect((await job('good')).kind).to.equal('ok');
  });

  it('survives a child that ends', async () => {
    expect((await job('exit')).kind).to.equal('unreadable');
    expect((await job('good')).kind).to.equal('ok');
  });

  it('throws for a defect of our own', async () => {
    const error: unknown = await job('throw').catch((reason: unknown) => reason);
    expect(error).to.be.an.instanceOf(Error).with.property('message').that.includes('our own defect');
  });

  it('does not let a killed job hurt its neighbours or those who wait', async () => {
    const jobs = [
      job('endless', { deadlineMs: 300 }),
      job('exit'),
      ...['a', 'b', 'c', 'd'].map((name) => job(name)),
    ];
    const kinds = (await Promise.all(jobs)).map(({ kind }) => kind);
    expect(kinds).to.deep.equal(['timed_out', 'unreadable', 'ok', 'ok', 'ok', 'ok']);
  });

  it('uses a child again', async () => {
    expect(await job('a')).to.deep.equal(await job('b'));
  });

  it('aborts what runs, what waits and what has not begun', async () => {
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const running = [job('endless', { signal }), job('endless', { signal })];
    const waits = job('a', { signal });
    giveUp.abort();
    const results = await Promise.all([...running, waits, job('a', { signal })]);
    expect(results.map(({ kind }) => kind)).to.deep.equal(['aborted', 'aborted', 'aborted', 'aborted']);
    expect((await job('good')).kind).to.equal('ok');
  });

  it('aborts everything when it closes, and starts nothing afterwards', async () => {
    const running = [job('endless'), job('endless'), job('a')];
    await workers.close();
    expect((await Promise.all(running)).map(({ kind }) => kind)).to.deep.equal([
      'aborted',
      'aborted',
      'aborted',
    ]);
    expect((await job('a')).kind).to.equal('aborted');
  });
});

describe('files of all kinds', () => {
  let workers: DocumentWorkers;
  let folder: TempFolder;
  const request = (fileName: string, bytes: Uint8Array | string): ParseRequest => ({
    path: folder.file(fileName, bytes),
    fileName,
    effort: 'standard',
    pagesMax: 100,
    deadlineMs: DEADLINE_MS,
    share: 't',
  });
  const inspect = (name: string, bytes: Uint8Array | string): ReturnType<typeof workers.parser.inspect> =>
    workers.parser.inspect(request(name, bytes));

  before(() => {
    workers = openDocumentWorkers({ processes: 2 });
    folder = tempFolder();
  });
  after(async () => {
    await workers.close();
    folder.remove();
  });

  it('counts the pages of a PDF', async () => {
    expect(await inspect('a.pdf', plainPdf(['one', 'two', 'three']))).to.deep.equal({
      kind: 'ok',
      mimeType: 'application/pdf',
      pages: 3,
      total: 3,
    });
  });

  it('counts the characters of a text', async () => {
    expect(await inspect('a.txt', 'x'.repeat(3001))).to.deep.equal({
      kind: 'ok',
      mimeType: 'text/plain',
      pages: 2,
      total: 2,
    });
  });

  it('refuses more pages than allowed before it reads them', async () => {
    const many = plainPdf(Array.from({ length: 101 }, (_, i) => `page ${i}`));
    for (const work of ['inspect', 'parse', 'render'] as const)
      expect(await workers.parser[work](request('many.pdf', many))).to.deep.include({
        kind: 'too_many_pages',
        pages: 101,
        pagesMax: 100,
      });
  });

  it('says of an encrypted PDF that it is', async () => {
    const inspected = await inspect('a.pdf', encryptedPdf('open sesame'));
    expect(inspected).to.have.property(
      'detail',
      'The PDF is encrypted: send its password with it, or send it without one.',
    );
    expect(inspected.kind).to.equal('unreadable');
  });

  it('says of a PDF cut short that it is damaged, or reads what is left of it', async () => {
    const whole = plainPdf(['one', 'two']);
    for (const part of [0.1, 0.5])
      expect((await inspect('a.pdf', whole.subarray(0, Math.floor(whole.length * part)))).kind).to.equal(
        'unreadable',
      );
  });

  it('refuses garbage with a PDF name, an empty file and other types', async () => {
    const garbage = Buffer.from(Array.from({ length: 2000 }, (_, i) => (i * 73 + 11) % 256));
    expect((await inspect('a.pdf', garbage)).kind).to.equal('unreadable');
    expect((await inspect('a.pdf', '')).kind).to.equal('empty');
    expect((await inspect('a.bin', garbage)).kind).to.equal('unsupported');
  });

  it('is not hurt by a page tree that contains itself or claims a billion pages', async () => {
    const hostile = plainPdf(['a'])
      .toString('latin1')
      .replace('/Kids [4 0 R] /Count 1', '/Kids [2 0 R] /Count 999999999');
    expect((await inspect('a.pdf', Buffer.from(hostile, 'latin1'))).kind).not.to.equal('ok');
    expect((await inspect('b.pdf', plainPdf(['fine']))).kind).to.equal('ok');
  });

  it('renders both ways and says what became of each page', async () => {
    const rendered = await workers.parser.render(request('a.pdf', plainPdf(['First page', 'Second page'])));
    expect(rendered).to.deep.equal({
      kind: 'ok',
      rendition: {
        mimeType: 'application/pdf',
        markdown: '<!-- page 1 -->\n\nFirst page\n\n<!-- page 2 -->\n\nSecond page\n',
        plainText: 'First page\fSecond page\n',
        pages: [1, 2].map((page) => ({
          page,
          status: 'ok',
          source: 'text_layer',
          detail: null,
          width: 400,
          height: 200,
          rotation: 0,
        })),
        warnings: [],
      },
    });
  });

  it('warns of a document without text', async () => {
    const rendered = await workers.parser.render(request('a.pdf', plainPdf([''])));
    expect(rendered).to.have.nested.property('rendition.warnings[0].code', 'no_text_found');
    expect(rendered).to.have.nested.property('rendition.pages[0].status', 'empty');
  });
});

describe('a scan of several pages in an isolated process', () => {
  it('tells how many of them are read while others are still recognised', async () => {
    const [folder, workers] = [tempFolder(), openDocumentWorkers({ processes: 1 })];
    try {
      const { data, info } = await sharp(
        await pictureOf(drawnPdf('BT /F1 14 Tf 60 700 Td (To be paid) Tj ET')),
      )
        .flatten({ background: '#fff' })
        .toColourspace('b-w')
        .jpeg()
        .toBuffer({ resolveWithObject: true });
      const scan = scannedPdf({ jpeg: data, width: info.width, height: info.height }, '', { pages: 3 });
      const told: number[] = [];
      const read = await workers.parser.read({
        path: folder.file('scan.pdf', scan),
        fileName: null,
        effort: 'standard',
        pagesMax: 9,
        deadlineMs: DEADLINE_MS,
        share: 't',
        onPagesRead: (done) => told.push(done),
      });
      expect(read.kind).to.equal('ok');
      expect(told).to.deep.equal([1, 2, 3]);
    } finally {
      await workers.close();
      folder.remove();
    }
  });
});
