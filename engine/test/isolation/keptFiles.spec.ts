import { expect } from 'chai';
import type { Openings } from '../../isolation/children/childPool.ts';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import { familyOf } from '../../isolation/children/childProcess.ts';
import { keptFile, type ParseRequest } from '../../ports/documentParser.ts';
import { plainPdf } from '../support/pdfs.ts';
import { tempFolder, type TempFolder } from '../support/tempFolder.ts';
import { until } from '../support/until.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };
const MAIL = [
  'From: a@example.com\r\nSubject: Two\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n',
  '--b\r\nContent-Type: text/plain\r\n\r\nTotal: 7.00\r\n',
  '--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\nitem,total\r\nlens,7\r\n',
  '--b--\r\n',
].join('');
const FILES: readonly (readonly [string, string | Buffer])[] = [
  ['a.txt', 'Total: 7.00 EUR\n'],
  ['a.pdf', plainPdf(['Total: 7.00 EUR', 'Second page'])],
  ['a.csv', 'item,total\nlens,7\n'],
  ['a.html', '<html><body><p>Total: 7.00 EUR</p></body></html>'],
  ['a.eml', MAIL],
];

/** Processes below this one; those of an earlier file may still be ending. */
const children = (): readonly number[] => familyOf(process.pid).slice(1);

describe('a file that is kept open for a request', () => {
  let workers: DocumentWorkers;
  let folder: TempFolder;
  let earlier: readonly number[];
  const openWorkers = (processes: number, keptMs?: number) => {
    earlier = children();
    workers = openDocumentWorkers({ processes, ...(keptMs !== undefined && { keptMs }) });
  };
  const requestFor = (name: string, bytes: string | Buffer, share = 'acme') => {
    const kept = keptFile();
    const path = folder.file(`${share}-${name}`, bytes);
    const rest = { effort: 'fast', pagesMax: 100, deadlineMs: 30_000 } as const;
    return { path, fileName: name, share, kept, ...rest };
  };
  const extract = (request: ParseRequest) =>
    workers.localEngine.extract({ ...request, schema: SCHEMA, settings: { citations: true } });
  const ours = () => children().filter((pid) => !earlier.includes(pid));
  const killChildren = () => {
    for (const pid of ours()) process.kill(pid, 'SIGKILL');
  };

  before(() => (folder = tempFolder()));
  after(() => folder.remove());
  after(() => workers.close());

  describe('by one process', () => {
    let start: Openings;
    /** Since the test began. */
    const openings = (): Openings => {
      const { opened, wentOn, kept } = workers.openings();
      return { opened: opened - start.opened, wentOn: wentOn - start.wentOn, kept };
    };
    before(() => openWorkers(1));
    beforeEach(() => (start = workers.openings()));
    afterEach(() => expect(workers.openings().kept).to.equal(0));
    after(() => workers.close());

    for (const [name, bytes] of FILES)
      it(`is opened once for its count and its work: ${name}`, async () => {
        const request = requestFor(name, bytes);
        expect((await workers.parser.inspect(request)).kind).to.equal('ok');
        expect(openings()).to.deep.equal({ opened: 1, wentOn: 0, kept: 1 });
        const answer = await workers.parser.render(request);
        expect(openings()).to.deep.equal({ opened: 1, wentOn: 1, kept: 0 });
        const { kept: _, ...alone } = request;
        expect(answer.kind).to.equal('ok');
        expect(answer).to.deep.equal(await workers.parser.render(alone));
      });

    it('serves its text and its pictures too', async () => {
      const request = requestFor('a.pdf', plainPdf(['One', 'Two']));
      await workers.parser.inspect(request);
      expect((await workers.parser.read(request)).kind).to.equal('ok');
      expect((await workers.tools.pictures(request)).kind).to.equal('ok');
      expect(openings()).to.deep.equal({ opened: 1, wentOn: 2, kept: 1 });
      expect((await workers.parser.read(request)).kind).to.equal('ok');
      expect(openings().opened, 'what was read is read anew').to.equal(2);
      request.kept.close();
      expect(openings().kept).to.equal(0);
    });

    it('is opened anew where the next job wants it otherwise', async () => {
      const request = requestFor('a.txt', 'Total: 7.00 EUR\n');
      await workers.parser.inspect(request);
      const answer = await workers.parser.render({ ...request, pagesMax: 0 });
      expect(answer.kind).to.equal('too_many_pages');
      expect(openings()).to.deep.equal({ opened: 2, wentOn: 1, kept: 0 });
    });

    it('is not kept where it could not be opened', async () => {
      const request = requestFor('a.pdf', '%PDF-1.7 and no more');
      expect((await workers.parser.inspect(request)).kind).to.equal('unreadable');
      expect(openings().kept).to.equal(0);
    });

    it('is put away when its request ends, and not kept for one that has ended', async () => {
      const request = requestFor('a.txt', 'Total: 7.00 EUR\n');
      await workers.parser.inspect(request);
      request.kept.close();
      expect(openings().kept).to.equal(0);
      await workers.parser.inspect(request);
      expect(openings().kept).to.equal(0);
    });

    it('gives way to others, and its work then opens it anew', async () => {
      const request = requestFor('a.txt', 'Total: 7.00 EUR\n');
      const other = requestFor('b.txt', 'Total: 8.00 EUR\n', 'bolt');
      await workers.parser.inspect(request);
      await workers.parser.inspect(other);
      const answer = await extract(request);
      expect(answer).to.have.nested.property('extraction.value.total', 7);
      expect(await extract(other)).to.have.nested.property('extraction.value.total', 8);
      other.kept.close();
      request.kept.close();
      expect(openings()).to.include({ opened: 4, wentOn: 0, kept: 0 });
      expect(ours().length, 'no process was started for it').to.equal(1);
    });

    it('is never reached by another share, nor for another path', async () => {
      const request = requestFor('a.txt', 'Total: 7.00 EUR\n');
      const other = requestFor('a.txt', 'Total: 8.00 EUR\n', 'bolt');
      await workers.parser.inspect(request);
      const taken = await extract({ ...other, kept: request.kept });
      expect(taken).to.have.nested.property('extraction.value.total', 8);
      await workers.parser.inspect(request);
      const elsewhere = await extract({ ...request, path: other.path });
      expect(elsewhere).to.have.nested.property('extraction.value.total', 8);
      expect(openings().wentOn).to.equal(0);
      request.kept.close();
    });

    it('is opened anew when its process has died', async () => {
      const request = requestFor('a.pdf', plainPdf(['Total: 7.00 EUR']));
      await workers.parser.inspect(request);
      killChildren();
      await until(() => ours().length === 0);
      expect(await extract(request)).to.have.nested.property('extraction.value.total', 7);
      expect(openings()).to.deep.equal({ opened: 2, wentOn: 0, kept: 0 });
    });
  });

  it('is put away when nobody asks for it', async () => {
    openWorkers(1, 1);
    const request = requestFor('a.txt', 'Total: 7.00 EUR\n');
    await workers.parser.inspect(request);
    await until(() => workers.openings().kept === 0);
    expect(await extract(request)).to.have.nested.property('extraction.value.total', 7);
    request.kept.close();
  });
});
