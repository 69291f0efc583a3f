import { heightOf, median, type Row, type Segment } from '../content.ts';
import { cellsOfRow } from './alignedRows.ts';
import { votedColumns } from './columnVotes.ts';
import { coveredSpans, type PlacedCell, type Span } from './tableCells.ts';

/** Points that a cell may be off the edge or the middle of the cells of its column. */
const OFF = 3;
/** Records that show an arrangement, and lines above them that may head it. */
const RECORDS_MIN = 3;
const HEAD_MAX = 6;
/** Lines of the head of the columns. */
const HEAD_LINES_MAX = 2;
/** So many of the records must have the second line. */
const WHOLE_SHARE = 0.7;
/** A line stands as those of its kind do where so many of its cells are level with theirs. */
const ALIKE = 0.5;
/** Lines of a kind that a further line is compared with. */
const LOOKED_BACK = 4;

type Kind = 'first' | 'second';

interface Records {
  readonly head: readonly Row[];
  /** Each a first line, mostly with its second. */
  readonly records: readonly (readonly Row[])[];
}

/**
 * Cells of a table whose records take two lines, the second with columns of its own below those of the first:
 * the lines stand in two ways in turn. One row a record, its columns those of both lines from left to right.
 * undefined where lines do not take turns so.
 */
export function recordCells(lines: readonly Row[]): readonly PlacedCell[] | undefined {
  const found = recordsIn(lines);
  if (found === undefined) return undefined;
  const { head, records } = found;
  const firsts = records.flatMap(([first]) => first ?? []);
  const seconds = records.flatMap(([, second]) => second ?? []);
  const places = placesOf(columnsOf(firsts), columnsOf(seconds), records);
  // Lines above the two that may head the columns are rows of their own.
  const above = Math.max(0, head.length - HEAD_LINES_MAX);
  const body = records.flatMap(([first, second], row) => [
    ...cellsAt(first, { ...places.first, row: above + row + 1 }),
    ...cellsAt(second, { ...places.second, row: above + row + 1 }),
  ]);
  const heads = head.flatMap(({ segments }, line) =>
    segments.map((segment) => ({
      ...headCell(segment, places, line > 0 && line === head.length - 1),
      row: Math.min(line, above),
    })),
  );
  return joined([...heads, ...body]);
}

function recordsIn(lines: readonly Row[]): Records | undefined {
  for (let start = 0; start <= Math.min(HEAD_MAX, lines.length - 2); start += 1) {
    const head = lines.slice(0, start);
    const records = recordsBelow(head, lines.slice(start));
    if (records !== undefined) return { head, records };
  }
  return undefined;
}

/**
 * undefined where the first lines do not take turns with second ones that stand otherwise and nearer to them. Few
 * records show that only where the head has headings for the second lines.
 */
function recordsBelow(head: readonly Row[], lines: readonly Row[]): Records['records'] | undefined {
  const [one, two, three] = lines;
  if (one === undefined || two === undefined || !mayBeRecord(one, two, three)) return undefined;
  const records = inTurn(lines);
  if (records === undefined) return undefined;
  const whole = records.filter((record) => record.length === 2);
  const takeTurns = whole.length >= WHOLE_SHARE * records.length && standOtherwise(whole);
  if (!takeTurns || isHeadOfOthers(whole)) return undefined;
  return whole.length >= RECORDS_MIN || isHeaded(head, one, two) ? records : undefined;
}

/** A line of cells and one of no more below it, that is no nearer to the next line. */
const mayBeRecord = (one: Row, two: Row, next: Row | undefined): boolean =>
  one.segments.length >= Math.max(2, two.segments.length) &&
  (next === undefined || two.box[1] - one.box[3] <= next.box[1] - two.box[3] + 0.1 * heightOf(two.box));

/** Words alone above records with numbers: their head stands as they do. */
const isHeadOfOthers = ([first = [], ...others]: Records['records']): boolean =>
  others.length > 0 && !hasDigits(first) && others.every(hasDigits);

const hasDigits = (record: readonly Row[]): boolean =>
  record.some(({ segments }) => segments.some(({ words }) => words.some(({ text }) => /\d/.test(text))));

/** Each cell of the second line has a heading over it that stands level with none of the first line. */
function isHeaded(head: readonly Row[], one: Row, two: Row): boolean {
  const headings = head.flatMap(({ segments }) => segments);
  const others = headings.filter(({ box }) => levelShare({ segments: [{ box }] }, [one]) === 0);
  return (
    headings.length - others.length >= ALIKE * one.segments.length &&
    two.segments.every(({ box }) => others.some((other) => other.box[0] < box[2] && box[0] < other.box[2]))
  );
}

/** Second lines of wrapped text begin where the text above them does: these do not. */
const standOtherwise = (records: Records['records']): boolean => {
  const shares = records.flatMap(([first, second]) =>
    first === undefined || second === undefined ? [] : [levelShare(second, [first])],
  );
  return median(shares) < ALIKE;
};

