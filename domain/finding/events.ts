import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';

/** Tenants that a finding names; it counts the others. */
export const NAMED_MAX = 20;

/** Balances that are not the sum of their grants and ledger, where the check before found others or none. */
const driftFound = event('DriftFound', {
  tenants_checked: z.int().min(0),
  tenants_drifting: z.int().min(1),
  /** The first by tenant. */
  drifting: z.array(z.strictObject({ tenant_id: tenantId, drift_credits: z.int() })).max(NAMED_MAX),
  /** Of all that drift, so that the same drift is told once. */
  digest: z.string(),
  found_at: instant,
});

/** No balance drifts any more. */
const driftGone = event('DriftGone', { tenants_checked: z.int().min(0), gone_at: instant });

/** An audit of the log and the read models found something wrong. */
const auditFound = event('AuditFound', {
  findings: z.int().min(1),
  /** The checks that found it, by the names of the report. */
  checks: z.array(z.string()),
  found_at: instant,
});

export const findingEvent = z.discriminatedUnion('type', [driftFound, driftGone, auditFound]);
export type FindingEvent = z.output<typeof findingEvent>;
export type FindingEventOf<Type extends FindingEvent['type']> = Extract<FindingEvent, { type: Type }>;

/** What the service found wrong with itself: one stream a kind of check. */
export const findingStream = (kind: 'drift' | 'audit'): string => `finding-${kind}`;
