import type { Json } from '../../engine/kernel/json.ts';
import type { Draft } from './draft.ts';
import type { Look } from './paper.ts';
import { moneyText, numberText, valueOf, type Habits, type Value } from './values.ts';
import { conceptOf, listOf } from './words.ts';

const NUMERIC = new Set(['amount', 'money', 'integer', 'number', 'percent']);
const VALUE: Look = { isLabel: false };

type Row = ReadonlyMap<string, Value>;

const cell = (text: string, json: Json = text): Value => ({ lines: [text], json });

/** Columns that say how many, from the first that is there. */
const COUNTS = ['quantity', 'spots', 'hours_worked'];

/** A row; where quantity and price stand in it, its total is their product. */
function rowOf(draft: Draft, columns: readonly string[], number: number): Row {
  const { habits, random } = draft;
  const row = new Map(columns.map((id) => [id, valueOf(conceptOf(id), habits)]));
  const put = (id: string, value: Value): void => {
    if (row.has(id)) row.set(id, value);
  };
  for (const id of ['position', 'rank']) put(id, cell(String(number), number));
  if (row.has('unit_price')) {
    const each = random.int(50, 60_000) / 100;
    const counted = COUNTS.find((id) => row.has(id)) ?? '';
    put('unit_price', amount(draft, each));
    put('line_total', amount(draft, each * Number(row.get(counted)?.json ?? 1)));
  }
  if (row.has('debit') && row.has('credit')) put(random.chance(0.6) ? 'credit' : 'debit', cell('', null));
  return row;
}

const amount = (draft: Draft, value: number): Value => {
  const exact = Math.round(value * 100) / 100;
  return cell(numberText(exact, 2, draft.habits), exact);
};

interface Grid {
  readonly columns: readonly string[];
  readonly x: readonly number[];
  readonly widths: readonly number[];
  readonly look: 'grid' | 'lines' | 'under' | 'none';
  readonly pad: number;
  readonly heads: readonly string[];
  readonly headLook: Look;
  /** Whether a column's texts end at its right edge. */
  readonly rights: readonly boolean[];
}

function gridOf(draft: Draft, columns: readonly string[], rows: readonly Row[]): Grid {
  const { paper, random } = draft;
  const pad = random.pick([3, 5, 8]);
  const right = random.chance(0.85);
  const heads = columns.map((id) => draft.label(id));
  const headLook = { bold: random.chance(0.7), size: paper.size * random.pick([0.85, 1]) };
  const wanted = columns.map((id, i) => {
    const widest = Math.max(...rows.map((row) => paper.widthOf(row.get(id)?.lines[0] ?? '')));
    const word = Math.max(...(heads[i] ?? '').split(' ').map((one) => paper.widthOf(one, headLook)));
    return Math.max(word, Math.min(widest, 190)) + 2 * pad;
  });
  const [sum, all] = [wanted.reduce((a, b) => a + b, 0), paper.right - paper.left];
  const spread = sum > all ? all / sum : random.chance(0.75) ? all / sum : 1;
  const widths = wanted.map((width) => width * spread);
  const x = widths.map((_, i) => paper.left + widths.slice(0, i).reduce((a, b) => a + b, 0));
  return {
    columns,
    x,
    widths,
    pad,
    heads,
    headLook,
    rights: columns.map((id) => NUMERIC.has(conceptOf(id).is) && right),
    look: random.pick(['grid', 'grid', 'lines', 'under', 'under', 'none']),
  };
}

interface RowTexts {
  readonly texts: readonly string[];
  readonly look: Look;
}

const textsOf = (row: Row, columns: readonly string[]): readonly string[] =>
  columns.map((id) => row.get(id)?.lines[0] ?? '');