/** Each line with the kind that it stands like; undefined where one is of neither. */
function inTurn(lines: readonly Row[]): Records['records'] | undefined {
  const seen: Record<Kind, Row[]> = { first: lines.slice(0, 1), second: lines.slice(1, 2) };
  const records: Row[][] = [];
  for (const line of lines) {
    const record = records.at(-1);
    const kind = kindOf(line, seen, mayBeSecond(line, record) ? 'second' : 'first');
    if (kind === undefined || (kind === 'second' && record?.length !== 1)) return undefined;
    if (kind === 'first') records.push([line]);
    else record?.push(line);
    seen[kind].push(line);
  }
  return records;
}

/** A line of few cells after the first of a record. */
const mayBeSecond = (line: Row, record: readonly Row[] | undefined): boolean =>
  record?.length === 1 && 2 * line.segments.length <= (record[0]?.segments.length ?? 0);

/** Of a line that stands like both, the kind whose turn it is. */
function kindOf(line: Row, seen: Readonly<Record<Kind, readonly Row[]>>, turn: Kind): Kind | undefined {
  const [first, second] = [seen.first, seen.second].map((rows) => levelShare(line, rows.slice(-LOOKED_BACK)));
  if (first === undefined || second === undefined || Math.max(first, second) < ALIKE) return undefined;
  if (first === second) return turn;
  return first > second ? 'first' : 'second';
}

/** Share of a line's cells that stand level with one of other lines. */
const levelShare = (
  { segments }: { readonly segments: readonly Pick<Segment, 'box'>[] },
  others: readonly Row[],
): number =>
  segments.filter(({ box }) =>
    others.some((other) =>
      other.segments.some((one) => offBy([box[0], box[2]], [one.box[0], one.box[2]]) <= OFF),
    ),
  ).length / segments.length;

type Edges = readonly [from: number, to: number];

/** Points between the nearest of: the left edges, the right edges, the middles. */
const offBy = (a: Edges, b: Edges): number =>
  Math.min(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1]), Math.abs(a[0] + a[1] - b[0] - b[1]) / 2);

/** Columns by vote, or where all lines together leave gaps if these are more. */
function columnsOf(lines: readonly Row[]): readonly Span[] {
  const segments = lines.flatMap((line) => line.segments);
  const gap = 0.4 * median(segments.map(({ size }) => size));
  const covered = coveredSpans(
    segments.map(({ box }) => box),
    gap,
  );
  const voted = votedColumns(lines);
  return covered.length >= voted.length ? covered : voted;
}

/** The columns of one kind of line, and where each stands among those of the table. */
interface Columns {
  readonly columns: readonly Span[];
  readonly at: readonly number[];
}

interface Places {
  readonly spans: readonly Span[];
  readonly first: Columns;
  readonly second: Columns;
}

/** A column of the second lines whose cells stand level with those of one of the first is the same column. */
function placesOf(first: readonly Span[], second: readonly Span[], records: Records['records']): Places {
  const same = second.map((span) => first.find((other) => areOne(other, span, records)));
  const spans = [...first, ...second.filter((_, i) => same[i] === undefined)].sort((a, b) => a.from - b.from);
  return {
    spans,
    first: { columns: first, at: first.map((span) => spans.indexOf(span)) },
    second: { columns: second, at: second.map((span, i) => spans.indexOf(same[i] ?? span)) },
  };
}

/** Whether most cells of one column are level with those of the other in the same record. */
function areOne(above: Span, below: Span, records: Records['records']): boolean {
  const within = (line: Row | undefined, { from, to }: Span): Segment | undefined =>
    line?.segments.find(({ box }) => box[0] >= from - 1 && box[2] <= to + 1);
  const pairs = records.flatMap(([first, second]) => {
    const [one, other] = [within(first, above), within(second, below)];
    return one === undefined || other === undefined ? [] : [[one, other] as const];
  });
  const level = pairs.filter(
    ([one, other]) => offBy([one.box[0], one.box[2]], [other.box[0], other.box[2]]) <= OFF,
  );
  return level.length > ALIKE * pairs.length;
}

const cellsAt = (
  line: Row | undefined,
  { columns, at, row }: Columns & { readonly row: number },
): PlacedCell[] =>
  (line === undefined ? [] : cellsOfRow(line, columns)).map((cell) => ({
    ...cell,
    row,
    column: at[cell.column] ?? cell.column,
    columnSpan: 1,
  }));

/** Points that a column of the other line must be nearer by, to have what stands in the head's last line. */
const OTHER_LINE = 15;

/** What heads a column stands nearest to an edge of it, or to its middle; the last line heads the second. */
function headCell({ words, box }: Segment, { spans, second }: Places, isLast: boolean): PlacedCell {
  const off = spans.map(
    ({ from, to }, at) =>
      offBy([box[0], box[2]], [from, to]) + (isLast && !second.at.includes(at) ? OTHER_LINE : 0),
  );
  return { row: 0, column: off.indexOf(Math.min(...off)), rowSpan: 1, columnSpan: 1, words };
}

/** Cells of one place are one. */
function joined(cells: readonly PlacedCell[]): readonly PlacedCell[] {
  const places = new Map<string, PlacedCell>();
  for (const cell of cells) {
    const key = `${String(cell.row)} ${String(cell.column)}`;
    const other = places.get(key);
    places.set(key, other === undefined ? cell : { ...other, words: [...other.words, ...cell.words] });
  }
  return [...places.values()];
}
