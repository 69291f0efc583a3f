import { expect } from 'chai';
import iconv from 'iconv-lite';
import { openDoc } from '../../formats/doc/openDoc.ts';
import { plainTextOf } from '../../document/plainText.ts';
import { documentBy, markdownBy, openedBy } from '../support/officeFiles.ts';
import { compoundFile, wordFile, type WordContent, type WordParagraph } from '../support/wordFiles.ts';

const markdown = (content: WordContent): Promise<string> => markdownBy(openDoc, wordFile(content));
const p = (text: string, more: Omit<WordParagraph, 'runs'> = {}): WordParagraph => ({
  runs: [{ text }],
  ...more,
});
const IN_TABLE = [0x16, 0x24, 1];
const cell = (text: string): WordParagraph => p(text, { mark: '\u0007', modifiers: IN_TABLE });
const twips = (value: number): readonly number[] => [value & 0xff, value >> 8];

/** The mark of a row: the edges of its cells, and the merge flags of the first ones. */
function rowEnd(edges: readonly number[], flags: readonly number[]): WordParagraph {
  const cells = flags.flatMap((flag) => [...twips(flag), ...Array<number>(18).fill(0)]);
  const value = [edges.length - 1, ...edges.flatMap(twips), ...cells];
  const definition = [0x08, 0xd6, ...twips(value.length + 1), ...value];
  return p('', { mark: '\u0007', modifiers: [...IN_TABLE, 0x17, 0x24, 1, ...definition] });
}

