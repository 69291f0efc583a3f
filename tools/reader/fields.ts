import type { Draft, Item } from './draft.ts';
import type { Look } from './paper.ts';

type Arrange = (draft: Draft, items: readonly Item[]) => void;

const UNDER = '________________________';
const VALUE: Look = { isLabel: false };

const blankText = ({ random }: Draft): string =>
  random.pick(
    ['', '', UNDER.slice(0, random.int(8, 24)), '.'.repeat(random.int(12, 40)), '—', 'n/a'].slice(0, 4),
  );

const separator = ({ random }: Draft): string => random.pick([':', ':', ':', ':', '', ' :', '.:', ' -']);

/** Lines of one value below each other; the height they take. */
function stack(draft: Draft, x: number, lines: readonly string[], at = { y: draft.paper.y }): number {
  for (const [index, line] of lines.entries())
    draft.paper.write(x, at.y + index * draft.paper.step, line, VALUE);
  return Math.max(1, lines.length) * draft.paper.step;
}

/** `Label: value`, one below the other. */
const inline: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const look = { bold: random.chance(0.4) };
  const [mark, gap] = [separator(draft), random.pick([1, 1, 1.25, 1.6])];
  for (const { label, lines } of items) {
    paper.room(paper.step * Math.max(1, lines.length));
    const end =
      label === '' ? paper.left : paper.write(paper.left, paper.y, label + mark, look) + paper.size * 0.4;
    paper.y += stack(draft, end, lines.length > 0 ? [lines.join(', ')] : [blankText(draft)]) * gap;
  }
};

/** Labels in one column, values in another. */
const columns: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const mark = separator(draft);
  const look = { bold: random.chance(0.3) };
  const widest = Math.max(...items.map(({ label }) => paper.widthOf(label + mark, look)));
  const start = random.chance(0.25) ? paper.style.width * random.pick([0.45, 0.52]) : paper.left;
  const x = Math.min(start + widest + random.int(8, 90), paper.right - 140);
  const [isRight, dotted] = [random.chance(0.15), random.chance(0.12)];
  const gap = random.pick([1, 1.15, 1.5]);
  const ruled = random.chance(0.15);
  for (const { label, lines } of items) {
    paper.room(paper.step * Math.max(1, lines.length));
    const end = paper.write(start, paper.y, label === '' ? '' : label + mark, look);
    if (dotted && label !== '')
      paper.write(end + 3, paper.y, '.'.repeat(Math.max(3, Math.floor((x - end - 8) / paper.widthOf('.')))));
    const shown = lines.length > 0 ? lines : [blankText(draft)];
    const right = Math.min(paper.right, x + 170);
    const at = isRight ? right - paper.widthOf(shown[0] ?? '') : Math.max(x, end + 6);
    const height = stack(draft, at, shown) * gap;
    if (ruled) paper.rule(start, paper.y + height - 1, paper.right, paper.y + height - 1);
    paper.y += height + (ruled ? 2 : 0);
  }
};

/** Two or three pairs to a line. */
const pairs: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const per = random.pick([2, 2, 3]);
  const width = (paper.right - paper.left) / per;
  const mark = separator(draft);
  const tabbed = random.chance(0.5) ? width * random.pick([0.35, 0.42]) : 0;
  const look = { bold: random.chance(0.35) };
  for (let i = 0; i < items.length; i += per) {
    const row = items.slice(i, i + per);
    paper.room(paper.step * 3);
    let [height, edge] = [paper.step, 0];
    for (const [j, { label, lines }] of row.entries()) {
      const x = Math.max(paper.left + j * width, edge);
      const end = label === '' ? x : paper.write(x, paper.y, label + mark, look) + paper.size * 0.4;
      const at = Math.max(x + tabbed, end);
      const shown = lines.length > 0 ? lines : [blankText(draft)];
      height = Math.max(height, stack(draft, at, shown));
      edge = at + Math.max(...shown.map((line) => paper.widthOf(line))) + paper.size * 1.4;
    }
    paper.y += height * 1.1;
  }
};

