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

interface Spot {
  readonly x: number;
  /** Where the paper is, where it is left out. */
  readonly y?: number;
}

/** Lines of one value below each other; the height they take. */
function stack({ paper }: Draft, lines: readonly string[], { x, y = paper.y }: Spot): number {
  for (const [index, line] of lines.entries()) paper.write(x, y + index * paper.step, line, VALUE);
  return Math.max(1, lines.length) * paper.step;
}

const heightOf = ({ paper }: Draft, items: readonly Item[]): number =>
  Math.max(...items.map(({ lines }) => Math.max(1, lines.length))) * paper.step;

/** A label with its mark, none where the label is empty; returns where it ends. */
function lead(
  { paper }: Draft,
  { label, mark, x, look }: { label: string; mark: string; x: number; look: Look },
): number {
  return label === '' ? x : paper.write(x, paper.y, label + mark, look) + paper.size * 0.4;
}

/** The value as it is shown: what stands in its place where it is blank. */
const shownOf = (draft: Draft, { lines }: Item): readonly string[] =>
  lines.length > 0 ? lines : [blankText(draft)];

/** `Label: value`, one below the other. */
const inline: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const look = { bold: random.chance(0.4) };
  const [mark, gap] = [separator(draft), random.pick([1, 1, 1.25, 1.6])];
  for (const item of items) {
    paper.room(heightOf(draft, [item]));
    const x = lead(draft, { label: item.label, mark, x: paper.left, look });
    const lines = paper.lines(shownOf(draft, item).join(', '), paper.right - x);
    paper.y += stack(draft, lines, { x }) * gap;
  }
};

/** Labels in one column, values in another. */
const columns: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const [mark, look] = [separator(draft), { bold: random.chance(0.3) }];
  const widest = Math.max(...items.map(({ label }) => paper.widthOf(label + mark, look)));
  const start = random.chance(0.25) ? paper.style.width * random.pick([0.45, 0.52]) : paper.left;
  const x = Math.min(start + widest + random.int(8, 90), paper.right - 140);
  const right = random.chance(0.15) ? Math.min(paper.right, x + 170) : undefined;
  const [dotted, ruled] = [random.chance(0.12), random.chance(0.15)];
  const gap = random.pick([1, 1.15, 1.5]);
  for (const item of items) {
    paper.room(heightOf(draft, [item]));
    const end = lead(draft, { label: item.label, mark, x: start, look });
    if (dotted) leaders(draft, end, x);
    const shown = shownOf(draft, item);
    const at = right === undefined ? Math.max(x, end) : right - paper.widthOf(shown[0] ?? '');
    paper.y += stack(draft, shown, { x: at }) * gap;
    if (ruled) paper.rule(start, paper.y - 1, paper.right, paper.y - 1);
    if (ruled) paper.y += 2;
  }
};

/** Dots from a label to its value. */
function leaders({ paper }: Draft, from: number, to: number): void {
  const count = Math.floor((to - from - 8) / paper.widthOf('.'));
  if (count > 2) paper.write(from + 3, paper.y, '.'.repeat(count));
}

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
    for (const [j, item] of row.entries()) {
      const x = Math.max(paper.left + j * width, edge);
      const end = lead(draft, { label: item.label, mark, x, look });
      const at = Math.max(x + tabbed, end);
      const shown = shownOf(draft, item);
      height = Math.max(height, stack(draft, shown, { x: at }));
      edge = at + Math.max(...shown.map((line) => paper.widthOf(line))) + paper.size * 1.4;
    }
    paper.y += height * 1.1;
  }
};