/** Texts of one row, each in its column. */
function drawRow(draft: Draft, grid: Grid, { texts, look }: RowTexts): void {
  const { paper } = draft;
  const { size = paper.size } = look;
  const parts = texts.map((text, i) => paper.lines(text, (grid.widths[i] ?? 0) - 2 * grid.pad + 2, look));
  const space = grid.look === 'none' ? 0 : 4;
  const height = Math.max(1, ...parts.map(({ length }) => length)) * size * paper.style.leading + space;
  paper.room(height);
  for (const [i, lines] of parts.entries()) {
    const [x, width] = [grid.x[i] ?? 0, grid.widths[i] ?? 0];
    drawCell(draft, lines, {
      x,
      y: paper.y + space / 2,
      width,
      look,
      grid,
      isRight: grid.rights[i] === true,
    });
    if (grid.look === 'grid') paper.frame([x, paper.y, x + width, paper.y + height]);
  }
  if (grid.look === 'lines') paper.rule(paper.left, paper.y + height, paper.right, paper.y + height);
  paper.y += height;
}

interface CellPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly look: Look;
  readonly grid: Grid;
  readonly isRight: boolean;
}

function drawCell(
  { paper }: Draft,
  lines: readonly string[],
  { x, y, width, look, grid, isRight }: CellPlace,
): void {
  const step = (look.size ?? paper.size) * paper.style.leading;
  for (const [k, text] of lines.entries())
    paper.write(
      isRight ? x + width - grid.pad - paper.widthOf(text, look) : x + grid.pad,
      y + k * step,
      text,
      look,
    );
}

function drawHead(draft: Draft, grid: Grid): void {
  const { paper } = draft;
  drawRow(draft, grid, { texts: grid.heads, look: grid.headLook });
  if (grid.look === 'under')
    paper.rule(grid.x[0] ?? 0, paper.y, (grid.x.at(-1) ?? 0) + (grid.widths.at(-1) ?? 0), paper.y);
  paper.y += 1;
}

export interface TableWish {
  /** What a schema may call the list. */
  readonly names: readonly string[];
  readonly columns: readonly string[];
  /** Concepts whose value heads each group of rows and belongs to each of them. */
  readonly groups: readonly string[];
  readonly most: number;
}

const GROUP_HEADS: Readonly<Record<string, readonly string[]>> = {
  en: [
    'Age Group {a}-{b}',
    'Division {r}',
    'Ages {a} to {b}',
    'Heat {n}',
    'Region {r}',
    'Class {r}',
    'Group {r}',
  ],
  de: ['Altersklasse {a}-{b}', 'Gruppe {r}', 'Lauf {n}', 'Bezirk {r}'],
  fr: ['Catégorie {a}-{b} ans', 'Groupe {r}', 'Série {n}', 'Zone {r}'],
  es: ['Categoría {a}-{b}', 'Grupo {r}', 'Serie {n}', 'Zona {r}'],
  it: ['Categoria {a}-{b}', 'Gruppo {r}', 'Serie {n}', 'Zona {r}'],
  nl: ['Categorie {a}-{b}', 'Groep {r}', 'Serie {n}'],
  pl: ['Kategoria {a}-{b}', 'Grupa {r}', 'Seria {n}'],
  cs: ['Kategorie {a}-{b}', 'Skupina {r}', 'Rozběh {n}'],
};

function groupHeads(draft: Draft, count: number): readonly string[] {
  const form = draft.random.pick(GROUP_HEADS[draft.language] ?? []);
  const first = draft.random.int(2, 9) * 5;
  return Array.from({ length: count }, (_, i) =>
    form
      .replace('{a}', String(first + 5 * i))
      .replace('{b}', String(first + 5 * i + 4))
      .replace('{r}', 'ABCDEFGH'[i] ?? 'Z')
      .replace('{n}', String(i + 1)),
  );
}

