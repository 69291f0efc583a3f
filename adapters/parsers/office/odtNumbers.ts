import type { Label } from './blocks.ts';
import { formatNumber } from './numberFormats.ts';
import type { OdtLevel } from './odtStyles.ts';

/** The last number given at each level, from 1. */
export type OdtCounters = Map<number, number>;

const LEVELS = 10;

/** Counts one on at a level and says how that is shown; null where the level shows nothing. */
export function labelOfLevel(
  levels: ReadonlyMap<number, OdtLevel>,
  at: number,
  counters: OdtCounters,
): Label | null {
  const level = levels.get(at);
  if (level === undefined) return levels.size === 0 ? null : BULLET;
  if (!level.isNumbered) return BULLET;
  const number = (counters.get(at) ?? level.start - 1) + 1;
  counters.set(at, number);
  for (let inner = at + 1; inner <= LEVELS; inner += 1) counters.delete(inner);
  if (level.format === '') return null;
  const outermost = Math.max(1, at - Math.max(1, level.shown) + 1);
  const numbers: string[] = [];
  for (let shown = outermost; shown <= at; shown += 1) {
    const outer = levels.get(shown);
    const value = formatNumber(counters.get(shown) ?? outer?.start ?? 1, outer?.format ?? '');
    if (value !== '') numbers.push(value);
  }
  const isPlain =
    level.format === '1' &&
    numbers.length === 1 &&
    level.prefix === '' &&
    /^[.)]?$/.test(level.suffix.trim());
  return {
    number: isPlain ? number : null,
    text: `${level.prefix}${numbers.join('.')}${level.suffix}`.trim(),
  };
}

const BULLET: Label = { number: null, text: '' };
