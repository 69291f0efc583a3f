import { expect } from 'chai';
import { openDocx } from '../../formats/docx/openDocx.ts';
import { documentBy, docx, markdownBy, openedBy, p, r } from '../support/officeFiles.ts';

const body = p('before') + '<w:altChunk r:id="c"/>' + p('after');
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const around = (name: string, content: Uint8Array): Buffer => docx({ body, chunks: { c: [name, content] } });
const markdown = (name: string, content: Uint8Array): Promise<string> =>
  markdownBy(openDocx, around(name, content));

describe('documents inside Word documents', () => {
  const mail =
    'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="x"\r\n\r\n--x\r\n' +
    'Content-Type: text/html; charset="utf-8"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n' +
    '<html><body><p>caf=C3=A9 <b>bold</b></p></body></html>\r\n--x--\r\n';
  const kinds: readonly (readonly [string, Uint8Array, string])[] = [
    ['a.htm', bytes('<html><body><h2>Head</h2><p>web</p></body></html>'), '## Head\n\nweb'],
    ['a.mht', bytes(mail), 'café **bold**'],
    ['a.rtf', bytes(String.raw`{\rtf1\ansi rich {\b text}\par}`), 'rich **text**'],
    ['a.txt', bytes('one\r\ntwo'), 'one\n\ntwo'],
    ['a.docx', docx({ body: p('inner') }), 'inner'],
  ];
  for (const [name, content, text] of kinds)
    it(`stand where they are called: ${name}`, async () => {
      expect(await markdown(name, content)).to.equal(`before\n\n${text}\n\nafter\n`);
    });

  it('have their notes behind them, counted by themselves', async () => {
    const inner = docx({
      body: p(r('a') + '<w:r><w:footnoteReference w:id="7"/></w:r>'),
      footnotes: `<w:footnote w:id="7">${p('Why.')}</w:footnote>`,
    });
    expect(await markdown('a.docx', inner)).to.equal('before\n\na¹\n\n¹ Why.\n\nafter\n');
  });

  it('say of hidden text', async () => {
    const inner = docx({ body: p(r('seen') + r(' not', '<w:vanish/>')) });
    const document = await documentBy(openDocx, around('a.docx', inner));
    expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
  });

  it('are said once, however often they are called', async () => {
    const calls = '<w:altChunk r:id="c"/>'.repeat(100_000);
    const file = docx({ body: calls + p('after'), chunks: { c: ['a.txt', bytes('once')] } });
    expect(await markdownBy(openDocx, file)).to.equal('once\n\nafter\n');
  });

  it('are left out where they are missing', async () => {
    expect(await markdownBy(openDocx, docx({ body }))).to.equal('before\n\nafter\n');
  });
});

describe('documents inside Word documents that no people make', () => {
  const nested = (depth: number): Buffer =>
    depth === 0 ? docx({ body: p('deep') }) : around('a.docx', nested(depth - 1));
  /** Grows to a hundred times its size. */
  const large = docx({ body: p('a'.repeat(4_000_000)) });
  const bomb = docx({
    body,
    chunks: Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`c${index}`, [`${index}.docx`, large]] as const),
    ),
  });
  const files: readonly (readonly [string, Buffer, RegExp])[] = [
    ['nested too deeply', nested(50), /nested too deeply/],
    ['that grow beyond the limit together', bomb, /grows to more than/],
    ['that are damaged', around('a.docx', docx({ body }).subarray(0, 200)), /another one that is damaged/],
    ['of a kind that is none', around('a.bin', Buffer.from([0, 1, 2, 3])), /of a kind/],
  ];
  for (const [name, file, detail] of files)
    it(`are refused: ${name}`, async () => {
      const opened = await openedBy(openDocx, file);
      expect(opened).to.include({ kind: 'unreadable' });
      expect(opened).to.have.property('detail').that.matches(detail);
    });

  it('are read three deep', async () => {
    expect(await markdownBy(openDocx, nested(3))).to.contain('deep');
  });
});
