import type { Field } from '../fields/fields.ts';
import { wordsIn } from '../places/layout.ts';
import { shapeOf } from '../singles/shapes.ts';
import { isEmpty, segmentOf, type Cell, type Headed } from './grid.ts';
import type { Part } from './partRows.ts';

/** Two members that one column holds: "A - Dwelling", "1000 Cash". */
export interface PartedColumn {
  readonly column: number;
  readonly code: Field;
  readonly name: Field;
  /** Both parts of a cell; undefined where it has not both. */
  readonly parts: (cell: Cell | undefined) => { readonly code: Cell; readonly name: Cell } | undefined;
}

/** Fewer cells with both say it by chance. */
const PARTED_FROM = 3;
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
  { grid, from, to, mapped }: Pick<Part, 'grid' | 'from' | 'to'> & Pick<Headed, 'mapped'>,
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
  for (const { code, name, column } of pairs) {
    const parts = (cell: Cell | undefined) => cell && partsOf(cell, code);
    const cells = grid.rows.slice(from, to).map((row) => row[column]);
    const filled = cells.filter((cell) => !isEmpty(cell));
    const parted = filled.filter((cell) => parts(cell) !== undefined).length;
    const least = code.choices.length > 0 ? 0 : CODED_SHARE * filled.length;
    if (parted >= Math.max(PARTED_FROM, least)) return { column, code, name, parts };
  }
  return undefined;
}

const isCode = (field: Field): boolean => ['choice', 'code'].includes(shapeOf(field));
const isName = (field: Field): boolean => ['text', 'name'].includes(shapeOf(field));

function partsOf(cell: Cell, { choices }: Field): ReturnType<PartedColumn['parts']> {
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
