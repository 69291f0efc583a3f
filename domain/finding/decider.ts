import type { Command } from '../kernel/command.ts';
import { accept, type Decider, type Decision, type StreamKind } from '../kernel/decider.ts';
import { uuidOfName } from '../kernel/eventId.ts';
import { NAMED_MAX, type FindingEvent, type FindingEventOf } from './events.ts';

interface Drift {
  readonly tenant_id: string;
  readonly drift_credits: number;
}

/** What a check of all balances found; `drifting` is empty where all is well. */
export type ReportDrift = Command<
  'ReportDrift',
  { readonly tenants_checked: number; readonly drifting: readonly Drift[] }
>;

export type ReportAudit = Command<
  'ReportAudit',
  Pick<FindingEventOf<'AuditFound'>['data'], 'findings' | 'checks'>
>;

interface FindingState {
  /** Of the drift that was found last; null: there is none. */
  readonly digest: string | null;
}

export type FindingKind = StreamKind<FindingState, ReportDrift | ReportAudit, FindingEvent, never>;

const reportDrift = (
  { digest: before }: FindingState,
  { data, meta }: ReportDrift,
): Decision<FindingEvent, never> => {
  const { tenants_checked } = data;
  const all = data.drifting.toSorted((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1));
  if (all.length === 0)
    return before === null
      ? accept()
      : accept({ type: 'DriftGone', data: { tenants_checked, gone_at: meta.now } });
  const digest = uuidOfName(
    JSON.stringify(all.map(({ tenant_id, drift_credits }) => [tenant_id, drift_credits])),
  );
  if (digest === before) return accept();
  const drifting = all
    .slice(0, NAMED_MAX)
    .map(({ tenant_id, drift_credits }) => ({ tenant_id, drift_credits }));
  const found = { tenants_checked, tenants_drifting: all.length, drifting, digest, found_at: meta.now };
  return accept({ type: 'DriftFound', data: found });
};

/** What is found again and again is told once, until it changes. */
export const finding: Decider<FindingKind> = {
  initialState: { digest: null },
  decide: (state, command) =>
    command.type === 'ReportDrift'
      ? reportDrift(state, command)
      : accept({ type: 'AuditFound', data: { ...command.data, found_at: command.meta.now } }),
  evolve: (state, { type, data }) => {
    switch (type) {
      case 'DriftFound':
        return { digest: data.digest };
      case 'DriftGone':
        return { digest: null };
      case 'AuditFound':
        return state;
    }
  },
};
