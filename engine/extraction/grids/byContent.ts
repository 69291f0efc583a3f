import type { Field } from '../fields/fields.ts';
import { mayBeUnnamed, type Profile } from './cellValues.ts';
import { type Cell, isEmpty, type Place } from './grid.ts';
import { conceptNamed } from '../words/concepts.ts';
import { headerWords } from '../words/labelWords.ts';
import { shapeOf } from '../singles/shapes.ts';
import { choicesIn } from '../texts.ts';
import { lexicon } from '../words/lexicon.ts';
import { asks } from '../fields/wants.ts';

/** What a column is told by that no header names in words: its header, what it holds, and what kind that is. */
export interface ToldColumn {
  readonly text: string;
  readonly cells: readonly (Cell | undefined)[];
  readonly profile: Profile;
}

/** Headers must name so many fields first: contents alone fit any table. */
const NAMED_MIN = 2;
/** Cells that are looked at. */
const CELLS_MAX = 60;
/** So many of the cells must be of the kind. */
const MOST = 0.8;
const BY_CHOICE = 0.6;
const BY_INITIALS = 0.6;
const BY_KIND = 0.5;
const BY_NAME = 0.46;
/** A column may hold a few of the choices only, as marks of some rows. */
const MARKS_MIN = 1;

const NAMES = lexicon.asks.name;
const COUNTRIES = new Set(conceptNamed('country')?.phrases.flat());

/**
 * Columns for fields that no header names: by the initials of the field's words ("YB" for the year of birth), by the
 * choices, years or codes that stand in it, or as the column of names of the only text that is asked for.
 */
export function byContent(
  fields: readonly Field[],
  mapped: ReadonlyMap<Field, Place>,
  columns: readonly ToldColumn[],
): ReadonlyMap<Field, Place> {
  if (mapped.size < NAMED_MIN) return new Map();
  const used = new Set([...mapped.values()].map(({ column }) => column));
  const pairs = fields
    .filter((field) => !mapped.has(field))
    .flatMap((field) =>
      columns.flatMap((told, column) => {
        const score = used.has(column) ? 0 : contentScore(field, told);
        return score === 0 ? [] : [{ field, column, score }];
      }),
    );
  const found = new Map<Field, Place>();
  for (const { field, column, score } of pairs.sort((a, b) => b.score - a.score || a.column - b.column)) {
    if (found.has(field) || used.has(column)) continue;
    found.set(field, { column, score });
    used.add(column);
  }
  return found;
}

function contentScore(field: Field, { text, cells, profile }: ToldColumn): number {
  const filled = cells.filter((cell): cell is Cell => !isEmpty(cell)).slice(0, CELLS_MAX);
  if (filled.length < MARKS_MIN) return 0;
  if (field.choices.length === 0 && !mayBeUnnamed(field, profile)) return 0;
  const sign = SIGNS.find(({ asksFor }) => asksFor(field, text));
  if (sign === undefined) return 0;
  const fitting = filled.filter((cell) => sign.is(cell.text, field));
  return fitting.length / filled.length >= MOST ? sign.score : 0;
}

interface Sign {
  /** Whether it is for a field, below a header. */
  readonly asksFor: (field: Field, header: string) => boolean;
  /** Whether a cell has it. */
  readonly is: (text: string, field: Field) => boolean;
  readonly score: number;
}

/** What tells that a column is a field's; the first that is for the field decides. */
const SIGNS: readonly Sign[] = [
  {
    asksFor: ({ choices }) => choices.length > 0,
    is: (text, field) => choicesIn(field, text).length > 0,
    score: BY_CHOICE,
  },
  { asksFor: (field, header) => areInitials(header, field), is: () => true, score: BY_INITIALS },
  {
    asksFor: (field) => asks(field, 'year'),
    is: (text) => /^(?:1[89]|20)\d{2}$/.test(text.trim()),
    score: BY_KIND,
  },
  {
    asksFor: ({ phrases }) => phrases.flat().some((word) => COUNTRIES.has(word)),
    is: (text) => /^\p{Lu}{2,3}$/u.test(text.trim()),
    score: BY_KIND,
  },
  {
    asksFor: (field, header) => isOfNames(header) && mayBeNamed(field),
    is: (text) => !/\d/.test(text),
    score: BY_NAME,
  },
];

/** "YB", "DOB": the first letters of the field's words, in their order or turned. */
function areInitials(header: string, { phrases }: Field): boolean {
  const letters = header.replace(/[.\s]/g, '').toLowerCase();
  if (!/^\p{L}{2,4}$/u.test(letters)) return false;
  return phrases.some((words) => {
    const initials = words.map((word) => word.charAt(0));
    return initials.join('') === letters || [...initials].reverse().join('') === letters;
  });
}

function isOfNames(header: string): boolean {
  const [word, ...others] = headerWords(header);
  return others.length === 0 && word !== undefined && NAMES.has(word);
}

function mayBeNamed(field: Field): boolean {
  return field.type === 'string' && ['text', 'name'].includes(shapeOf(field));
}