/** A table of records, with groups, over pages; it becomes a list. Returns its rows. */
export function table(draft: Draft, wish: TableWish): readonly Row[] {
  const { paper, random } = draft;
  const columns = wish.columns.filter((id) => draft.has(id));
  const [group] = wish.groups;
  const heads = group === undefined ? [undefined] : groupHeads(draft, random.int(2, 5));
  const parts = heads.map((name) => ({
    name,
    rows: Array.from({ length: random.int(1, group === undefined ? wish.most : 6) }, (_, i) =>
      rowOf(draft, columns, i + 1),
    ),
  }));
  const grid = gridOf(
    draft,
    columns,
    parts.flatMap(({ rows }) => rows),
  );
  paper.room(paper.step * 5);
  drawHead(draft, grid);
  const repeats = random.chance(0.6);
  if (repeats) paper.onTurn = () => drawHead(draft, grid);
  for (const { name, rows } of parts) {
    if (name !== undefined) {
      paper.room(paper.step * 3);
      paper.y += 2;
      paper.write(paper.left + grid.pad, paper.y, name, { bold: random.chance(0.7), isLabel: false });
      paper.y += paper.step + 2;
    }
    for (const row of rows) drawRow(draft, grid, { texts: textsOf(row, columns), look: VALUE });
  }
  paper.onTurn = undefined;
  if (grid.look === 'under') paper.rule(paper.left, paper.y + 1, paper.right, paper.y + 1);
  paper.y += paper.size * 0.6;
  const all = parts.flatMap(({ rows }) => rows);
  draft.lists.push({
    names: wish.names,
    columns: group === undefined ? columns : [...columns, group],
    rows: parts.flatMap(({ name, rows }) =>
      rows.map((row) => ({
        ...Object.fromEntries([...row].map(([id, { json }]) => [id, json])),
        ...(group === undefined || name === undefined ? {} : { [group]: name }),
      })),
    ),
  });
  return all;
}

/** Of one row: its total, or what its price and count come to. */
const worthOf = (row: Row): number => {
  const { json: total } = row.get('line_total') ?? {};
  const counted = COUNTS.find((id) => row.has(id)) ?? '';
  return Number(total ?? Number(row.get('unit_price')?.json ?? 0) * Number(row.get(counted)?.json ?? 1));
};

const added = (rows: readonly Row[], id: string): number =>
  rows.reduce((sum, row) => sum + Number(row.get(id)?.json ?? 0), 0);

const moneyOf = (value: number, habits: Habits): Value => {
  const exact = Math.round(value * 100) / 100;
  return cell(moneyText(exact, habits), exact);
};

/** What rows and the sums below them come to; of a sum of its own where no row has an amount. */
function sumsOf(
  { random, habits }: Draft,
  ids: readonly string[],
  rows: readonly Row[],
): Readonly<Record<string, Value>> {
  const money = (value: number): Value => moneyOf(value, habits);
  const net = rows.reduce((sum, row) => sum + worthOf(row), 0) || random.int(1_500, 900_000) / 100;
  const share = (id: string, value: number): number => (ids.includes(id) ? Math.round(value * 100) / 100 : 0);
  const rate = Number(random.pick(conceptOf('tax_rate').options));
  const extra = share('shipping_cost', random.int(300, 9900) / 100);
  const less = share('discount_amount', (net * random.int(1, 15)) / 100);
  const taxed = share('tax_amount', ((net + extra - less) * rate) / 100);
  const total = net + extra - less + taxed;
  const commission = (net * random.pick([5, 10, 15, 15])) / 100;
  const cash = Math.ceil(total / 10) * 10;
  const spots = added(rows, 'spots');
  return {
    ...(spots > 0 && { spots: cell(String(spots), spots) }),
    gross_amount: money(net),
    commission: money(commission),
    net_amount: money(net - share('commission', commission)),
    cash: money(cash),
    change: money(cash - total),
    subtotal: money(net),
    shipping_cost: money(extra),
    discount_amount: money(less),
    tax_amount: money(taxed),
    total: money(total),
    tax_rate: cell(`${String(rate).replace('.', habits.marks[1])}%`, rate),
  };
}

/** Of an account: from what was there before to what is left. */
function balancesOf(draft: Draft, rows: readonly Row[]): Readonly<Record<string, Value>> {
  const { habits } = draft;
  const [went, came] = [added(rows, 'debit'), added(rows, 'credit')];
  return {
    total_debits: moneyOf(went, habits),
    total_credits: moneyOf(came, habits),
    closing_balance: moneyOf(Number(draft.value('opening_balance').json) + came - went, habits),
  };
}

