import type { Called } from '../fields/fields.ts';
import { labelWords } from '../fields/words.ts';
import { cellsIn, type Grid } from './grid.ts';
import type { Headed } from '../columns/headed.ts';
import { sameStem } from './likeness.ts';

/** Rows above a header that may say what stands below it. */
const ROWS_ABOVE = 6;

/**
 * How many of the words that make a list this one stand above a table: those of its name, and numbers and
 * names of its description ("January–June 2023").
 */
export function contextScore(called: Called, { grid, header, depth }: Headed): number {
  const wanted = wordsThatTell(called);
  const words = new Set([...grid.above, ...rowsAbove(grid, header - depth + 1)].flatMap(labelWords));
  return [...wanted].filter((word) => [...words].some((other) => sameStem(word, other) >= 0.9)).length;
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
