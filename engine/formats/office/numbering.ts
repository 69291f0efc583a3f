import type { Label } from '../pieces/blocks.ts';
import { formatNumber } from './numberFormats.ts';

/** A longer label is no label, and each item would repeat it. */
export const LABEL_CHARACTERS_MAX = 80;

/** A level of a list, from 0. */
export interface Level {
  readonly format: string;
  /** `%1.%2` stands for the numbers of levels 1 and 2, counted from 1. */
  readonly pattern: string;
  readonly start: number;
  /** Whether numbers of outer levels are shown as decimals here. */
  readonly isLegal: boolean;
  /** Whether an item of an outer level begins the numbers anew. */
  readonly restarts: boolean;
  /** The paragraph style that stands for the level. */
  readonly style: string | undefined;
}

/** Lists that count together have one definition; each may start at a number of its own. */
export interface Numbered {
  readonly definition: string;
  readonly levels: ReadonlyMap<number, Level>;
  readonly starts: ReadonlyMap<number, number>;
}

/** Numbers the paragraphs of a document, in their order. */
export interface Numbering {
  /** The level that a style stands for in a list; undefined where it stands for none. */
  levelOfStyle(list: string, style: string): number | undefined;
  /** The label of the next paragraph there; null where the list is not defined or shows nothing. */
  next(list: string, level: number): Label | null;
}

const LEVELS = 9;

type Counter = (number | undefined)[];

/** The lists of a document, their counters at the start. */
export function numberingOf(lists: ReadonlyMap<string, Numbered>): Numbering {
  const counters = new Map<string, Counter>();
  const started = new Set<string>();
  return {
    levelOfStyle: (list, style) =>
      [...(lists.get(list)?.levels ?? [])].find(([, level]) => level.style === style)?.[0],
    next: (list, at) => {
      const numbered = lists.get(list);
      const level = numbered?.levels.get(at);
      if (numbered === undefined || level === undefined) return null;
      const counter = counters.get(numbered.definition) ?? [];
      counters.set(numbered.definition, counter);
      const start = numbered.starts.get(at);
      const isFirst = start !== undefined && !started.has(`${list} ${at}`);
      started.add(`${list} ${at}`);
      const before = isFirst ? undefined : counter[at];
      counter[at] = before === undefined ? (start ?? level.start) : before + 1;
      forgetInner(numbered, at, counter);
      return labelOf(numbered, at, counter);
    },
  };
}

function forgetInner({ levels }: Numbered, at: number, counter: Counter): void {
  for (let inner = at + 1; inner < LEVELS; inner += 1)
    if (levels.get(inner)?.restarts !== false) counter[inner] = undefined;
}

function labelOf({ levels }: Numbered, at: number, counter: readonly (number | undefined)[]): Label | null {
  const level = levels.get(at);
  if (level === undefined) return null;
  if (level.format === 'bullet') return { number: null, text: '' };
  const text = level.pattern.replace(/%([1-9])/g, (_, digit: string) => {
    const index = Number(digit) - 1;
    const outer = levels.get(index);
    const format = level.isLegal && index !== at ? 'decimal' : (outer?.format ?? 'decimal');
    return formatNumber(counter[index] ?? outer?.start ?? 1, format);
  });
  if (text.trim() === '' || text.length > LABEL_CHARACTERS_MAX) return null;
  const isPlain = level.format === 'decimal' && new RegExp(`^%${at + 1}[.)]?$`).test(level.pattern.trim());
  return { number: isPlain ? (counter[at] ?? null) : null, text: text.trim() };
}
