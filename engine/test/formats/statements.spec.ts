import { expect } from 'chai';
import { markdownOf } from '../../document/markdown.ts';
import { extract } from '../../extraction/extract.ts';
import { readText } from '../support/readText.ts';

const read = (text: string) => readText(text, 'a.ofx');

const SGML = `OFXHEADER:100
DATA:OFXSGML

<OFX>
<SIGNONMSGSRSV1><SONRS><DTSERVER>20310705<FI><ORG>Harbour &amp; Hill<FID>1001</FI></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD
<BANKACCTFROM><BANKID>121099999<ACCTID>999988<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20310601<DTEND>20310630000000
<STMTTRN><TRNTYPE>CHECK<DTPOSTED>20310604<TRNAMT>-200.00<FITID>2<NAME>Lind Joinery<MEMO>
</STMTTRN>
<STMTTRN><TRNTYPE>ATM<DTPOSTED>20310620093000[-5:EST]<TRNAMT>-300.00<FITID>3<NAME>Main St</STMTTRN>
</BANKTRANLIST>
<LEDGERBAL><BALAMT>200.29<DTASOF>20310630</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
`;

const MARKDOWN = [
  '# Account statement',
  'Bank: Harbour & Hill',
  'Currency: USD',
  'Bank code: 121099999',
  'Account number: 999988',
  'Account type: CHECKING',
  'Period start: 2031-06-01',
  'Period end: 2031-06-30',
  'Closing balance: 200.29',
  'Closing balance date: 2031-06-30',
  '| Date | Type | Payee | Amount | Transaction ID |\n| --- | --- | --- | --- | --- |\n' +
    '| 2031-06-04 | CHECK | Lind Joinery | -200.00 | 2 |\n' +
    '| 2031-06-20 09:30 -5:EST | ATM | Main St | -300.00 | 3 |',
];

/** The same with every value closed, as version 2 has it. */
const XML = SGML.replace(/^[^<]*/, '<?xml version="1.0"?>\n<?OFX OFXHEADER="200" VERSION="211"?>\n')
  .replace('<MEMO>\n', '')
  .replace(/<(\w+)>([^<\n]+)/g, '<$1>$2</$1>');

describe('statements that banks export (OFX)', () => {
  it('are labels and values, and a table of movements', async () => {
    const document = await read(SGML);
    expect(document.mimeType).to.equal('application/x-ofx');
    expect(markdownOf(document).trim().split('\n\n')).to.deep.equal(MARKDOWN);
  });

  it('read the same in XML', async () => {
    expect(
      markdownOf(await read(XML))
        .trim()
        .split('\n\n'),
    ).to.deep.equal(MARKDOWN);
  });

  it('name signs by their numbers, and leave numbers of none as they are', async () => {
    const text = '<OFX><STMTRS><CURDEF>USD<STMTTRN><NAME>Caf&#233; &#xE9;t&#xE9; &#9999999; &lt;3';
    const table = (await read(text)).pages[0]?.blocks.at(-1);
    const cells = table?.kind === 'table' ? table.cells.map((cell) => cell.text) : [];
    expect(cells).to.deep.equal(['Payee', 'Café été &#9999999; <3']);
  });

  it('are extracted by a schema', async () => {
    const text = { type: 'string' };
    const date = { type: 'string', format: 'date' };
    const members = { date, amount: { type: 'number' }, payee: text };
    const { value } = extract(await read(SGML), {
      type: 'object',
      properties: {
        bank: text,
        account_number: text,
        period_end: date,
        closing_balance: { type: 'number' },
        transactions: { type: 'array', items: { type: 'object', properties: members } },
      },
    });
    expect(value).to.deep.equal({
      bank: 'Harbour & Hill',
      account_number: '999988',
      period_end: '2031-06-30',
      closing_balance: 200.29,
      transactions: [
        { date: '2031-06-04', amount: -200, payee: 'Lind Joinery' },
        { date: '2031-06-20', amount: -300, payee: 'Main St' },
      ],
    });
  });

  it('that hold no account, or never end, are read as far as they go', async () => {
    const other = 'OFXHEADER:100\n<OFX><INVSTMTMSGSRSV1>Shares';
    expect((await read(other)).mimeType).to.equal('text/plain');
    expect((await read('OFXHEADER:100\n<OFX>' + '<STMTRS>'.repeat(10_000))).mimeType).to.equal('text/plain');
    expect(markdownOf(await read('<OFX><STMTRS><CURDEF>USD<STMTTRN><TRNAMT>1'))).to.equal(
      '# Account statement\n\nCurrency: USD\n\n| Amount |\n| --- |\n| 1 |\n',
    );
  });
});
