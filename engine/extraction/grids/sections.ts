import { type Cell, cellsIn, type Grid, type GridRow, type Headed, sameText } from './grid.ts';
import type { Called, Field } from '../fields/fields.ts';
import { labelWords } from '../words/labelWords.ts';
import { ALIKE, alike } from '../words/alike.ts';
import { headerTexts, type Asked } from './headerRows.ts';
import { groupFields, mayBeGroup, type Part } from './partRows.ts';

interface Around {
  readonly grids: readonly Grid[];
  readonly headed: readonly (Headed | undefined)[];
  readonly called: Called;
  readonly asked: Asked;
}

/** The best table with all that are headed alike, and the tables that go on without a header. */
export function sections(best: Headed, around: Around): readonly Part[] {
  const asked = { ...around.asked, mapped: best.mapped };
  const parts = partsOfAll(best, { ...around, isTitled: asksGroups(asked) });
  return !asksGroups(asked) || titlesTell(parts, asked.outer)
    ? parts
    : partsOfAll(best, { ...around, isTitled: false });
}

function partsOfAll(best: Headed, around: Around & Pick<Following, 'isTitled'>): readonly Part[] {
  const parts: Part[] = [];
  for (const i of around.grids.keys()) parts.push(...partsAt(i, { ...around, best, before: parts.at(-1) }));
  return parts;
}

interface Following extends Around {
  readonly best: Headed;
  readonly before: Part | undefined;
  /** Whether titles of tables name their rows; what a row of a table names goes on below it in any case. */
  readonly isTitled: boolean;
}

/** What one table adds. A table that goes on at the top of a page stands under the titles of the one before. */
function partsAt(i: number, around: Following): readonly Part[] {
  const { grids, headed, called, asked, best, before } = around;
  const [grid, own] = [grids[i], headed[i]];
  if (grid === undefined) return [];
  const isNext = grid.follows && before?.grid === grids[i - 1];
  const group = groupOver(grid, { ...around, isNext });
  if (own !== undefined && isAlike(own, best)) {
    const least = isNext ? 0 : leastContext(best, called, asked);
    return partsOf(own, { called, least, group, fields: asked.fields });
  }
  return isNext && goesOn(grid, best) ? [{ ...wholeOf(grid), mapped: best.mapped, group }] : [];
}

/** What names the first rows of a table: its title, or what named the last rows before it. */
const groupOver = (
  { title }: Grid,
  { isTitled, isNext, before, asked }: Following & { readonly isNext: boolean },
): Cell | undefined =>
  (isTitled ? title : undefined) ?? (isTitled || isNext ? lastGroup(before, asked.fields) : undefined);

/** Tables of other titles are other lists, unless titles are what groups the rows. */
const leastContext = (best: Headed, called: Called, { outer }: Asked): number =>
  outer.size > 0 ? 0 : contextScore(called, best);

const wholeOf = (grid: Grid): Pick<Part, 'grid' | 'from' | 'to'> => ({ grid, from: 0, to: grid.rows.length });

/** The last row of a part that names a group, for the part that goes on with it. */
function lastGroup(part: Part | undefined, fields: readonly Field[]): Cell | undefined {
  if (part === undefined) return undefined;
  const { grid, from, to, mapped, group } = part;
  const rows = grid.rows.slice(from, to);
  const row = rows.findLast((one) => mayBeGroup(one, { grid, mapped, fields }) !== undefined);
  return row === undefined ? group : cellsIn(row)[0];
}

/** Whether a title could be the value of anything. */
const asksGroups = (asked: Parameters<typeof groupFields>[0]): boolean =>
  asked.outer.size > 0 || groupFields(asked).length > 0;

/** Titles of tables are values of plain rows only where they tell tables that are headed alike apart. */
function titlesTell(parts: readonly Part[], { size }: Asked['outer']): boolean {
  const titles = new Set(parts.map(({ group }) => group?.text));
  return size > 0 || (titles.size > 1 && !titles.has(undefined));
}