/** Cells of a form: a small label at the top of its cell, the value inside. */
const cells: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const per = random.int(2, 4);
  const ruled = random.chance(0.65);
  const numbers = random.chance(0.35) ? random.int(1, 12) : undefined;
  const small = { size: paper.size * random.pick([0.65, 0.75, 0.85]), bold: random.chance(0.15) };
  const suffix = random.chance(0.15) ? ':' : '';
  const y0 = paper.y;
  for (const [i, row] of rowsOf(draft, items, per).entries()) {
    const widths = widthsOf(draft, row, small);
    const tall = Math.max(...row.map(({ lines }) => Math.max(1, lines.length)));
    const height = small.size * 1.5 + tall * paper.step + 4;
    paper.room(height);
    let x = paper.left;
    for (const [j, { label, lines }] of row.entries()) {
      const number =
        numbers === undefined ? '' : `${numbers + i * per + j}${random.pick(['', '.', '.', ')'])} `;
      const box = [x, paper.y, x + (widths[j] ?? 0), paper.y + height] as const;
      if (ruled) paper.frame(box);
      paper.write(x + 3, paper.y + 2, number + label + (label === '' ? '' : suffix), small);
      stack(draft, x + (random.chance(0.2) ? 10 : 3), lines, { y: paper.y + small.size * 1.5 + 1 });
      x += widths[j] ?? 0;
    }
    paper.y += height + (ruled ? 0 : 3);
  }
  paper.y = Math.max(paper.y, y0) + paper.size * 0.6;
};

function rowsOf(draft: Draft, items: readonly Item[], per: number): readonly (readonly Item[])[] {
  const rows: Item[][] = [];
  for (const item of items) {
    const row = rows.at(-1);
    const wide = needs(draft, [...(row ?? []), item]) > draft.paper.right - draft.paper.left;
    if (row === undefined || row.length >= per || wide) rows.push([item]);
    else row.push(item);
  }
  return rows;
}

const needOf = ({ paper }: Draft, { label, lines }: Item): number =>
  Math.max(paper.widthOf(label) + 18, 60, ...lines.map((line) => paper.widthOf(line) + 12));
const needs = (draft: Draft, items: readonly Item[]): number =>
  items.reduce((sum, item) => sum + needOf(draft, item), 0);

/** Widths that fill the line, each as wide as it needs. */
function widthsOf(draft: Draft, row: readonly Item[], _: Look): readonly number[] {
  const [all, free] = [draft.paper.right - draft.paper.left, needs(draft, row)];
  const rest = Math.max(0, all - free) / row.length;
  return row.map((item) => needOf(draft, item) + rest);
}

/** The value on a line, what it is below it. */
const below: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const small = { size: paper.size * 0.82 };
  const ruled = random.chance(0.7);
  for (const row of rowsOf(draft, items, random.int(1, 3))) {
    const tall = Math.max(...row.map(({ lines }) => Math.max(1, lines.length)));
    paper.room(paper.step * (tall + 2));
    const widths = widthsOf(draft, row, small);
    const base = paper.y + tall * paper.step;
    let x = paper.left;
    for (const [j, { label, lines }] of row.entries()) {
      stack(draft, x, lines, { y: base - Math.max(1, lines.length) * paper.step });
      if (ruled) paper.rule(x, base, x + (widths[j] ?? 0) - 14, base);
      else if (lines.length === 0) paper.write(x, base - paper.step, UNDER.slice(0, 18));
      paper.write(x, base + 2, label, small);
      x += widths[j] ?? 0;
    }
    paper.y = base + paper.step * 1.5;
  }
};

/** One after the other in a line, as it comes. */
const running: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const joint = random.pick(['   ', ' | ', ' · ', '; ', '  ']);
  const mark = random.pick([':', ':', '']);
  let line = '';
  const flush = (): void => {
    if (line === '') return;
    paper.room(paper.step);
    paper.write(paper.left, paper.y, line, VALUE);
    paper.y += paper.step;
    line = '';
  };
  for (const { label, lines } of items) {
    const piece =
      `${label}${label === '' ? '' : mark} ${lines.length > 0 ? lines.join(', ') : UNDER.slice(0, 12)}`.trim();
    if (line !== '' && paper.widthOf(line + joint + piece) > paper.right - paper.left) flush();
    line = line === '' ? piece : line + joint + piece;
  }
  flush();
  paper.y += paper.size * 0.5;
};

/** A head with the labels, one line with the values. */
const headed: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const ruled = random.pick(['grid', 'under', 'none']);
  const look = { bold: random.chance(0.7), size: paper.size * random.pick([0.85, 1]) };
  for (const row of rowsOf(draft, items, 5)) {
    const tall = Math.max(...row.map(({ lines }) => Math.max(1, lines.length)));
    const height = paper.step * (tall + 1) + 8;
    paper.room(height);
    const widths = widthsOf(draft, row, look);
    const [y0, y1] = [paper.y, paper.y + paper.step + 4];
    let x = paper.left;
    for (const [j, { label, lines }] of row.entries()) {
      const right = x + (widths[j] ?? 0);
      paper.write(x + 3, y0 + 2, label, look);
      stack(draft, x + 3, lines, { y: y1 + 2 });
      if (ruled === 'grid') {
        paper.frame([x, y0, right, y1]);
        paper.frame([x, y1, right, y0 + height]);
      }
      x = right;
    }
    if (ruled === 'under') paper.rule(paper.left, y1, x, y1);
    paper.y = y0 + height + paper.size * 0.6;
  }
};

