import { newsOf, type FxDay } from '../../domain/fxRates.ts';
import { z } from 'zod';
import { currencyCode, day, decimalText } from '../../domain/kernel/amounts.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { ReferenceData } from '../commands/reference/referenceData.ts';
import { operatorMeta, OperatorError } from './protocol.ts';

/** What an import came to, in days. */
export interface ImportReport {
  readonly days: number;
  readonly added: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly first: string | null;
  readonly last: string | null;
}

/** Bytes of rates in one append, with what every event has beside them: well below what a log takes. */
const APPEND_BYTES = 700_000;
const ENVELOPE_BYTES = 800;
const CONFLICTS_SHOWN = 20;

export interface ImportDeps {
  readonly reference: ReferenceData;
  readonly clock: Clock;
}

export const ratesToImport = z.strictObject({
  days: z
    .array(z.strictObject({ date: day, base: currencyCode, rates: z.record(currencyCode, decimalText) }))
    .readonly(),
  source: z.string(),
  supersede: z.boolean(),
});
type RatesToImport = z.output<typeof ratesToImport>;

const refuse = (
  conflicts: readonly { date: string; currency: string; known: string | null; given: string | null }[],
): OperatorError => {
  const shown = conflicts
    .slice(0, CONFLICTS_SHOWN)
    .map(
      ({ date, currency, known, given }) =>
        `  ${date} ${currency}: ${known ?? 'none'} is known, the file says ${given ?? 'none'}`,
    );
  const rest = conflicts.length - shown.length;
  return new OperatorError(
    [
      'Some rates differ from the known ones; nothing was imported. Use --supersede if the file is the correction.',
      ...shown,
      ...(rest > 0 ? [`  and ${String(rest)} more`] : []),
    ].join('\n'),
  );
};

const publishRates = async ({ reference, clock }: ImportDeps, data: RatesToImport): Promise<void> => {
  const meta = operatorMeta(clock, 'fx-import');
  const outcome = await reference.publishFxRates({ type: 'ImportFxRates', data, meta });
  if (outcome.kind === 'done') return;
  if (outcome.kind === 'rejected') throw refuse(outcome.rejection.conflicts);
  throw new OperatorError(
    'The event log did not accept the rates in time. Run the import again: it skips days that arrived.',
  );
};

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

/**
 * Publishes the days that are new. All conflicts are found before anything is published; run again, it
 * adds nothing. Throws OperatorError with the conflicts.
 */
export const importRates = async (deps: ImportDeps, wanted: RatesToImport): Promise<ImportReport> => {
  const { days, supersede } = wanted;
  const state = await deps.reference.fxRates();
  const counts = { added: 0, unchanged: 0, superseded: 0 };
  for (const one of days) counts[newsOf(state, one)] += 1;
  const news = days.filter((one) => newsOf(state, one) !== 'unchanged');
  if (counts.superseded > 0 && !supersede) {
    // The decider refuses them all at once and says which; nothing has been published yet.
    await publishRates(deps, { ...wanted, days: days.filter((one) => newsOf(state, one) === 'superseded') });
  }
  for (const part of parts(news)) await publishRates(deps, { ...wanted, days: part });
  const dates = days.map(({ date }) => date).sort();
  return { days: days.length, ...counts, first: dates[0] ?? null, last: dates.at(-1) ?? null };
};
