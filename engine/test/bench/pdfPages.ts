import { plainWords } from './proseWords.ts';
import { seededRandom, type Random } from '../support/random.ts';

/** Letter, in points. */
export const PAGE = { width: 612, height: 792, margin: 54 } as const;

/** Widths of Helvetica's letters in thousandths of the size, near enough to break lines. */
const widthOf = (text: string, size: number): number => {
  let units = 0;
  for (const letter of text) units += /[ijltf.,'I]/.test(letter) ? 260 : /[mwMW]/.test(letter) ? 830 : 545;
  return (units * size) / 1000;
};

interface TextAt {
  readonly x: number;
  readonly y: number;
  readonly size?: number;
  readonly font?: 'F1' | 'F2';
}

const show = (text: string, { x, y, size = 10, font = 'F1' }: TextAt): string =>
  `BT /${font} ${size} Tf ${x.toFixed(2)} ${y.toFixed(2)} Td (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`;

const sentence = (random: Random): string => {
  const words = Array.from({ length: random.between(7, 22) }, () => random.pick(plainWords));
  const text = words.join(' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

const wrapped = (text: string, width: number, size: number): readonly string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer, size) > width && line !== '') {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line === '' ? lines : [...lines, line];
};

interface Frame {
  readonly x: number;
  readonly width: number;
  /** From the bottom of the page, as PDF counts. */
  readonly top: number;
  readonly bottom: number;
}

/** Headings, paragraphs and now and then a list, until the frame is full. */
function proseIn(frame: Frame, random: Random): readonly string[] {
  const drawn: string[] = [];
  let y = frame.top;
  const line = (
    text: string,
    at: { readonly size?: number; readonly font?: 'F1' | 'F2'; readonly in?: number },
  ) => {
    const size = at.size ?? 10;
    drawn.push(show(text, { x: frame.x + (at.in ?? 0), y, size, font: at.font ?? 'F1' }));
    y -= size * 1.25;
  };
  for (let part = 0; y > frame.bottom + 40; part += 1) {
    if (part % 4 === 0) {
      y -= 8;
      line(`${part / 4 + 1} ${sentence(random).slice(0, 28).trim()}`, { size: 14, font: 'F2' });
      y -= 4;
    }
    if (part % 5 === 3)
      for (let item = 0; item < 4 && y > frame.bottom; item += 1)
        line(`- ${sentence(random).slice(0, 40)}`, { in: 12 });
    else {
      const text = Array.from({ length: random.between(2, 5) }, () => sentence(random)).join(' ');
      wrapped(text, frame.width, 10).forEach((row) => {
        if (y > frame.bottom) line(row, {});
      });
    }
    y -= 7;
  }
  return drawn;
}

/** A table of goods: ruled, or lined up by space alone. */
function tableAt(
  top: number,
  rows: number,
  { random, ruled }: { readonly random: Random; readonly ruled: boolean },
): readonly string[] {
  const edges = [PAGE.margin, 120, 320, 390, 470, PAGE.width - PAGE.margin];
  const step = 16;
  const drawn: string[] = [];
  const row = (number: number, texts: readonly string[], font: 'F1' | 'F2') => {
    texts.forEach((text, column) => {
      const end = (edges[column + 1] ?? 0) - 6 - widthOf(text, 9);
      const x = column < 2 ? (edges[column] ?? 0) + 5 : end;
      drawn.push(show(text, { x, y: top - step * number - 11, size: 9, font }));
    });
  };
  row(0, ['Item', 'Description', 'Count', 'Price', 'Sum'], 'F2');
  for (let number = 1; number <= rows; number += 1) {
    const [count, price] = [random.between(1, 90), random.between(100, 99_999)];
    const money = (cents: number): string => (cents / 100).toFixed(2);
    const name = wrapped(sentence(random), 180, 9)[0] ?? '';
    row(
      number,
      [`A-${random.between(1000, 9999)}`, name, `${count}`, money(price), money(count * price)],
      'F1',
    );
  }
  if (!ruled) return drawn;
  const bottom = top - step * (rows + 1);
  for (let at = 0; at <= rows + 1; at += 1)
    drawn.push(`${PAGE.margin} ${top - step * at} m ${PAGE.width - PAGE.margin} ${top - step * at} l S`);
  for (const x of edges) drawn.push(`${x} ${top} m ${x} ${bottom} l S`);
  return drawn;
}

const FULL: Frame = { x: PAGE.margin, width: PAGE.width - 2 * PAGE.margin, top: 720, bottom: 70 };

/** Of every four pages two are of one column, one is of two columns, and one holds two tables. */
function bodyOf(page: number, random: Random): readonly string[] {
  if (page % 4 === 1) {
    const width = (FULL.width - 24) / 2;
    const right = { ...FULL, x: FULL.x + width + 24, width };
    return [...proseIn({ ...FULL, width }, random), ...proseIn(right, random)];
  }
  if (page % 4 === 3)
    return [
      ...proseIn({ ...FULL, bottom: 600 }, random),
      ...tableAt(560, 12, { random, ruled: true }),
      ...tableAt(320, 12, { random, ruled: false }),
    ];
  return proseIn(FULL, random);
}

/** Content streams of a report with a running header and page numbers; the same seed gives the same pages. */
export function reportPages(pages: number, seed = 1): readonly string[] {
  const random = seededRandom(seed);
  return Array.from({ length: pages }, (_, page) =>
    [
      show('Yearly report of the works', { x: PAGE.margin, y: 756, size: 8 }),
      ...bodyOf(page, random),
      show(`Page ${page + 1} of ${pages}`, { x: 280, y: 36, size: 8 }),
    ].join('\n'),
  );
}

/** Entries of a page of `ledgerPages`. */
const ENTRIES = 30;

/** Content streams of an account's ledger: one table, whose header stands on the first page alone. */
export function ledgerPages(pages: number, seed = 1): readonly string[] {
  const random = seededRandom(seed);
  const columns = [PAGE.margin, 140, 240, 440];
  const row = (texts: readonly string[], y: number, font: 'F1' | 'F2' = 'F1'): readonly string[] =>
    texts.map((text, column) => show(text, { x: columns[column] ?? 0, y, size: 9, font }));
  return Array.from({ length: pages }, (_, page) => {
    const rows = Array.from({ length: ENTRIES }, (_row, at) => {
      const day = new Date(Date.UTC(2020, 0, 1 + Math.floor((page * ENTRIES + at) / 2)))
        .toISOString()
        .slice(0, 10);
      const amount = (random.between(100, 999_999) / 100).toFixed(2);
      const text = random.pick(plainWords);
      return row([day, `V-${100_000 + page * ENTRIES + at}`, text, amount], 680 - 20 * at);
    });
    const head = [
      show('Ledger of the works', { x: PAGE.margin, y: 756, size: 16, font: 'F2' }),
      show('Account number: 4711-0815', { x: PAGE.margin, y: 730 }),
      ...row(['Date', 'Voucher', 'Text', 'Amount'], 700, 'F2'),
    ];
    return [...(page === 0 ? head : []), ...rows.flat()].join('\n');
  });
}
