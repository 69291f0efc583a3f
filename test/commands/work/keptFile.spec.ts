import { expect } from 'chai';
import { openDocumentWorkers, type DocumentWorkers } from '@quire/engine/isolation/documentWorkers';
import { familyOf } from '@quire/engine/isolation/children/childProcess';
import { convertDocument } from '../../../src/commands/convert.ts';
import type { ExtractRequest } from '../../../src/commands/extract.ts';
import { asked, delivery, extract, TENANT, type Delivery, type Process } from '../../support/delivery.ts';
import { tempFolder, type TempFolder } from '../../../engine/test/support/tempFolder.ts';
import { until } from '../../../engine/test/support/until.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };

describe('work on a file that was opened to count its pages', () => {
  let workers: DocumentWorkers;
  let folder: TempFolder;
  let path: string;
  let at: Delivery;
  let start: number;
  let earlier: readonly number[];
  before(() => {
    earlier = familyOf(process.pid);
    workers = openDocumentWorkers({ processes: 1 });
    folder = tempFolder();
    path = folder.file('a.txt', 'Total: 7.00 EUR\n');
  });
  after(async () => {
    await workers.close();
    folder.remove();
  });
  beforeEach(() => (start = workers.openings().opened));
  afterEach(async () => {
    expect(workers.openings().kept, 'a file was left open').to.equal(0);
    await at.dispose();
  });

  const setUp = async (balance = 1_000, parts: Partial<Process> = {}): Promise<Process> => {
    at = await delivery({ balance });
    const deadlines = { fast: 30_000, standard: 30_000, robust: 30_000 };
    const { parser, localEngine: engine } = workers;
    return at.process({ parser, engine, inspectDeadlineMs: 30_000, localDeadlinesMs: deadlines, ...parts });
  };
  const request = (over: Partial<ExtractRequest> = {}): ExtractRequest => {
    const file = { path, sha256: 'a'.repeat(64), bytes: 16, file_name: 'a.txt' };
    return asked(1, { file, schema: SCHEMA, ...over });
  };
  /** What comes between the count and the work: the request is noted while the hold is open. */
  const inBetween = (act: () => Promise<void> | void): Partial<Process> => ({
    usage: {
      requested: async () => {
        await act();
        return true;
      },
      stateOf: () => Promise.resolve({ requested: null, end: null }),
      isErased: () => Promise.resolve(false),
    },
  });
  const children = () => familyOf(process.pid).filter((pid) => !earlier.includes(pid));
  const opened = () => workers.openings().opened - start;
  const burned = async () => (await at.burns()).map(({ pages, credits }) => ({ pages, credits }));

  it('opens it once, and bills its pages', async () => {
    const answer = await extract(await setUp(), request());
    expect(answer).to.have.nested.property('body.result.total', 7);
    expect(await burned()).to.deep.equal([{ pages: 1, credits: 40 }]);
    expect(opened()).to.equal(1);
  });

  it('opens it once for a conversion', async () => {
    const { file } = request();
    const answer = await convertDocument(await setUp())({ ...asked(1), file, mode: 'default', form: {} });
    expect(answer).to.have.nested.property('body.plain_text', 'Total: 7.00 EUR\n');
    expect(opened()).to.equal(1);
  });

  it('puts it away when the hold is refused', async () => {
    const answer = await extract(await setUp(0), request());
    expect(answer).to.have.property('code', 'insufficient_credits');
    expect(opened()).to.equal(1);
  });

  it('puts it away when the request cannot be noted', async () => {
    const on = await setUp(
      1_000,
      inBetween(() => Promise.reject(new Error('scripted'))),
    );
    const thrown: unknown = await extract(on, request()).catch((error: unknown) => error);
    expect(thrown).to.be.an.instanceOf(Error).with.property('message', 'scripted');
    expect(await at.account()).to.include({ balance: 1_000, open_holds: 0 });
  });

  it('puts it away when its caller leaves before the work', async () => {
    const leave = new AbortController();
    const on = await setUp(
      1_000,
      inBetween(() => leave.abort()),
    );
    const answer = await extract(on, request({ signal: leave.signal }));
    expect(answer).to.have.property('code', 'request_aborted');
    expect(await at.account()).to.include({ balance: 1_000, open_holds: 0 });
  });

  it('puts it away when the work fails', async () => {
    const schema = { ...SCHEMA, required: ['number'] };
    const answer = await extract(await setUp(), request({ schema }));
    expect(answer).to.have.property('code', 'output_schema_mismatch');
    expect(await burned()).to.deep.equal([]);
  });

  it('answers and bills the same when its process has died in between', async () => {
    const on = await setUp(
      1_000,
      inBetween(async () => {
        for (const pid of children()) process.kill(pid, 'SIGKILL');
        await until(() => children().length === 0);
      }),
    );
    const answer = await extract(on, request());
    expect(answer).to.have.nested.property('body.result.total', 7);
    expect(await burned()).to.deep.equal([{ pages: 1, credits: 40 }]);
    expect(opened()).to.equal(2);
  });

  it('answers and bills the same when another tenant needed the process in between', async () => {
    const other = folder.file('b.txt', 'Total: 8.00 EUR\n');
    const rest = { fileName: 'b.txt', effort: 'fast', pagesMax: 10, deadlineMs: 30_000 } as const;
    const needed = async () => {
      await workers.parser.inspect({ path: other, share: `not-${TENANT}`, ...rest });
    };
    const on = await setUp(1_000, inBetween(needed));
    const answer = await extract(on, request());
    expect(answer).to.have.nested.property('body.result.total', 7);
    expect(await burned()).to.deep.equal([{ pages: 1, credits: 40 }]);
    expect(opened()).to.equal(3);
  });
});
