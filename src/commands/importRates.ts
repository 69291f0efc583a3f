import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { type FxDay, newsOf } from '../../domain/fxRates.ts';
import type { ReferenceData } from './reference.ts';

/** The result of an import, in days. */
export interface ImportReport {
  readonly days: number;
  readonly added: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly first: string | null;
  readonly last: string | null;
}

/** A rate that differs from the known one; null: there is none on that side. */
export interface RateConflict {
  readonly date: string;
  readonly currency: string;
  readonly known: string | null;
  readonly given: string | null;
}

/** How an import ended. `not_now`: the log did not take it in time, and a repeat skips the days that arrived. */
export type Imported =
  | { readonly kind: 'imported'; readonly report: ImportReport }
  | { readonly kind: 'conflict'; readonly conflicts: readonly RateConflict[] }
  | { readonly kind: 'not_now' };

interface RatesToImport {
  readonly days: readonly FxDay[];
  readonly source: string;
  /** Publishes rates that differ from the known ones as corrections. */
  readonly supersede: boolean;
}

type Reference = Pick<ReferenceData, 'fxRates' | 'publishFxRates'>;

/** Bytes of rates in one append, with what every event has beside them: well below what a log takes. */
const APPEND_BYTES = 700_000;
const ENVELOPE_BYTES = 800;

/** Days in parts that fit into an append each: the fewer, the less often the stream is read. */
const parts = (days: readonly FxDay[]): readonly (readonly FxDay[])[] => {
  const found: FxDay[][] = [];
  let room = 0;
  for (const one of days) {
    const bytes = JSON.stringify(one).length + ENVELOPE_BYTES;
    if (bytes > room || found.length === 0) {
      found.push([]);
      room = APPEND_BYTES;
    }
    found.at(-1)?.push(one);
    room -= bytes;
  }
  return found;
};

/** undefined: these days were published. */
const publish = async (
  reference: Reference,
  data: RatesToImport,
  meta: CommandMeta,
): Promise<Exclude<Imported, { readonly kind: 'imported' }> | undefined> => {
  const outcome = await reference.publishFxRates({ type: 'ImportFxRates', data, meta });
  if (outcome.kind === 'done') return undefined;
  if (outcome.kind === 'rejected') return { kind: 'conflict', conflicts: outcome.rejection.conflicts };
  return { kind: 'not_now' };
};

/** Publishes the days that are new. All conflicts are found before anything is published; a repeat adds nothing. */
export const importFxDays = async (
  reference: Reference,
  wanted: RatesToImport,
  meta: () => CommandMeta,
): Promise<Imported> => {
  const { days, supersede } = wanted;
  const state = await reference.fxRates();
  const counts = { added: 0, unchanged: 0, superseded: 0 };
  for (const one of days) counts[newsOf(state, one)] += 1;
  const news = days.filter((one) => newsOf(state, one) !== 'unchanged');
  const differing = supersede ? [] : days.filter((one) => newsOf(state, one) === 'superseded');
  // The decider refuses them all at once and says which; nothing has been published yet.
  for (const part of differing.length > 0 ? [differing] : parts(news)) {
    const failed = await publish(reference, { ...wanted, days: part }, meta());
    if (failed !== undefined) return failed;
  }
  const dates = days.map(({ date }) => date).sort();
  const report = { days: days.length, ...counts, first: dates[0] ?? null, last: dates.at(-1) ?? null };
  return { kind: 'imported', report };
};
