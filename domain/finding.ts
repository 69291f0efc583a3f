import { z } from 'zod';
import {
  accept,
  type Command,
  type Decider,
  type Decision,
  event,
  type StreamKind,
} from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';
import { canonicalJson, sha256, uuidOfName } from './kernel/chain.ts';

/** Tenants that a finding names; it counts the others. */
const NAMED_MAX = 20;

/** Balances that are not the sum of their grants and ledger, where the check before found others or none. */
const driftFound = event('DriftFound', {
  tenants_checked: z.int().min(0),
  tenants_drifting: z.int().min(1),
  /** The first by tenant. */
  drifting: z.array(z.strictObject({ tenant_id: tenantId, drift_credits: z.int() })).max(NAMED_MAX),
  /** Of all drifting balances, so that the same drift is reported once. */
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

type FindingEvent = z.output<typeof findingEvent>;

const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);

/** What the whole log was up to a position: small, however long the log is. */
export const shortSeal = z.strictObject({
  seal_version: z.literal(2),
  made_at: instant,
  /** Position of the last event, as text. */
  position: z.string().regex(/^\d+$/),
  /** Events up to there. */
  events: z.number().int().min(1),
  /** Digest over positions and hashes of all events up to there (`logDigest.ts`). */
  log_digest: sha256Hex,
  /** `digestOfSeal` of the one before; null of the first. */
  previous: sha256Hex.nullable(),
});

export type ShortSeal = z.output<typeof shortSeal>;

/** The log was sealed. The stream's own chain binds every seal to all earlier ones. */
const logSealed = event('LogSealed', {
  seal: shortSeal,
  /** Where the same seal is in the object store, and until when nobody can change it there. */
  object: z.strictObject({ key: z.string(), retained_until: instant }).nullable(),
});

export const sealEvent = z.discriminatedUnion('type', [logSealed]);

export type SealEvent = z.output<typeof sealEvent>;

type FindingEventOf<Type extends FindingEvent['type']> = Extract<FindingEvent, { type: Type }>;

/** What the service found wrong with itself: one stream a kind of check. */
export const findingStream = (kind: 'drift' | 'audit'): string => `finding-${kind}`;

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

/** A repeated finding is reported once, until it changes. */
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

/** What the books say of one tenant, each figure from rows of its own, in credits. */
interface Books {
  /** Σ grants; refunds are negative grants. */
  readonly grants: number;
  /** Σ adjustments. */
  readonly adjustments: number;
  /** Σ burns. */
  readonly burns: number;
  /** The balance as it is shown. */
  readonly balance: number;
  /** Σ of all ledger rows, sales and refunds among them. */
  readonly posted: number;
}

/** balance = Σ grants + Σ adjustments − Σ burns (docs/explanation/why-events.md). */
export const expectedBalance = ({ grants, adjustments, burns }: Books): number =>
  grants + adjustments - burns;

/**
 * What the balance has too much (+) or too little (−); where the balance is right, what the ledger has.
 * 0: balance, ledger and grants agree.
 */
export const driftOf = (books: Books): number => {
  const expected = expectedBalance(books);
  return books.balance === expected ? books.posted - expected : books.balance - expected;
};

/** SHA-256 over the canonical JSON of a seal: what the next one names. */
export const digestOfSeal = (seal: ShortSeal): string => sha256(canonicalJson(seal));
