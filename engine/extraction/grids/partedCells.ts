import type { Field } from '../fields/fields.ts';
import { wordsIn } from '../places/layout.ts';
import { shapeOf } from '../singles/shapes.ts';
import { isEmpty, segmentOf, type Cell, type GridRow, type Headed, type Place } from './grid.ts';

/** A column that holds two members: "A - Dwelling", "1000 Cash". */
export interface PartedColumn {
  /** The cells of a row by the members; none of a row without the choice that its name begins with. */
  readonly cellsOf: (row: GridRow, mapped: Headed['mapped']) => readonly OwnCell[];
}

/** The cell of a member, or its part of one. */
export interface OwnCell {
  readonly field: Field;
  readonly place: Place;
  readonly cell: Cell | undefined;
}

/** The cells of a row in the columns of its members. */
export const ownCells = (row: GridRow, mapped: Headed['mapped']): readonly OwnCell[] =>
  [...mapped].map(([field, place]) => ({ field, place, cell: row[place.column] }));

interface Parts {
  readonly code: Cell;
  readonly name: Cell;
}

/** Fewer cells with both say it by chance. */
const PARTED_FROM = 3;
/** Rows that are looked at. */
const SAMPLE = 200;
/** Codes that are no choices of the schema stand in so many of the column's cells. */
const CODED_SHARE = 0.8;

/** A code has a digit; behind it a mark or white, then a name. */
const CODED = /^(?=\S*\d)(?<code>[\p{Lu}\d][\p{Lu}\d./-]{0,15}?)(?:\s*[-–—:.)]\s+|\s+)(?=\p{L})/gu;

/** A choice stands by itself before a mark, wherever its cell begins: "Coverage A - Dwelling". */
const MARKED = /(?<![\p{L}\p{N}])(?<code>[\p{L}\p{N}]{1,16})\s*[-–—:.)]\s+(?=\p{L})/gu;

/**
 * The column that holds a code or a choice with the name behind it, where one of the two has a column and the other
 * is the only member of its kind that has none.
 */
export function partedColumn(
  {
    grid,
    from,
    to,
    mapped,
  }: Pick<Headed, 'grid' | 'mapped'> & { readonly from: number; readonly to: number },
  fields: readonly Field[],
): PartedColumn | undefined {
  const [codes, names] = [fields.filter(isCode), fields.filter(isName)];
  const columnOf = (field: Field): number | undefined => mapped.get(field)?.column;
  const [codesLeft, namesLeft] = [codes, names].map((all) => all.filter((one) => !mapped.has(one)));
  const pairs = codes.flatMap((code) =>
    names.flatMap((name) => {
      const [own, others] = [columnOf(code), columnOf(name)];
      if (own === undefined && codesLeft?.length === 1 && others !== undefined)
        return [{ code, name, column: others }];
      return others === undefined && namesLeft?.length === 1 && own !== undefined
        ? [{ code, name, column: own }]
        : [];
    }),
  );
  const step = Math.max(1, Math.ceil((to - from) / SAMPLE));
  const sample = grid.rows.slice(from, to).filter((_, at) => at % step === 0);
  for (const { code, name, column } of pairs) {
    const parts = (cell: Cell | undefined) => cell && partsOf(cell, code);
    const filled = sample.map((row) => row[column]).filter((cell) => !isEmpty(cell));
    const parted = filled.filter((cell) => parts(cell) !== undefined).length;
    const least = code.choices.length > 0 ? 0 : CODED_SHARE * filled.length;
    if (parted >= Math.max(PARTED_FROM, least)) return cellsBy({ column, code, name, parts });
  }
  return undefined;
}

const isCode = (field: Field): boolean => ['choice', 'code'].includes(shapeOf(field));
const isName = (field: Field): boolean => ['text', 'name'].includes(shapeOf(field));

interface Parting {
  readonly column: number;
  readonly code: Field;
  readonly name: Field;
  readonly parts: (cell: Cell | undefined) => Parts | undefined;
}

const cellsBy = ({ column, code, name, parts }: Parting): PartedColumn => ({
  cellsOf: (row, mapped) => {
    const both = parts(row[column]);
    const place = mapped.get(code) ?? mapped.get(name);
    if (both === undefined || place === undefined)
      return code.choices.length > 0 ? [] : ownCells(row, mapped);
    const others = ownCells(row, mapped).filter(({ field }) => field !== code && field !== name);
    return [...others, { field: code, place, cell: both.code }, { field: name, place, cell: both.name }];
  },
});

function partsOf(cell: Cell, { choices }: Field): Parts | undefined {
  const segment = segmentOf(cell);
  const isOne = (text: string): boolean => choices.length === 0 || choices.includes(text);
  const match = [...segment.text.matchAll(choices.length === 0 ? CODED : MARKED)].findLast(({ groups }) =>
    isOne(groups?.['code'] ?? ''),
  );
  if (match === undefined) return undefined;
  const part = (from: number, to: number): Cell => ({
    ...cell,
    text: segment.text.slice(from, to),
    words: wordsIn(segment, from, to),
  });
  const [whole, code = ''] = match;
  return {
    code: part(match.index, match.index + code.length),
    name: part(match.index + whole.length, segment.text.length),
  };
}