/** Cells of a form: a small label at the top of its cell, the value inside. */
const cells: Arrange = (draft, items) => {
  const { paper, random } = draft;
  const [per, ruled] = [random.int(2, 4), random.chance(0.65)];
  const numberOf = numbering(draft);
  const small = { size: paper.size * random.pick([0.65, 0.75, 0.85]), bold: random.chance(0.15) };
  const suffix = random.pick(['', '', '', '', '', ':']);
  const indent = random.pick([3, 3, 3, 10]);
  for (const row of rowsOf(draft, items, per)) {
    const widths = widthsOf(draft, row);
    const height = small.size * 1.5 + heightOf(draft, row) + 4;
    paper.room(height);
    let x = paper.left;
    for (const [j, { label, lines }] of row.entries()) {
      const width = widths[j] ?? 0;
      if (ruled) paper.frame([x, paper.y, x + width, paper.y + height]);
      paper.write(x + 3, paper.y + 2, numberOf() + (label === '' ? '' : label + suffix), small);
      stack(draft, lines, { x: x + indent, y: paper.y + small.size * 1.5 + 1 });
      x += width;
    }
    paper.y += height + (ruled ? 0 : 3);
  }
  paper.y += paper.size * 0.6;
};

/** Numbers before the labels of a form, one after the other; or none. */
function numbering({ random }: Draft): () => string {
  if (random.chance(0.65)) return () => '';
  const [mark, letters] = [random.pick(['', '.', '.', ')']), random.chance(0.2)];
  let next = random.int(1, 12);
  const first = next;
  return () => {
    next += 1;
    return letters
      ? `${first}${'abcdefghijklmnopqrstuvwxyz'[next - first - 1] ?? ''}${mark} `
      : `${next - 1}${mark} `;
  };
}

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
function widthsOf(draft: Draft, row: readonly Item[]): readonly number[] {
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
    const widths = widthsOf(draft, row);
    const base = paper.y + tall * paper.step;
    let x = paper.left;
    for (const [j, { label, lines }] of row.entries()) {
      stack(draft, lines, { x, y: base - Math.max(1, lines.length) * paper.step });
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
    const widths = widthsOf(draft, row);
    const [y0, y1] = [paper.y, paper.y + paper.step + 4];
    let x = paper.left;
    for (const [j, { label, lines }] of row.entries()) {
      const right = x + (widths[j] ?? 0);
      paper.write(x + 3, y0 + 2, label, look);
      stack(draft, lines, { x: x + 3, y: y1 + 2 });
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
    stack(draft, lines, { x: x + 4, y: paper.y + 2 });
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
    const height = stack(draft, lines.length > 0 ? lines : [UNDER.slice(0, 10)], { x: paper.left });
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

/** Now and then two labels are one, and so are their values: `Place / Date`. */
function joined({ random }: Draft, items: readonly Item[]): readonly Item[] {
  const at = random.int(0, Math.max(0, items.length - 2));
  const [a, b] = [items[at], items[at + 1]];
  if (a === undefined || b === undefined || !random.chance(0.12)) return items;
  if (![a, b].every(({ label, lines }) => label !== '' && lines.length === 1)) return items;
  const mark = random.pick([' / ', ', ', ' & ', ' - ']);
  const lines = [[...a.lines, ...b.lines].join(mark === ' & ' ? ' ' : mark)];
  const both = { id: a.id, label: a.label + mark + b.label, lines };
  return [...items.slice(0, at), both, ...items.slice(at + 2)];
}

/** Labels with their values, in one of the ways that forms have. */
export function fields(draft: Draft, ids: readonly string[]): void {
  const items = joined(draft, draft.items(ids));
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
  const items = draft.items(ids);
  const mark = separator(draft);
  const widest = Math.max(0, ...items.map(({ label }) => paper.widthOf(label + mark)));
  const [tabbed, start] = [random.chance(0.6), paper.y];
  let y = start;
  for (const { label, lines } of items) {
    const end = paper.write(x, y, label === '' ? '' : label + mark);
    const at = tabbed ? x + Math.min(widest, width * 0.6) + 8 : end + paper.size * 0.4;
    y += stack(draft, lines, { x: Math.max(at, end + 4), y });
  }
  return y - start;
}
