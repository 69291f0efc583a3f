import type { Document } from '../../document/document.ts';
import { markdownDocument } from '../../formats/text/markdownDocument.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { laidOut } from '../support/laidOut.ts';

/** A document, and what is asked of it. */
interface WhyCase {
  readonly document: Document;
  readonly properties: JsonObject;
}

const TEXT = { type: 'string' } as const;
const DATE = { type: 'string', format: 'date' } as const;
const AMOUNT = { type: 'number' } as const;
const rowsOf = (properties: JsonObject): JsonObject => ({
  type: 'array',
  items: { type: 'object', properties },
});

const INVOICE = laidOut([
  [
    [40, 40, 'Norlund Pumps Ltd'],
    [40, 54, '12 Harbour Road, Leith'],
    [360, 40, 'Invoice number:'],
    [460, 40, 'LF-4711'],
    [360, 54, 'Invoice date:'],
    [460, 54, '14 March 2031'],
    [360, 68, 'Due date:'],
    [460, 68, '13 April 2031'],
    [40, 110, 'Bill to'],
    [40, 124, 'Castor & Pollux GmbH'],
    [40, 138, 'Lindenweg 5, 10115 Berlin'],
    [40, 190, 'Description'],
    [260, 190, 'Quantity'],
    [360, 190, 'Unit price'],
    [520, 190, 'Amount', 'right'],
    [40, 206, 'Impeller 80 mm'],
    [260, 206, '2'],
    [360, 206, '40.00'],
    [520, 206, '80.00', 'right'],
    [40, 222, 'Gasket set'],
    [260, 222, '5'],
    [360, 222, '4.00'],
    [520, 222, '20.00', 'right'],
    [360, 260, 'Net total'],
    [520, 260, '100.00', 'right'],
    [360, 276, 'VAT 20 %'],
    [520, 276, '20.00', 'right'],
    [360, 292, 'Total EUR'],
    [520, 292, '120.00', 'right'],
    [40, 330, 'IBAN: DE89 3704 0044 0532 0130 00'],
  ],
]);

const FORM = textDocument(
  [
    'VESSEL REGISTRATION',
    '',
    'Name of owner: Ida Brandt',
    'Hull number: 30912',
    'Home port: Esbjerg',
    'Engine: ☐ petrol ☒ diesel ☐ none',
    'Length overall (m): 11.4',
    'Insured from 1 July 2031 to 30 June 2032',
    'Received by the Registry 3/14/2031',
  ].join('\n'),
);

const LETTER = textDocument(
  [
    'Alder & Finch LLP',
    '8 Quay Street, Cardiff',
    '',
    'Ms Rosa Lindqvist',
    '4 Mill Lane',
    'Bristol BS1 4QA',
    '',
    'Cardiff, 3 May 2031',
    '',
    'Dear Ms Lindqvist,',
    '',
    'Thank you for your offer of 18 April. We accept it as it stands, and expect the keys by the end of the month.',
    '',
    'Yours sincerely,',
    '',
    'Owen Pryce',
    'Managing Partner',
  ].join('\n'),
);

const CONTRACT = textDocument(
  [
    'MUTUAL NON-DISCLOSURE AGREEMENT',
    '',
    'This Agreement is entered into as of 2 February 2031 by and between Kestrel Optics Inc., a Delaware corporation ' +
      '(the "Discloser"), and Moorland Data Ltd, a company registered in England (the "Recipient").',
    '',
    'The obligations of this Agreement shall survive for a period of three (3) years after the date on which it was ' +
      'signed by both of the parties that are named above.',
    '',
    'This Agreement shall be governed by and construed in accordance with the laws of the State of New York, without ' +
      'regard to the principles of conflict of laws that would otherwise apply to it.',
  ].join('\n'),
);

const PAPER = markdownDocument(
  [
    '# Peat Moss in Upland Streams',
    '',
    'Ada Low, Bo Quill',
    '',
    'Abstract. Peatlands are drained in many places, and the streams below them carry more moss than they did before.',
    '',
    '## References',
    '',
    '[1] Moor, C. and Low, A. Streams after drainage. Journal of Bogs, 2019.',
    '',
    '[2] Fenn, D. Moss. Wetland Letters, 2021.',
  ].join('\n'),
);

const TABLE = markdownDocument(
  [
    '# Ferries',
    '',
    '| Ferry | Built | Cars |',
    '| --- | --- | --- |',
    '| Heron | 1998 | 40 |',
    '| Tern | 2011 | 65 |',
    '',
    'Harbours: Oban, Craignure, Tobermory',
  ].join('\n'),
);

/** Small documents of several kinds, whose offers are kept in `offers.golden.txt`. */
export const WHY_CASES = {
  'an invoice': {
    document: INVOICE,
    properties: {
      invoice_number: TEXT,
      invoice_date: DATE,
      due_date: DATE,
      seller_name: TEXT,
      buyer_name: TEXT,
      iban: TEXT,
      currency: TEXT,
      net_total: AMOUNT,
      tax_total: AMOUNT,
      grand_total: AMOUNT,
      line_items: rowsOf({ description: TEXT, quantity: AMOUNT, unit_price: AMOUNT, line_total: AMOUNT }),
    },
  },
  'a form': {
    document: FORM,
    properties: {
      owner: TEXT,
      hull_number: { type: 'integer' },
      home_port: TEXT,
      engine: { type: 'string', enum: ['petrol', 'diesel', 'none'] },
      length: AMOUNT,
      insurance_start: DATE,
      insurance_end: DATE,
      received: DATE,
      skipper: TEXT,
    },
  },
  'a letter': {
    document: LETTER,
    properties: { sender: TEXT, recipient: TEXT, date: DATE, signed_by: TEXT },
  },
  'a contract': {
    document: CONTRACT,
    properties: {
      effective_date: DATE,
      governing_law: TEXT,
      term: TEXT,
      parties: { type: 'array', items: TEXT },
    },
  },
  'a paper': {
    document: PAPER,
    properties: {
      title: TEXT,
      abstract: TEXT,
      authors: { type: 'array', items: TEXT },
      references: rowsOf({ authors: TEXT, title: TEXT, year: { type: 'integer' } }),
    },
  },
  'a table': {
    document: TABLE,
    properties: {
      title: TEXT,
      harbours: { type: 'array', items: TEXT },
      ferries: rowsOf({ ferry: TEXT, built: { type: 'integer' }, cars: { type: 'integer' } }),
    },
  },
} as const satisfies Readonly<Record<string, WhyCase>>;
