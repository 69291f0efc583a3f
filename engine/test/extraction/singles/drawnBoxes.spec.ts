import { expect } from 'chai';
import { openPdf } from '../../../formats/pdf/readPdf.ts';
import type { Json } from '../../../kernel/json.ts';
import { documentBy } from '../../support/officeFiles.ts';
import { drawnPdf } from '../../support/pdfs.ts';
import { valueOf } from '../parts/asked.ts';

type Draw = (x: number, y: number) => string;

const square: Draw = (x, y) => `${x} ${y} 9 9 re S`;
const write = (x: number, y: number, text: string): string => `BT /F1 10 Tf ${x} ${y + 1} Td (${text}) Tj ET`;
const round = (r: number, paint: string): Draw => {
  return (left, bottom) => {
    const [x, y, k] = [left + 4.5, bottom + 4.5, 0.552 * r];
    return (
      `${x + r} ${y} m ${x + r} ${y + k} ${x + k} ${y + r} ${x} ${y + r} c ` +
      `${x - k} ${y + r} ${x - r} ${y + k} ${x - r} ${y} c ${x - r} ${y - k} ${x - k} ${y - r} ${x} ${y - r} c ` +
      `${x + k} ${y - r} ${x + r} ${y - k} ${x + r} ${y} c h ${paint}`
    );
  };
};

/** How a box looks that is empty, and one that is ticked. */
const LOOKS: Readonly<Record<string, readonly [empty: Draw, ticked: Draw]>> = {
  'a cross from corner to corner': [
    square,
    (x, y) => `${square(x, y)} ${x} ${y} m ${x + 9} ${y + 9} l S ${x} ${y + 9} m ${x + 9} ${y} l S`,
  ],
  'a tick that reaches out': [
    square,
    (x, y) => `${square(x, y)} ${x + 2} ${y + 5} m ${x + 4} ${y + 2} l ${x + 11} ${y + 12} l S`,
  ],
  'the letter X': [square, (x, y) => `${square(x, y)} ${write(x + 1.2, y, 'X')}`],
  'a smaller square': [square, (x, y) => `${square(x, y)} ${x + 2} ${y + 2} 5 5 re f`],
  'ink from side to side': [square, (x, y) => `${x} ${y} 9 9 re f`],
  'a cross, of four lines': [
    (x, y) =>
      `${x} ${y} m ${x + 9} ${y} l S ${x + 9} ${y} m ${x + 9} ${y + 9} l S ` +
      `${x} ${y + 9} m ${x + 9} ${y + 9} l S ${x} ${y} m ${x} ${y + 9} l S`,
    (x, y) =>
      `${square(x, y)} ${x + 2} ${y + 2} m ${x + 7} ${y + 7} l ${x + 2} ${y + 7} m ${x + 7} ${y + 2} l S`,
  ],
  'a cross on white that lies on black': [
    (x, y) => `${x} ${y} 9 9 re f 1 g ${x + 0.7} ${y + 0.7} 7.6 7.6 re f 0 g`,
    (x, y) => `${x} ${y} 9 9 re f 1 g ${x + 0.7} ${y + 0.7} 7.6 7.6 re f 0 g ${write(x + 1.2, y, 'X')}`,
  ],
  'a point, round': [round(4.5, 'S'), (x, y) => `${round(4.5, 'S')(x, y)} ${round(2.2, 'f')(x, y)}`],
};

const yes = { type: 'boolean' };
const berth = { type: 'string', enum: ['Quay', 'Mooring buoy', 'Dry dock'] };

const read = async (content: readonly string[], properties: Record<string, Json>): Promise<Json> =>
  valueOf(await documentBy(openPdf, drawnPdf(content.join('\n'))), properties);

