import type { Called, Field } from '../fields/fields.ts';
import { labelWords } from '../fields/words.ts';
import type { Finding } from '../finding.ts';
import { cellValue } from '../grids/cellValues.ts';
import { cellsIn, type Grid } from '../grids/grid.ts';
import { namedBy } from '../grids/likeness.ts';
import { gridsOf } from '../grids/tableGrids.ts';
import type { Source } from '../source.ts';

/** What stands above a table must name the list so well, where there are several tables. */
const NAMED = 0.72;
const ONLY_TABLE = 0.6;

/**
 * The rows of the table that a list of lists asks for, each with the values of its cells that are of the field's type:
 * of the table whose title names the list, or of the only one.
 */
export function tableValues(
  { phrases, description }: Called,
  field: Field,
  source: Source,
): readonly (readonly Finding[])[] {
  const names = { phrases, about: description === '' ? [] : [labelWords(description)] };
  const grids = gridsOf(source.document);
  const scored = grids.map((grid) => ({ grid, score: titleScore(names, grid) }));
  const best = scored.reduce<{ readonly grid: Grid; readonly score: number } | undefined>(
    (most, one) => (one.score > (most?.score ?? 0) ? one : most),
    undefined,
  );
  const [only, ...others] = grids;
  if (best !== undefined && best.score >= NAMED)
    return valuesIn(best.grid, field, { source, label: best.score });
  return only === undefined || others.length > 0 ? [] : valuesIn(only, field, { source, label: ONLY_TABLE });
}

const titleScore = (names: Parameters<typeof namedBy>[0], { above, title }: Grid): number =>
  [...(title === undefined ? [] : [title.text]), ...above].reduce(
    (most, text) => Math.max(most, namedBy(names, labelWords(text))),
    0,
  );

interface Read {
  readonly source: Source;
  readonly label: number;
}

function valuesIn(grid: Grid, field: Field, { source, label }: Read): readonly (readonly Finding[])[] {
  const reading = { source, evidence: { label, margin: 0.2, agreement: 0 } };
  return grid.rows
    .map((row) => cellsIn(row).flatMap((cell) => cellValue(field, cell, reading) ?? []))
    .filter(({ length }) => length > 0);
}
