import { expect } from 'chai';
import { isGarbled } from '../../../formats/pdf/garbled.ts';
import { readFileAsDocument } from '../../../formats/readDocument.ts';
import type { Document } from '../../../document/document.ts';
import type { ParseEffort } from '../../../ports/documentParser.ts';
import { pagedPdf } from '../../bench/pagedPdf.ts';

const garbled = (text: string): boolean => isGarbled(text.split(' ').map((word) => ({ text: word })));

describe('a text layer whose letters mean nothing', () => {
  const meaningless = [
    "?@''-/ ?/&'-3 ?&'-@ )(*&^ %$#",
    'fiThff- / ff %,-0fffi0 fffffifi ff',
    '\ue001\ue002\ue003 \ue004\ue005 abc',
    '\ufffd\ufffd\ufffd\ufffd text',
  ];
  for (const text of meaningless)
    it(`is noticed: ${JSON.stringify(text)}`, () => expect(garbled(text)).to.equal(true));

  const meant = [
    'The quick brown fox',
    'Angstschweiß, Hrsg. bzgl. GmbH Nr. 7',
    '1. Introduction ............................ 12',
    'Name ______________________ Date ____________',
    '12.50 -3.00 (4.10) 99 % $1,000.00',
    'Schifffahrt www.example.com III. Kapitel',
    'П р и в е т',
    '日本語の文章です',
    '☐ ☐ ☒',
    '* * * * * *',
    '',
  ];
  for (const text of meant)
    it(`is not seen in ${JSON.stringify(text)}`, () => expect(garbled(text)).to.equal(false));

  const PROSE =
    'The letters of this text are those that its font says, and so they come in the shares in which people write ' +
    'them; where every letter stands for another one, the vowels are missing, and nothing can be made of the page. ' +
    'Such files come from programs that number the letters of a font as they first meet them in the document.';
  const exchanged = PROSE.replace(/[a-z]/g, (letter) =>
    String.fromCharCode(97 + ((letter.charCodeAt(0) - 97 + 3) % 26)),
  );

  it('is noticed where each letter stands for another', () => {
    expect([garbled(PROSE), garbled(exchanged)]).to.deep.equal([false, true]);
  });

  it('is not seen in languages with many consonants, nor in codes', () => {
    const czech =
      'Strč prst skrz krk, řekla čtvrtá vrstva zmrzliny, když přišel jaro a všechny smlouvy byly podepsány. ';
    expect(garbled(czech.repeat(4))).to.equal(false);
    expect(garbled('BCDFG-1234 KLMNP-5678 RSTVW-9012 '.repeat(20))).to.equal(false);
  });

  const read = async (effort: ParseEffort, texts: readonly string[]): Promise<Document> => {
    const lines = texts.map((text) => text.match(/.{1,80}/g) ?? []);
    const contents = lines.map((own) =>
      own.map((text, i) => `BT /F1 10 Tf 40 ${700 - 14 * i} Td (${text}) Tj ET`).join('\n'),
    );
    const input = { fileName: null, effort, pagesMax: 9, languages: ['eng'] };
    const result = await readFileAsDocument({ bytes: pagedPdf(contents), ...input });
    if (result.kind !== 'ok') throw new Error(result.kind);
    return result.document;
  };

  it('is said of its page, and warned of', async () => {
    const { pages, warnings } = await read('fast', [PROSE, exchanged]);
    expect(pages[0]?.detail).to.equal(null);
    expect(pages[1]?.detail).to.match(/seem to mean nothing/);
    expect(warnings.map(({ code }) => code)).to.deep.equal(['garbled_text']);
    expect(warnings[0]?.message).to.match(/on page 2: its text is as the text layer has it/);
  });

  it('is warned of where the page was recognised', async () => {
    const { pages, warnings } = await read('standard', [exchanged]);
    expect(pages[0]).to.include({ source: 'ocr', status: 'ok' });
    expect(warnings.map(({ code }) => code)).to.deep.equal(['garbled_text']);
    expect(warnings[0]?.message).to.match(/on page 1: what the page shows was recognised/);
  });
});