/** Sums below a table that agree with its rows and with each other. */
export function totals(draft: Draft, ids: readonly string[], rows: readonly Row[]): void {
  const { random, paper } = draft;
  const isAccount = ids.includes('closing_balance');
  const sums = isAccount ? balancesOf(draft, rows) : sumsOf(draft, ids, rows);
  for (const [id, value] of Object.entries(sums)) draft.set(id, value);
  const shown = ids.filter((id) => draft.has(id));
  const mark = random.pick([':', '', '', ':']);
  const widest = Math.max(...shown.map((id) => paper.widthOf(draft.label(id), { bold: true }))) + 24;
  const start = paper.right - widest - random.int(90, 150);
  const [x, edge] = random.chance(0.8) ? [start, paper.right - 3] : [paper.left, paper.left + widest + 110];
  const ruled = random.pick([shown.length, 1, 0, 0]);
  const last = { bold: random.chance(0.7), size: random.pick([1, 1, 1, 1.25]) * paper.size };
  paper.room(paper.step * (shown.length + 1));
  for (const [index, id] of shown.entries()) {
    const look = index === shown.length - 1 ? last : { bold: false, size: paper.size };
    const rate = id === 'tax_amount' && random.chance(0.4) ? ` (${random.int(5, 25)}%)` : '';
    paper.write(x, paper.y, draft.label(id) + rate + mark, look);
    const text = draft.say(id).join(' ');
    paper.write(edge - paper.widthOf(text, look), paper.y, text, { ...look, isLabel: false });
    if (index >= shown.length - ruled) paper.rule(x, paper.y - 2, edge + 3, paper.y - 2);
    paper.y += look.size * paper.style.leading * 1.1;
  }
  paper.y += paper.size;
}

const BOLD: Look = { bold: true, isLabel: false };

/** Rows of figures by what they are and columns by time, as statements of companies have them. */
export function figures(draft: Draft, names: readonly string[]): void {
  const { paper, random } = draft;
  const [year, column] = [random.int(2011, 2025), random.int(62, 96)];
  const heads = random.pick([
    [`${year}`, `${year - 1}`],
    [`${year}`, `${year - 1}`, `${year - 2}`],
    [`31.12.${year}`, `31.12.${year - 1}`],
    [`Q1 ${year}`, `Q1 ${year - 1}`],
    [`FY${year % 100}`, `FY${(year % 100) - 1}`],
  ]);
  const scale = draft.word('scales');
  paper.prose(scale, { italic: true, size: paper.size * 0.85, isLabel: false });
  draft.facts.set('scale', { id: 'scale', json: scale.replace(/^\(|\)$/g, '') });
  const ends = heads.map((_, i) => paper.right - (heads.length - 1 - i) * column);
  const put = (i: number, text: string, look: Look): number =>
    paper.write((ends[i] ?? 0) - paper.widthOf(text, look), paper.y, text, look);
  if (random.chance(0.4)) {
    put(0, draft.word('spans'), BOLD);
    paper.y += paper.step;
  }
  for (const [i, text] of heads.entries()) put(i, text, BOLD);
  paper.y += paper.step;
  if (random.chance(0.6)) paper.rule(paper.left, paper.y - 2, paper.right, paper.y - 2);
  const rows: Record<string, Json>[] = [];
  const [sign, decimals] = [random.chance(0.3) ? '$ ' : '', random.pick([0, 0, 1])];
  for (const [index, label] of random.some(listOf(draft.words, 'figures'), random.int(4, 10)).entries()) {
    paper.room(paper.step);
    paper.write(paper.left + random.pick([0, 0, 0, 0, 10]), paper.y, label, VALUE);
    for (const [i, period] of heads.entries()) {
      const { text, json } = figure(draft, decimals);
      put(i, index === 0 ? sign + text : text, VALUE);
      rows.push({ figure: label, figure_period: period, figure_value: json });
    }
    paper.y += paper.step * 1.1;
  }
  draft.lists.push({ names, columns: ['figure', 'figure_period', 'figure_value'], rows });
  paper.y += paper.size;
}

/** A figure, in brackets where it is below 0. */
function figure(
  { random, habits }: Draft,
  decimals: number,
): { readonly text: string; readonly json: number } {
  const n = random.int(1, random.pick([90, 900, 48_000])) / (decimals === 1 ? 10 : 1);
  const text = numberText(n, decimals, habits);
  return random.chance(0.12) ? { text: `(${text})`, json: -n } : { text, json: n };
}