/** So many of the fields that one of two tables has must be in both. */
const COMMON_SHARE = 0.7;

/** The same fields under the same headers, in whatever columns; one of them may lack a column that is rarely filled. */
function isAlike(own: Headed, best: Headed): boolean {
  if (own === best) return true;
  const [ours, theirs] = [own, best].map(({ grid, header, depth }) => headerTexts(grid, header, depth));
  const common = [...best.mapped].flatMap(([field, { column }]) => {
    const place = own.mapped.get(field);
    return place === undefined ? [] : [{ ours: ours?.[place.column] ?? '', theirs: theirs?.[column] ?? '' }];
  });
  return (
    common.length >= COMMON_SHARE * Math.max(own.mapped.size, best.mapped.size) &&
    common.every((texts) => sameText(texts.ours, texts.theirs))
  );
}

/** A table at the top of a page with the same columns and no header of its own. */
const goesOn = (grid: Grid, { grid: { columns }, mapped }: Headed): boolean =>
  grid.columns === columns &&
  (grid.continues ||
    [...mapped].some(
      ([{ type }, { column }]) =>
        type !== 'string' && grid.rows.slice(0, 3).some((row) => /^\W{0,3}\d/.test(row[column]?.text ?? '')),
    ));

/** The stretches of one grid: its header may come again, under another title or the name of another group. */
function partsOf(headed: Headed, { called, least, group, fields }: Titled): readonly Part[] {
  const { grid, header, depth, mapped } = headed;
  const texts = grid.rows[header] ?? [];
  const again = grid.rows.flatMap((row, i) => (i > header && isSameRow(row, texts) ? [i] : []));
  const starts = [header, ...again];
  const parts: Part[] = [];
  for (const [i, start] of starts.entries()) {
    const to = (starts[i + 1] ?? grid.rows.length) - (starts[i + 1] === undefined ? 0 : depth - 1);
    parts.push({
      grid,
      from: start + 1,
      to,
      mapped,
      group: i === 0 ? group : lastGroup(parts.at(-1), fields),
    });
  }
  return parts.filter(({ from }) => contextScore(called, { ...headed, header: from - 1 }) >= least);
}

interface Titled extends Pick<Part, 'group'> {
  readonly called: Called;
  readonly least: number;
  readonly fields: readonly Field[];
}

const isSameRow = (row: GridRow, header: GridRow): boolean =>
  cellsIn(header).length > 0 && row.every((cell, i) => sameText(cell?.text ?? '', header[i]?.text ?? ''));

/** Rows above a header that may say what stands below it. */
const ROWS_ABOVE = 6;

/**
 * How many of the words that make a list this one stand above a table: those of its name, and numbers and
 * names of its description ("January–June 2023").
 */
export function contextScore(called: Called, { grid, header, depth }: Headed): number {
  return wordsTold(called, [...grid.above, ...rowsAbove(grid, header - depth + 1)]);
}

/** How many of the words that make a list this one stand in texts. */
export function wordsTold(called: Called, texts: readonly string[]): number {
  const words = new Set(texts.flatMap(labelWords));
  return [...wordsThatTell(called)].filter((word) => [...words].some((other) => alike(word, other) >= ALIKE))
    .length;
}

/** Titles above the header in the grid itself, up to the row that is full again. */
function rowsAbove(grid: Grid, header: number): readonly string[] {
  const texts: string[] = [];
  for (let i = header - 1; i >= 0 && header - i <= ROWS_ABOVE; i -= 1) {
    const cells = cellsIn(grid.rows[i] ?? []);
    if (cells.length > 2) break;
    texts.push(...cells.map(({ text }) => text));
  }
  return texts;
}

function wordsThatTell({ phrases, description }: Called): ReadonlySet<string> {
  const names = description.match(/(?<=\S\s)\p{Lu}[\p{L}]+|\d{2,}/gu) ?? [];
  return new Set([...phrases.flat(), ...names.flatMap(labelWords)].filter((word) => word.length > 1));
}