describe('boxes that are drawn', () => {
  for (const [look, [empty, ticked]] of Object.entries(LOOKS)) {
    it(`are ticked by ${look}: one of several in a line`, async () => {
      const row = (on: number): readonly string[] => [
        write(40, 700, 'Berth'),
        ...[100, 160, 260].map((x, i) => (i === on ? ticked : empty)(x, 700)),
        ...['Quay', 'Mooring buoy', 'Dry dock'].map((text, i) => write([112, 172, 272][i] ?? 0, 700, text)),
        write(40, 640, 'Name: Ada Low'),
      ];
      expect(await read(row(1), { berth })).to.deep.equal({ berth: 'Mooring buoy' });
      expect(await read(row(2), { berth })).to.deep.equal({ berth: 'Dry dock' });
      expect(await read(row(-1), { berth })).to.deep.equal({});
    });

    it(`are ticked by ${look}: yes or no by the text beside them`, async () => {
      const page = [
        ticked(40, 700),
        write(54, 700, 'Insured against fire'),
        empty(40, 680),
        write(54, 680, 'Licensed for passengers'),
        write(40, 640, 'Name: Ada Low'),
      ];
      const asked = { insured_against_fire: yes, licensed_for_passengers: yes };
      expect(await read(page, asked)).to.deep.equal({
        insured_against_fire: true,
        licensed_for_passengers: false,
      });
    });
  }

  it('stand behind their texts', async () => {
    const [empty, ticked] = LOOKS['the letter X'] ?? [square, square];
    const page = [
      write(40, 700, 'Insured'),
      ticked(90, 700),
      write(140, 700, 'Licensed'),
      empty(190, 700),
      write(40, 640, 'Name: Ada Low'),
    ];
    expect(await read(page, { insured: yes, licensed: yes })).to.deep.equal({
      insured: true,
      licensed: false,
    });
  });

  it('belong to the heading of their column where two have the same choices', async () => {
    const [empty, ticked] = LOOKS['the letter X'] ?? [square, square];
    const state = { type: 'string', enum: ['good', 'worn', 'missing'] };
    const column = (x: number, title: string, on: number): readonly string[] => [
      write(x, 700, title),
      ...['good', 'worn', 'missing'].flatMap((text, i) => [
        (i === on ? ticked : empty)(x, 682 - 16 * i),
        write(x + 14, 682 - 16 * i, text),
      ]),
    ];
    const page = [...column(40, 'Rudder', 1), ...column(240, 'Anchor', 2)];
    expect(await read(page, { rudder: state, anchor: state })).to.deep.equal({
      rudder: 'worn',
      anchor: 'missing',
    });
  });

  it('are several of a list where several are ticked', async () => {
    const [empty, ticked] = LOOKS['a cross from corner to corner'] ?? [square, square];
    const page = [
      write(40, 700, 'Services'),
      ticked(100, 700),
      write(112, 700, 'Water'),
      empty(160, 700),
      write(172, 700, 'Power'),
      ticked(220, 700),
      write(232, 700, 'Crane'),
      write(40, 640, 'Name: Ada Low'),
    ];
    const services = { type: 'array', items: { type: 'string', enum: ['water', 'power', 'crane'] } };
    expect(await read(page, { services })).to.deep.equal({ services: ['water', 'crane'] });
  });

  it('are no places of letters, no lists and no squares without a text', async () => {
    const comb = [0, 1, 2, 3].map((i) => square(100 + 9 * i, 700));
    const page = [
      write(40, 700, 'Code'),
      ...comb,
      ...[0, 1].map((i) => `40 ${670 - 16 * i} 5 5 re f ${write(50, 669 - 16 * i, 'Entry of a list')}`),
      square(300, 500),
      `0.2 0.4 0.9 rg 40 600 9 9 re B 0 g ${write(54, 600, 'Part of a chart')}`,
    ];
    const document = await documentBy(openPdf, drawnPdf(page.join('\n')));
    expect(document.pages.flatMap(({ lines }) => lines.map(({ text }) => text)).join(' ')).not.to.match(
      /[☐☒]/u,
    );
  });
});
