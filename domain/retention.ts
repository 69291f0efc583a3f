import { Map as ImmutableMap } from 'immutable';
import { z } from 'zod';
import { accept, type Command, type Decider, event, reject, type StreamKind } from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';

/** What is kept for some days and then removed. */
export const KEPT_CLASSES = ['uploads', 'results', 'examples', 'deliveries'] as const;
type KeptClass = (typeof KEPT_CLASSES)[number];

/** Days that an installation keeps things: `RESULT_RETENTION_DAYS` and its like. */
export interface Retention {
  /** Used uploads, after they were sent; 0: permanently. */
  readonly uploads: number;
  /** Results, after they were billed: at least 1, for repeats of a request. */
  readonly results: number;
  /** Examples of training jobs, after their job has ended; 0: permanently. */
  readonly examples: number;
  /** Settled deliveries of webhooks, after they were made; 0: permanently. */
  readonly deliveries: number;
}

/** The most days that an installation may set, apart from permanently. */
export const RETENTION_DAYS_MAX = 36_500;

const own = z.number().int().min(1).max(RETENTION_DAYS_MAX).nullable();

/** How many days a tenant's things are kept; null inherits the installation's. It replaces what was set before. */
const retentionSet = event('RetentionSet', {
  tenant_id: tenantId,
  days: z.strictObject({ uploads: own, results: own, examples: own, deliveries: own }),
  updated_at: instant,
  updated_by: z.string(),
});

export const tenantRetentionEvent = z.discriminatedUnion('type', [retentionSet]);
type TenantRetentionEvent = z.output<typeof tenantRetentionEvent>;

/** The latest setting of a tenant. */
type OwnRetention = Omit<TenantRetentionEvent['data'], 'tenant_id'>;

/** Of each class days, or null: those of the installation. */
export type OwnDays = OwnRetention['days'];

/** Tenants for which something was ever set. */
export interface TenantRetentionState {
  readonly tenants: ImmutableMap<string, OwnRetention>;
}

/** Replaces all of a tenant's days; `installation`: how long things are kept where a tenant has no days of its own. */
type SetRetention = Command<
  'SetRetention',
  { readonly tenant_id: string; readonly days: OwnDays; readonly installation: Retention }
>;

/** The installation promises to remove things by then: a tenant's may go earlier, and not later. */
export interface KeptTooLong {
  readonly code: 'kept_too_long';
  readonly what: KeptClass;
  /** The most days that can be set. */
  readonly days: number;
}

export type TenantRetentionKind = StreamKind<
  TenantRetentionState,
  SetRetention,
  TenantRetentionEvent,
  KeptTooLong
>;

/** The days of all tenants, in one stream: they are rarely set, and the sweeper needs all of them. */
export const TENANT_RETENTION_STREAM = 'tenantRetention';

const INHERITED: OwnDays = { uploads: null, results: null, examples: null, deliveries: null };

/** What holds already is not recorded again. */
export const tenantRetention: Decider<TenantRetentionKind> = {
  initialState: { tenants: ImmutableMap() },
  decide: ({ tenants }, { data: { tenant_id, days, installation }, meta }) => {
    const before = tenants.get(tenant_id)?.days ?? INHERITED;
    if (KEPT_CLASSES.every((what) => before[what] === days[what])) return accept();
    const what = KEPT_CLASSES.find((one) => installation[one] > 0 && (days[one] ?? 0) > installation[one]);
    if (what !== undefined) return reject({ code: 'kept_too_long', what, days: installation[what] });
    return accept({
      type: 'RetentionSet',
      data: { tenant_id, days, updated_at: meta.now, updated_by: meta.actor.key_id },
    });
  },
  evolve: ({ tenants }, { data: { tenant_id, ...set } }) => ({ tenants: tenants.set(tenant_id, set) }),
};

/** How long things are kept, of each tenant. */
export interface KeptDays {
  readonly installation: Retention;
  /** Tenants that have days of their own. */
  readonly tenants: readonly string[];
  readonly of: (tenantId: string) => Retention;
}

/** Of each class the fewer days: those of the installation may have become fewer since a tenant's were set. */
const fewer = (installation: Retention, days: OwnDays): Retention => {
  const one = (what: KeptClass): number => {
    const most = installation[what];
    const least = days[what] ?? most;
    return most === 0 ? least : Math.min(least, most);
  };
  return {
    uploads: one('uploads'),
    results: one('results'),
    examples: one('examples'),
    deliveries: one('deliveries'),
  };
};

/** What holds for each tenant. */
export const keptDays = (
  installation: Retention,
  { tenants }: TenantRetentionState = tenantRetention.initialState,
): KeptDays => ({
  installation,
  tenants: [...tenants.keys()],
  of: (tenantId) => fewer(installation, tenants.get(tenantId)?.days ?? INHERITED),
});
