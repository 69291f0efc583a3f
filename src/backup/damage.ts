import type { Check, Finding } from '../audit/findings.ts';

/** What says that the log is not the one that was written; all else is about what was written. */
const OF_THE_LOG: ReadonlySet<Check> = new Set<Check>(['chain', 'order', 'seal']);

/** Findings that say that the log itself is damaged: its chains, its positions, or what was sealed of it. */
export const damageIn = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(({ check }) => OF_THE_LOG.has(check));