/** A table of two columns with lines around its cells. */
const ledger: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const widest = Math.max(60, ...items.map(({ label }) => paper.widthOf(label)));
  const x = Math.min(paper.left + widest + 14, paper.right - 150);
  const right = random.chance(0.6) ? paper.right : Math.min(paper.right, x + 230);
  for (const { label, lines } of items) {
    const height = Math.max(1, lines.length) * paper.step + 4;
    paper.room(height);
    paper.frame([paper.left, paper.y, x, paper.y + height]);
    paper.frame([x, paper.y, right, paper.y + height]);
    paper.write(paper.left + 3, paper.y + 2, label);
    stack(draft, x + 4, lines, { y: paper.y + 2 });
    paper.y += height;
  }
  paper.y += paper.size * 0.7;
};

/** The value first, what it is to the right of it. */
const behind: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const gap = random.int(4, 24);
  const widest = Math.max(...items.flatMap(({ lines }) => lines.map((line) => paper.widthOf(line))), 40);
  for (const { label, lines } of items) {
    paper.room(paper.step * Math.max(1, lines.length));
    const height = stack(draft, paper.left, lines.length > 0 ? lines : [UNDER.slice(0, 10)]);
    paper.write(paper.left + widest + gap, paper.y, label);
    paper.y += height;
  }
};

/** Filled over a line drawn with characters: `Name ____Rossi____`. */
const blanks: Arrange = (draft, items) => {
  const { paper } = draft;
  for (const { label, lines } of items) {
    paper.room(paper.step * 1.4);
    const end = label === '' ? paper.left : paper.write(paper.left, paper.y, label) + 4;
    const text = lines.join(', ');
    if (text === '') paper.write(end, paper.y, UNDER);
    else {
      const after = paper.write(end, paper.y, text, VALUE);
      paper.rule(
        end,
        paper.y + paper.size + 1,
        Math.max(after, Math.min(paper.right, end + 200)),
        paper.y + paper.size + 1,
      );
    }
    paper.y += paper.step * 1.4;
  }
};

const ARRANGEMENTS: readonly Arrange[] = [
  inline,
  inline,
  columns,
  columns,
  columns,
  pairs,
  pairs,
  cells,
  cells,
  cells,
  below,
  running,
  headed,
  headed,
  ledger,
  behind,
  blanks,
];

/** Labels with their values, in one of the ways that forms have. */
export function fields(draft: Draft, ids: readonly string[]): void {
  const items = ids.filter((id) => draft.has(id)).map((id) => draft.item(id));
  if (items.length === 0) return;
  draft.paper.room(draft.paper.step * 3);
  const arrange = draft.random.pick(ARRANGEMENTS);
  if (items.length > 6 && draft.random.chance(0.4)) {
    const cut = draft.random.int(2, items.length - 2);
    arrange(draft, items.slice(0, cut));
    draft.paper.y += draft.paper.size * 0.5;
    draft.random.pick(ARRANGEMENTS)(draft, items.slice(cut));
  } else arrange(draft, items);
  draft.paper.y += draft.paper.size * draft.random.pick([0.4, 0.8, 1.2]);
}

/** The same beside something else, within a part of the page's width, from a height of its own. */
export function sideFields(
  draft: Draft,
  ids: readonly string[],
  { x, width }: { x: number; width: number },
): number {
  const { paper, random } = draft;
  const items = ids.filter((id) => draft.has(id)).map((id) => draft.item(id));
  const mark = separator(draft);
  const widest = Math.max(0, ...items.map(({ label }) => paper.widthOf(label + mark)));
  const [tabbed, start] = [random.chance(0.6), paper.y];
  let y = start;
  for (const { label, lines } of items) {
    const end = paper.write(x, y, label === '' ? '' : label + mark);
    const at = tabbed ? x + Math.min(widest, width * 0.6) + 8 : end + paper.size * 0.4;
    y += stack(draft, Math.max(at, end + 4), lines, { y });
  }
  return y - start;
}
