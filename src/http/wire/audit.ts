import { z } from 'zod';
import { plan } from '../../../domain/account/messages.ts';
import { creditsOut, instantOut, pageOf, plainText } from './basics.ts';

/** A position or a revision: larger than a JSON number may be, so a text. */
export const placeIn = z
  .string()
  .regex(/^\d{1,18}$/, 'Expected a whole number.')
  .transform(BigInt)
  .meta({ 'x-wire': { type: 'string', pattern: '^\\d{1,18}$' } });

const placeOut = z.string().regex(/^\d+$/);

const hashOut = z.string().nullable().meta({ description: 'SHA-256, hex; null where it says none.' });

/** Where a balance comes from. */
const standsOn = z
  .strictObject({
    position: placeOut,
    revision: placeOut,
    event_id: z.string(),
    type: z.string(),
    recorded_at: instantOut.nullable(),
    hash: hashOut,
  })
  .meta({ id: 'EventPlace' });

export const balanceAtResponse = z
  .strictObject({
    tenant_id: z.string(),
    plan,
    balance_credits: creditsOut,
    held_credits: creditsOut,
    available_credits: creditsOut,
    total_credits_purchased: creditsOut,
    total_credits_used: creditsOut,
    total_credits_adjusted: creditsOut,
    free_pages_used: z.int(),
    free_pages_held: z.int(),
    open_holds: z.int(),
    event: standsOn.nullable().meta({
      description: 'The last event of the account that counts; null before the account was opened.',
    }),
  })
  .meta({ id: 'BalanceAt' });

export const auditRequest = z
  .strictObject({
    log_only: z.boolean().default(false).meta({ description: 'Leaves the read models out.' }),
    all: z.boolean().default(false).meta({
      description: 'Keeps every finding, not only the first 20 of each check; all are counted either way.',
    }),
    tell: z.boolean().default(false).meta({
      description: 'Writes findings into the log, so that webhooks of operators are told.',
    }),
  })
  .meta({ id: 'AuditRequest' });

const text = z.string();

const finding = z
  .strictObject({
    check: text,
    message: text,
    stream: text.optional(),
    revision: text.optional(),
    position: text.optional(),
    table: text.optional(),
    tenant_id: text.optional(),
    key: text.optional(),
    column: text.optional(),
    expected: text.optional(),
    found: text.optional(),
  })
  .meta({ id: 'AuditFinding' });

const report = z
  .strictObject({
    checks: z.array(z.strictObject({ check: text, about: text, checked: z.int(), findings: z.int() })),
    findings: z.array(finding),
    notes: z.array(text),
    facts: z.strictObject({
      events: z.int(),
      streams: z.int(),
      tenants: z.int(),
      position: text.nullable(),
      first_at: text.nullable(),
      last_at: text.nullable(),
    }),
    total: z.int(),
    read_models: z.array(z.strictObject({ name: text, position: text.nullable() })).nullable(),
  })
  .meta({ id: 'AuditReport' });

const auditMembers = {
  audit_id: text,
  status: z.enum(['running', 'succeeded', 'failed', 'cancelled', 'interrupted']),
  log_only: z.boolean(),
  all: z.boolean(),
  tell: z.boolean(),
  stage: z.enum(['starting', 'reading_tables', 'reading_log']),
  events: z.int(),
  position: text.nullable(),
  end_position: text.nullable(),
  started_at: instantOut,
  started_by: text,
  updated_at: instantOut,
  finished_at: instantOut.nullable(),
  error: text.nullable(),
};

export const auditBody = z.strictObject({ ...auditMembers, report: report.nullable() }).meta({ id: 'Audit' });

export const auditList = pageOf(
  z.strictObject({ ...auditMembers, findings: z.int().nullable() }).meta({ id: 'AuditItem' }),
  'AuditList',
);

export const auditParams = z.object({ audit_id: plainText(1, 128) });

export const sealList = z
  .strictObject({
    items: z.array(
      z
        .strictObject({
          revision: placeOut,
          position: placeOut,
          events: z.int(),
          made_at: instantOut,
          log_digest: text,
          continues: z.boolean(),
          object_key: text.nullable(),
          retained_until: instantOut.nullable(),
          state: z.enum(['holds', 'differs', 'not_checked']),
          audit_id: text.nullable(),
        })
        .meta({ id: 'SealItem' }),
    ),
  })
  .meta({ id: 'SealList' });
