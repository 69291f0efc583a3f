import type { Label } from '../pieces/blocks.ts';
import { formatNumber } from '../office/numberFormats.ts';
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
  if (level?.isNumbered !== true) return levels.size === 0 ? null : BULLET;
  const number = (counters.get(at) ?? level.start - 1) + 1;
  counters.set(at, number);
  for (let inner = at + 1; inner <= LEVELS; inner += 1) counters.delete(inner);
  if (level.format === '') return null;
  const numbers = numbersShown(levels, at, counters);
  return {
    number: isPlain(level) && numbers.length === 1 ? number : null,
    text: `${level.prefix}${numbers.join('.')}${level.suffix}`.trim(),
  };
}

const BULLET: Label = { number: null, text: '' };

const isPlain = ({ format, prefix, suffix }: OdtLevel): boolean =>
  format === '1' && prefix === '' && /^[.)]?$/.test(suffix.trim());

/** The numbers of the level and of as many around it as it shows. */
function numbersShown(
  levels: ReadonlyMap<number, OdtLevel>,
  at: number,
  counters: OdtCounters,
): readonly string[] {
  const shown = Math.min(at, Math.max(1, levels.get(at)?.shown ?? 1));
  return Array.from({ length: shown }, (_, index) => at - shown + 1 + index)
    .map((level) =>
      formatNumber(counters.get(level) ?? levels.get(level)?.start ?? 1, levels.get(level)?.format ?? ''),
    )
    .filter((number) => number !== '');
}
