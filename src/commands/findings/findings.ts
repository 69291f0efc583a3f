import {
  finding,
  findingEvent,
  type FindingKind,
  findingStream,
  type ReportAudit,
  type ReportDrift,
} from '../../../domain/finding.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { Clock, EventStore } from '../../../domain/ports/log.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { Outcome } from '../writer/outcome.ts';
import { streamsOf } from '../writer/streams.ts';

interface FindingDeps {
  readonly store: EventStore;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
}

const rules = { decider: finding, codec: eventCodec(findingEvent), streamOf: findingStream };

/** Writes down what a check of all balances found, where that differs from the check before. */
export const reportDrift =
  ({ store, clock }: FindingDeps) =>
  (data: ReportDrift['data']): Promise<Outcome<FindingKind>> =>
    streamsOf<FindingKind, 'drift' | 'audit'>(rules, store).handle(
      'drift',
      { type: 'ReportDrift', data, meta: systemMeta({ clock }, 'drift') },
      null,
    );

/** Writes down that an audit found something. */
export const reportAudit =
  ({ store, clock }: FindingDeps) =>
  (data: ReportAudit['data']): Promise<Outcome<FindingKind>> =>
    streamsOf<FindingKind, 'drift' | 'audit'>(rules, store).handle(
      'audit',
      { type: 'ReportAudit', data, meta: systemMeta({ clock }, 'audit') },
      null,
    );
