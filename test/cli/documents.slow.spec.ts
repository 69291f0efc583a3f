import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { answerNames } from '../../src/cli/documentRun.ts';
import { encryptedPdf, plainPdf } from '../../engine/test/support/pdfs.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { NODE_OPTIONS } from '../support/program.ts';

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
  required: ['invoice_number'],
});
const invoice = (number: string): Buffer => plainPdf([`Invoice number: ${number}`, 'Total: 12.50 EUR']);

/** Processes of a group that have not ended; where there is no /proc none are seen. */
const livingIn = (group: number): readonly string[] => {
  const all = existsSync('/proc/self/stat') ? readdirSync('/proc') : [];
  return all.filter((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/stat`)) return false;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, , ofGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state !== 'Z' && Number(ofGroup) === group;
  });
};

describe('documents on the command line', () => {
  let folder: TempFolder;
  let schema: string;
  const put = (name: string, bytes: Uint8Array | string): void => {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true });
    writeFileSync(join(folder.path, name), bytes);
  };

  before(() => {
    folder = tempFolder();
    schema = folder.file('schema.json', SCHEMA);
    put('one.pdf', invoice('Q-1'));
    put('all/b/deep.pdf', invoice('Q-3'));
    put('all/a.txt', 'Invoice number: Q-2\nTotal: 7.00 EUR\n');
    put('all/plain.md', '| name | amount |\n| - | - |\n| pear | 3 |\n');
    put('all/.hidden.txt', 'not read');
    put('all/tool.exe', 'not read');
    put('bad/cut.pdf', invoice('Q-4').subarray(0, 300));
    put('bad/locked.pdf', encryptedPdf('secret'));
    put('bad/void.txt', '');
    put('bad/well.txt', 'Invoice number: Q-5\n');
  });
  after(() => folder.remove());

  const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess => {
    const { PATH = '', HOME = '' } = process.env;
    return spawn(process.execPath, [...NODE_OPTIONS, resolve('bin/quire.js'), ...args], {
      cwd: folder.path,
      env: { PATH, HOME, ...env },
      detached: true,
    });
  };
  const ended = async (child: ChildProcess): Promise<Ran> => {
    let [out, err] = ['', ''];
    child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, out, err };
  };
  const quire = (...args: readonly string[]): Promise<Ran> => {
    const child = start(args);
    child.stdin?.end();
    return ended(child);
  };
  const lines = ({ out }: Ran): readonly Record<string, unknown>[] =>
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('prints the markdown of one document and nothing else', async () => {
    const ran = await quire('to-markdown', 'one.pdf');
    expect(ran).to.include({ code: 0, err: '' });
    expect(ran.out).to.contain('<!-- page 1 -->').and.contain('Invoice number: Q-1');
    expect((await quire('to-markdown', 'one.pdf', '--text')).out).not.to.contain('<!--');
    const read = { status: 'ok', source: 'text', detail: null, width: 400, height: 200, rotation: 0 };
    expect(
      lines(await quire('to-markdown', 'one.pdf', '--json', '--mode', 'fast'))[0]?.['meta'],
    ).to.deep.equal({
      file_name: 'one.pdf',
      mime_type: 'application/pdf',
      page_count: 2,
      mode: 'fast',
      model: 'local/default',
      warnings: [],
      pages: [1, 2].map((page) => ({ page, ...read })),
    });
    expect(existsSync(join(folder.path, 'data')), 'no data folder is made').to.equal(false);
  });

  it('reads a folder in order of names, each document under its own', async () => {
    const ran = await quire('to-markdown', 'all', 'one.pdf', 'all/a.txt');
    expect(ran.code, ran.err).to.equal(0);
    const heads = [...ran.out.matchAll(/<!-- file: (.*) -->/g)].map(([, file]) => file);
    expect(heads).to.deep.equal(['all/a.txt', 'all/b/deep.pdf', 'all/plain.md', 'one.pdf']);
    expect(ran.err.trim().split('\n')).to.have.length(4);
    expect(ran.out).not.to.contain('not read');
  });

  it('says nothing but how far it is, however many documents wait', async () => {
    for (let at = 10; at < 30; at += 1) put(`crowd/${String(at)}.txt`, `Invoice number: Q-${String(at)}\n`);
    const ran = await quire('extract', '--schema', schema, '--ndjson', 'crowd');
    expect(ran.code, ran.err).to.equal(0);
    const lines = ran.err.trim().split('\n');
    expect(lines.filter((line) => !/^\[\d+\/20\] .*: 1 page/.test(line))).to.deep.equal([]);
  });

  it('writes a file for each document, and never over a document', async () => {
    const ran = await quire('to-markdown', 'all', '--out', 'converted');
    expect(ran.code, ran.err).to.equal(0);
    expect(ran.out).to.equal('');
    const written = readdirSync(join(folder.path, 'converted'), { recursive: true }).map(String).sort();
    expect(written).to.deep.equal(['a.md', 'b', 'b/deep.md', 'plain.md']);
    expect(readFileSync(join(folder.path, 'converted/plain.md'), 'utf8')).to.match(/\| *pear *\| *3 *\|/);
    const over = await quire('to-markdown', 'all', '--text', '--out', 'all');
    expect(over.code).to.equal(2);
    expect(over.err).to.contain('all/a.txt').and.contain('--out');
  });

  it('extracts data with citations, and again to the byte', async () => {
    const ran = await quire('extract', 'one.pdf', '--schema', schema);
    expect(ran, ran.err).to.include({ code: 0, err: '' });
    const [body] = lines(ran);
    expect(Object.keys(body ?? {})).to.deep.equal(['status', 'result', 'validation_errors', 'meta']);
    expect(body).to.deep.include({ status: 'success', validation_errors: null });
    expect(body?.['result']).to.deep.equal({ invoice_number: 'Q-1', total: 12.5 });
    const { citations } = body?.['meta'] as { citations: readonly Record<string, unknown>[] };
    expect(citations.map(({ path, page }) => [path, page])).to.deep.include(['/total', 2]);
    expect((await quire('extract', 'one.pdf', '--schema', schema)).out).to.equal(ran.out);
    const bare = await quire('extract', 'one.pdf', '--schema', schema, '--no-citations', '--pretty');
    expect(bare.out).to.contain('\n  "status": "success"').and.contain('"citations": []');
  });

  it('says why a value came: what was offered, by what way, and why the rest was passed over', async () => {
    const ran = await quire('extract', 'one.pdf', '--schema', schema, '--why');
    expect(ran, ran.err).to.include({ code: 0, err: '' });
    expect(ran.out.match(/^\/.*$/gm)).to.have.members(['/invoice_number', '/total']);
    expect(ran.out).to.match(/^value +by +page +score +confidence +what became of it$/m);
    expect(ran.out).to.match(/^12\.5 +\w+ +2 +\d\.\d\d +\d\.\d\d +It is the answer\.$/m);
    expect(ran.out).to.match(/^reader +The scorer/m);
    const one = await quire('extract', 'one.pdf', '--schema', schema, '--why', '/total');
    expect(one.out).to.contain('/total\n').and.not.contain('/invoice_number');
    const none = await quire('extract', 'one.pdf', '--schema', schema, '--why', '/nothing');
    expect(none.code).to.equal(1);
    expect(none.err).to.contain('no_such_field').and.contain('/invoice_number');
  });

  it('parts a stack, and with --then extracts the parts whose class has a schema, each by its own pages', async () => {
    const lease = 'LEASE of landlord and tenant for a flat. Page 1 of 1';
    const page = (number: string) => `INVOICE. Invoice number: ${number} Page 1 of 1`;
    put('stack.pdf', plainPdf([page('Q-1'), lease, page('Q-2')]));
    const named = { name: 'Lease', description: 'A contract of landlord and tenant.' };
    const classes = folder.file(
      'then.json',
      JSON.stringify([{ name: 'Invoice', schema: JSON.parse(SCHEMA) as object }, named]),
    );
    const ran = await quire('split', 'stack.pdf', '--classes', classes, '--then');
    expect(ran.code, ran.err).to.equal(0);
    const { documents } = JSON.parse(ran.out) as {
      readonly documents: readonly {
        readonly pages: readonly number[];
        readonly result?: { readonly invoice_number: string };
      }[];
    };
    expect(documents.map(({ pages, result }) => [pages, result?.invoice_number])).to.deep.equal([
      [[1], 'Q-1'],
      [[2], undefined],
      [[3], 'Q-2'],
    ]);
    const without = folder.file('lease.json', JSON.stringify([named]));
    const refused = await quire('split', 'stack.pdf', '--classes', without, '--then');
    expect([refused.code, refused.out]).to.deep.equal([2, '']);
    expect(refused.err).to.contain('no class has one');
  });

  it('takes the schema from stdin, and names the file where a line is asked for', async () => {
    const child = start(['extract', 'one.pdf', '--schema', '-', '--ndjson']);
    child.stdin?.end(SCHEMA);
    const ran = await ended(child);
    expect(ran.code, ran.err).to.equal(0);
    expect(lines(ran)[0]).to.include({ file: 'one.pdf', status: 'success' });
  });

  it('goes on past documents that fail, names each with its code, and ends with 1', async () => {
    const ran = await quire('extract', 'bad', 'one.pdf', '--schema', schema, '--jobs', '2');
    expect(ran.code).to.equal(1);
    const codes = lines(ran).map(({ file, status, error }) => [
      file,
      status ?? (error as { code: string }).code,
    ]);
    expect(codes).to.deep.equal([
      ['bad/cut.pdf', 'unreadable_file'],
      ['bad/locked.pdf', 'unreadable_file'],
      ['bad/void.txt', 'empty_file'],
      ['bad/well.txt', 'success'],
      ['one.pdf', 'success'],
    ]);
    expect(ran.err).to.contain('bad/void.txt: empty_file: The file is empty.');
    expect(ran.err).to.contain('3 of 5 documents failed.');
  });

  it('says what does not fit the schema, or gives what fits', async () => {
    const refused = await quire('extract', 'all/plain.md', '--schema', schema);
    expect(refused).to.include({ code: 1, out: '' });
    expect(refused.err).to.contain('output_schema_mismatch').and.contain('/invoice_number');
    const partial = await quire('extract', 'all/plain.md', '--schema', schema, '--allow-partial');
    expect(partial.code, partial.err).to.equal(0);
    expect(lines(partial)[0]).to.include({ status: 'partial' });
  });

  it('holds to the upload limit', async () => {
    const child = start(['to-markdown', 'one.pdf'], { MAX_UPLOAD_BYTES: '100' });
    child.stdin?.end();
    const ran = await ended(child);
    expect(ran.code).to.equal(1);
    expect(ran.err).to.contain('file_too_large');
  });

  for (const [wrong, args, told] of [
    ['no such file', ['to-markdown', 'nowhere.pdf'], 'nowhere.pdf'],
    ['no file at all', ['to-markdown'], 'path'],
    ['no schema', ['extract', 'one.pdf'], '--schema'],
    ['no such schema', ['extract', 'one.pdf', '--schema', 'nowhere.json'], 'nowhere.json'],
    ['a schema that is no JSON', ['extract', 'one.pdf', '--schema', 'one.pdf'], 'not JSON'],
    ['an unknown mode', ['to-markdown', 'one.pdf', '--mode', 'best'], 'best'],
    ['no jobs', ['to-markdown', 'one.pdf', '--jobs', '0'], '1 to 64'],
  ] as const)
    it(`ends with 2: ${wrong}`, async () => {
      const ran = await quire(...args);
      expect(ran).to.include({ code: 2, out: '' });
      expect(ran.err).to.contain(told);
    });

  it('ends with 2 for a schema that is none, before a document is read', async () => {
    put('list.json', '{"type":"array"}');
    const ran = await quire('extract', 'bad', '--schema', 'list.json');
    expect(ran).to.include({ code: 2, out: '' });
    expect(ran.err).to.contain('"type": "object"').and.not.contain('cut.pdf');
  });

  it('stops at Ctrl-C with whole lines, and leaves no process behind', async () => {
    const many = Array.from({ length: 60 }, (_, n) => `many/${String(n).padStart(2, '0')}.pdf`);
    for (const name of many) put(name, plainPdf(Array.from({ length: 90 }, (_, n) => `line ${n}`)));
    const child = start(['to-markdown', 'many', '--json', '--jobs', '1']);
    child.stdin?.end();
    const run = ended(child);
    await once(child.stdout!, 'data');
    // A terminal sends it to the whole group.
    process.kill(-child.pid!, 'SIGINT');
    const ran = await run;
    expect(ran.code, ran.err).to.equal(130);
    expect(ran.err).to.match(/Stopped: \d+ of 60 documents were read/);
    for (const line of lines(ran)) expect(line).to.include.keys('file', 'markdown');
    expect(livingIn(child.pid!), 'children of the ended command').to.deep.equal([]);
  });

  it('explains itself with examples', async () => {
    for (const command of ['to-markdown', 'extract']) {
      const help = await quire(command, '--help');
      expect(help.code).to.equal(0);
      expect(help.out).to.contain('Examples:').and.contain('Exit codes');
    }
  });
});

describe('names of answers', () => {
  const names = (...below: readonly string[]): readonly string[] =>
    answerNames(
      below.map((one) => ({ path: one, below: one, bytes: 1 })),
      '.md',
    );

  it('keep the folders and change the extension', () => {
    expect(names('x.pdf', 'a/x.pdf', 'a/none')).to.deep.equal(['x.md', 'a/x.md', 'a/none.md']);
  });
  it('keep the extension too where two would be the same, by any case', () => {
    expect(names('x.pdf', 'X.docx', 'y.txt')).to.deep.equal(['x.pdf.md', 'X.docx.md', 'y.md']);
  });
  it('are numbered where even that is the same', () => {
    expect(names('x.pdf', 'x.pdf')).to.deep.equal(['x.pdf.md', 'x.pdf-2.md']);
  });
});