describe('Word 97 documents', () => {
  it('have headings by the number, the outline level or the name of their styles', async () => {
    const styles = [
      { name: 'Normal' },
      { name: 'Rubrik', builtIn: 1 },
      { name: 'Own', base: 1 },
      { name: 'Clause', modifiers: [0x40, 0x26, 2] },
      { name: 'Titel' },
    ];
    const paragraphs = [
      p('Report', { style: 4 }),
      p('One', { style: 1 }),
      p('Two', { style: 2 }),
      p('Three', { style: 3 }),
      p('Four', { modifiers: [0x40, 0x26, 1] }),
      p('text'),
    ];
    expect(await markdown({ styles, paragraphs })).to.equal(
      '# Report\n\n## One\n\n## Two\n\n#### Three\n\n### Four\n\ntext\n',
    );
  });

  it('have lists with their numbers', async () => {
    const item = (text: string): WordParagraph => p(text, { modifiers: [0x0b, 0x46, 1, 0, 0x0a, 0x26, 0] });
    expect(await markdown({ list: '\u0000.', paragraphs: [item('a'), item('b'), p('c')] })).to.equal(
      '1. a\n2. b\n\nc\n',
    );
    expect(await markdown({ list: '§\u0000', paragraphs: [item('a'), item('b')] })).to.equal(
      '- §1 a\n- §2 b\n',
    );
  });

  it('have emphasis, links and raised digits', async () => {
    const paragraphs = [
      {
        runs: [
          { text: 'a ' },
          { text: 'bold', modifiers: [0x35, 0x08, 1] },
          { text: ' 10' },
          { text: '3', modifiers: [0x48, 0x2a, 1] },
          { text: ' \u0013HYPERLINK "https://a.example/"\u0014here\u0015.' },
        ],
      },
    ];
    expect(await markdown({ paragraphs })).to.equal('a **bold** 10³ [here](https://a.example/).\n');
  });

  it('leave white text on white out, and no other', async () => {
    const white = [0x70, 0x68, 0xff, 0xff, 0xff, 0];
    const textOf = async (
      modifiers: readonly number[],
      paragraph: readonly number[] = [],
    ): Promise<string> => {
      const runs = [{ text: 'seen' }, { text: ' white', modifiers }];
      return plainTextOf(
        await documentBy(openDoc, wordFile({ paragraphs: [{ runs, modifiers: paragraph }] })),
      );
    };
    expect(await textOf(white)).to.equal('seen\n');
    expect(await textOf([0x42, 0x2a, 8])).to.equal('seen\n');
    expect(await textOf([0x42, 0x2a, 2])).to.equal('seen white\n');
    expect(await textOf([...white, 0x0c, 0x2a, 2])).to.equal('seen white\n');
    expect(await textOf(white, [0x2d, 0x44, 0x40, 0x01])).to.equal('seen white\n');
  });

  it('leave deleted and hidden text out, and say of hidden text only', async () => {
    const paragraphs = (modifiers: readonly number[]): readonly WordParagraph[] => [
      { runs: [{ text: 'seen' }, { text: ' not', modifiers }] },
    ];
    const hidden = await documentBy(openDoc, wordFile({ paragraphs: paragraphs([0x3c, 0x08, 1]) }));
    expect(plainTextOf(hidden)).to.equal('seen\n');
    expect(hidden.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
    const deleted = await documentBy(openDoc, wordFile({ paragraphs: paragraphs([0x00, 0x08, 1]) }));
    expect(plainTextOf(deleted)).to.equal('seen\n');
    expect(deleted.warnings).to.deep.equal([]);
  });

  it('have tables with cells that span columns and rows', async () => {
    const paragraphs = [
      p('before'),
      cell('a'),
      cell('b'),
      cell('c'),
      rowEnd([0, 1000, 2000, 3000], []),
      cell('up'),
      cell('wide'),
      rowEnd([0, 1000, 3000], [0x60]),
      cell(''),
      cell('d'),
      cell('e'),
      rowEnd([0, 1000, 2000, 3000], [0x20]),
      p('after'),
    ];
    expect(await markdown({ paragraphs })).to.equal(
      'before\n\n| a | b | c |\n| --- | --- | --- |\n| up | wide | wide |\n| up | d | e |\n\nafter\n',
    );
  });

  it('have their notes at the end', async () => {
    const paragraphs = [p('one\u0002 and two\u0002.')];
    expect(await markdown({ paragraphs, notes: ['First.', 'Second.'] })).to.equal(
      'one[^1] and two[^2].\n\n[^1]: First.\n\n[^2]: Second.\n',
    );
  });
});

/** A file of Word 6 or 95 of one text, as it was saved at once or, with `parts`, in pieces. */
function oldWordFile(text: string, { flags = 0, language = 0x0409, parts = 1 } = {}): Buffer {
  const bytes = iconv.encode(text, language === 0x0419 ? 'windows-1251' : 'windows-1252');
  const main = Buffer.alloc(0x1000);
  main.writeUInt16LE(0xa5dc, 0);
  main.writeUInt16LE(0x68, 2);
  main.writeUInt16LE(language, 0x06);
  main.writeUInt16LE(flags | (parts > 1 ? 0x0004 : 0), 0x0a);
  main.writeUInt32LE(0x300, 0x18);
  main.writeUInt32LE(bytes.length, 0x34);
  if (parts === 1) bytes.copy(main, 0x300);
  else piecesInReverse(main, bytes, parts);
  return compoundFile({ worddocument: main });
}

/** The pieces of a text stand in the file from the last to the first; a table says where each is. */
function piecesInReverse(main: Buffer, bytes: Buffer, parts: number): void {
  const length = Math.ceil(bytes.length / parts);
  const starts = Array.from({ length: parts }, (_, index) => index * length);
  const table = Buffer.alloc((parts + 1) * 4 + parts * 8);
  let at = 0x300;
  for (const index of starts.keys()) table.writeUInt32LE(index * length, index * 4);
  table.writeUInt32LE(bytes.length, parts * 4);
  for (const [index, start] of [...starts.entries()].reverse()) {
    table.writeUInt32LE(at, (parts + 1) * 4 + index * 8 + 2);
    at += bytes.copy(main, at, start, start + length);
  }
  const clx = Buffer.concat([Buffer.from([1, 2, 0, 9, 9, 2, 0, 0, 0, 0]), table]);
  clx.writeUInt32LE(table.length, 6);
  clx.copy(main, 0x800);
  main.writeUInt32LE(0x800, 0x160);
  main.writeUInt32LE(clx.length, 0x164);
}

describe('Word 6 and Word 95 documents', () => {
  const old = (...file: Parameters<typeof oldWordFile>): Promise<string> =>
    markdownBy(openDoc, oldWordFile(...file));

  it('have their paragraphs, in the letters of their language', async () => {
    expect(await old('Zürich\rtwo\u000blines\r')).to.equal('Zürich\n\ntwo\nlines\n');
    expect(await old('Привет\r', { language: 0x0419 })).to.equal('Привет\n');
  });

  it('are put together from their pieces', async () => {
    expect(await old('one and two and three\r', { parts: 3 })).to.equal('one and two and three\n');
  });

  it('have their tables, also with empty cells, and the results of their fields', async () => {
    const table = 'a\u0007b\u0007\u0007\u0007x\u0007\u0007';
    expect(await old(`before\r${table}after \u0013PAGE \u001412\u0015\r`)).to.equal(
      'before\n\n| a | b |\n| --- | --- |\n|  | x |\n\nafter 12\n',
    );
  });

  it('are refused when encrypted, and never crash for a changed byte', async () => {
    expect(await openedBy(openDoc, oldWordFile('a', { flags: 0x0100 }))).to.include({ kind: 'unreadable' });
    const whole = oldWordFile('some text\r', { parts: 2 });
    for (let at = 30; at < whole.length; at += 7) {
      const changed = Buffer.from(whole);
      changed.writeUInt8((changed.readUInt8(at) + 101) & 0xff, at);
      const opened = await openedBy(openDoc, changed);
      if ('kind' in opened) expect(opened.kind).to.equal('unreadable');
    }
  });
});

describe('Word 97 files that cannot be read', () => {
  const whole = wordFile({ paragraphs: [p('text')] });
  const circular = Buffer.from(whole);
  circular.writeUInt32LE(2, 512 + 2 * 4);
  const files: readonly (readonly [string, Buffer, RegExp])[] = [
    ['encrypted', wordFile({ paragraphs: [p('a')], flags: 0x0300 }), /password/],
    ['of Word 2', wordFile({ paragraphs: [p('a')], version: 0x65 }), /Word 2/],
    ['of another program', compoundFile({ Contents: Buffer.alloc(10) }), /damaged/],
    ['cut off', whole.subarray(0, 700), /damaged/],
    ['empty but for their header', whole.subarray(0, 512), /damaged/],
    ['of sectors that go round', circular, /damaged/],
  ];
  for (const [name, bytes, detail] of files)
    it(`are refused when ${name}`, async () => {
      const opened = await openedBy(openDoc, bytes);
      expect(opened).to.include({ kind: 'unreadable' });
      expect(opened).to.have.property('detail').that.matches(detail);
    });

  it('never crash for a changed byte', async () => {
    for (let at = 30; at < whole.length; at += 37) {
      const changed = Buffer.from(whole);
      changed.writeUInt8((changed.readUInt8(at) + 101) & 0xff, at);
      const opened = await openedBy(openDoc, changed);
      if ('kind' in opened) expect(opened.kind).to.equal('unreadable');
    }
  });
});
