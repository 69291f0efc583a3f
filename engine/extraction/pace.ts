import type { DocumentWarning } from '../document/document.ts';

/** Whether the time of an extraction is used up, and what was not looked for because it was. */
export interface Pace {
  /** Tells so, and notes what is left out at a JSON Pointer, as soon as no time is left. */
  readonly leavesOut: (pointer: string) => boolean;
  /** JSON Pointers, in the order of the schema's looks. */
  readonly left: () => readonly string[];
}

/** Without an end, an extraction takes the time that it needs. */
export function paceOf(isLate: () => boolean = () => false): Pace {
  const left = new Set<string>();
  return {
    leavesOut: (pointer) => {
      const isOver = left.size > 0 || isLate();
      if (isOver) left.add(pointer);
      return isOver;
    },
    left: () => [...left],
  };
}

/** Pointers that one warning tells; the rest is counted. */
const PATHS_MAX = 100;

/** What an answer says of what was not looked for. */
export function leftWarnings(left: readonly string[]): readonly DocumentWarning[] {
  if (left.length === 0) return [];
  const paths = left.slice(0, PATHS_MAX);
  const rest = left.length - paths.length;
  const message =
    `The time was used up before ${paths.slice(0, 5).join(', ')}${left.length > 5 ? ' …' : ''} ` +
    `${left.length === 1 ? 'was' : 'were'} looked for${rest > 0 ? `, and ${String(rest)} more are not named` : ''}. ` +
    'Send fewer pages at once (`pages`), or a schema of fewer members.';
  return [{ code: 'deadline_reached', message, paths }];
}
