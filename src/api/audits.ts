import type { Audits } from '../commands/audits.ts';
import type { Queries } from '../queries/queries.ts';
import { CannotSeal, type SealLog } from '../commands/sealing.ts';
import { z } from 'zod';
import { isKnownType } from '../../domain/catalogue.ts';
import { plan } from '../../domain/account/messages.ts';
import {
  creditsOut,
  fromBoundary,
  instantOut,
  pageFacts,
  pageIn,
  pageOf,
  pagingQuery,
  plainText,
  tenantIdText,
  tenantParams,
  toBoundary,
  wholeNumberText,
  booleanText,
  checkKnown,
} from './schemas/basics.ts';
import { routesOver } from '../server/routes.ts';
import { invalid, problem } from '../server/problems.ts';
import {
  actorsIn,
  balancesAt,
  eventLine,
  logEvents,
  sealList as sealsOf,
  textsIn,
  type EventLine,
  type EventsAsked,
  type LogToRead,
  type Moment,
} from '../queries/log.ts';

/** What these routes need. */
export interface AuditsDeps {
  readonly queries: Pick<Queries, 'apiKeyNames' | 'balanceOfTenant' | 'tenants'>;
  /** The log itself, for auditors. */
  readonly log: LogToRead;
  /** Throws CannotSeal. */
  readonly sealLog: SealLog;
  readonly audits: Audits;
}

const { get, post } = routesOver<AuditsDeps>();

/** A position or a revision: larger than a JSON number may be, so a text. */
const placeIn = z
  .string()
  .regex(/^\d{1,18}$/, 'Expected a whole number.')
  .transform(BigInt)
  .meta({ 'x-wire': { type: 'string', pattern: '^\\d{1,18}$' } });

const placeOut = z.string().regex(/^\d+$/);

const hashOut = z.string().nullable().meta({ description: 'SHA-256, hex; null if the event has none.' });

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

const balanceAtResponse = z
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

const balanceAtList = pageOf(balanceAtResponse, 'BalanceAtList');

const momentQuery = { at: toBoundary.optional(), position: placeIn.optional() };

/** What of a query names a moment; both ways at once are refused. */
const momentIn = ({ at, position }: Moment): Moment => {
  if (at !== undefined && position !== undefined)
    throw invalid({ loc: ['query', 'position'], msg: 'Send at or position, not both.', type: 'value_error' });
  return { at, position };
};

const auditRequest = z
  .strictObject({
    log_only: z.boolean().default(false).meta({ description: 'Leave the read models and the objects out.' }),
    all: z.boolean().default(false).meta({
      description: 'Keep every finding, not only the first 20 of each check; all are counted either way.',
    }),
    tell: z.boolean().default(false).meta({
      description: 'Write findings into the log, so that operators’ webhooks get them.',
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
    unsealed: z
      .strictObject({
        since: instantOut.nullable().meta({ description: 'When the last seal was made; null: never.' }),
        position: text.nullable().meta({ description: 'Of the last event that was sealed; null: none was.' }),
        events: z.int().meta({ description: 'Events after it that no seal covers.' }),
        first_at: instantOut.nullable().meta({ description: 'When the first of them was recorded.' }),
      })
      .nullable()
      .optional()
      .meta({
        description:
          'The end of the log that could be rewritten or cut off without a trace, because it was not sealed yet; ' +
          'null where everything is sealed. `total` does not count it. Left out by audits of earlier releases.',
      }),
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

const auditBody = z.strictObject({ ...auditMembers, report: report.nullable() }).meta({ id: 'Audit' });

const auditList = pageOf(
  z.strictObject({ ...auditMembers, findings: z.int().nullable() }).meta({ id: 'AuditItem' }),
  'AuditList',
);

const auditParams = z.object({ audit_id: plainText(1, 128) });

const sealItem = z
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
  .meta({ id: 'SealItem' });

const sealList = z.strictObject({ items: z.array(sealItem) }).meta({ id: 'SealList' });

const sealRequest = z
  .strictObject({
    retain_days: z
      .int()
      .min(1)
      .max(36_500)
      .nullable()
      .default(null)
      .meta({
        description:
          'Days for which the seal is also locked in the object store, where nobody can change it; null: it is in ' +
          'the log alone.',
      }),
  })
  .meta({ id: 'SealRequest' });

export const cancelAudit = post(
  '/v1/admin/audits/{audit_id}/cancel',
  {
    summary: 'Stop an audit',
    description: 'An audit that has ended, or that another process runs, does not change: see `status`.',
    access: 'admin',
    params: auditParams,
    reply: { status: 200, schema: auditBody },
    problems: ['audit_not_found'],
  },
  async ({ params }, { audits }) => {
    const record = await audits.cancel(params.audit_id);
    if (record === undefined) throw problem('audit_not_found', 'No audit with this ID is kept.');
    return record;
  },
);

export const getAudit = get(
  '/v1/admin/audits/{audit_id}',
  {
    summary: 'How far an audit is, and what it found',
    description:
      '`position` against `end_position` shows how much is read. `interrupted`: its process ended before the audit ' +
      'did; start another. The last 100 audits are kept.',
    access: 'admin',
    params: auditParams,
    reply: { status: 200, schema: auditBody },
    problems: ['audit_not_found'],
  },
  async ({ params }, { audits }) => {
    const record = await audits.find(params.audit_id);
    if (record === undefined) throw problem('audit_not_found', 'No audit with this ID is kept.');
    return record;
  },
);

export const getBalanceAt = get(
  '/v1/admin/tenants/{tenant_id}/balance-at',
  {
    summary: "A tenant's balance as of any moment",
    description:
      "Computed from the account's own events by the rules that decide about money, not read from a table. Every " +
      'event up to `at` (time of recording, or of booking where that month was closed) or `position` counts; ' +
      'without both, all do. `event` is the last one that counts. The time it takes grows with the number of events ' +
      'of the account. A tenant’s own key reads its own.',
    access: 'any',
    tenant: 'path',
    bucket: 'heavy',
    params: tenantParams,
    query: z.object(momentQuery),
    reply: { status: 200, schema: balanceAtResponse },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ params, query, signal }, deps) => {
    const [found] = await balancesAt(deps.log, [params.tenant_id], { moment: momentIn(query), signal });
    await checkKnown(deps, params.tenant_id, { isEmpty: found?.event === null });
    return found;
  },
);

export const listBalancesAt = get(
  '/v1/admin/balances',
  {
    summary: "All tenants' balances as of any moment",
    description:
      'As `GET /v1/admin/tenants/{tenant_id}/balance-at`, for each tenant that there is, newest first: computed from ' +
      'the events of its account. An `at` of the last day of a month gives the closing balances of that month. ' +
      '`event` is null, and every figure 0, where an account was opened later.',
    access: 'admin',
    bucket: 'heavy',
    query: z.object({ ...pagingQuery, ...momentQuery }),
    reply: { status: 200, schema: balanceAtList },
    reads: 'all',
  },
  async ({ query, meta, signal }, { log, queries }) => {
    const moment = momentIn(query);
    const found = await queries.tenants({ ...pageIn(query), now: meta.now });
    const ids = found.items.map(({ tenant_id }) => tenant_id);
    return { items: await balancesAt(log, ids, { moment, signal }), ...pageFacts(query, found) };
  },
);

export const listAudits = get(
  '/v1/admin/audits',
  {
    summary: 'The audits that are kept, newest first',
    description:
      'The last 100, of all processes. `findings` is a number; `GET` of one audit shows the findings.',
    access: 'admin',
    query: z.object(pagingQuery),
    reply: { status: 200, schema: auditList },
  },
  async ({ query }, { audits }) => {
    const found = await audits.list(query);
    const shown = found.items.map(({ report, ...item }) => ({ ...item, findings: report?.total ?? null }));
    return { items: shown, ...pageFacts(query, found) };
  },
);

/** Lines that are made together. */
const LINES_AT_ONCE = 50;

/** Events as lines; `isWithTexts`: each with what its tokens stand for, and the name of the key that acted. */
async function* lines(
  { log, queries }: Pick<AuditsDeps, 'log' | 'queries'>,
  { isWithTexts, ...asked }: EventsAsked & { readonly isWithTexts: boolean },
): AsyncGenerator<string> {
  const page: EventLine[] = [];
  const told = async (): Promise<string> => {
    const made = page.splice(0);
    const shown = isWithTexts ? await actorsIn({ log, ...queries }, await textsIn(log, made)) : made;
    return shown.map((line) => `${JSON.stringify(line)}\n`).join('');
  };
  for await (const event of logEvents(log, asked)) {
    page.push(eventLine(event));
    if (!isWithTexts || page.length === LINES_AT_ONCE) yield await told();
  }
  if (page.length > 0) yield await told();
}

export const listEvents = get(
  '/v1/admin/events',
  {
    summary: 'The event log as it is stored',
    description:
      'NDJSON, one event a line: `position`, `stream`, `revision` (as text), `event_id`, `type`, `recorded_at`, ' +
      '`hash_version`, `prev_hash`, `hash`, `data`, `metadata`, `covered` (the text whose SHA-256 is `hash`) and ' +
      '`texts_moved`. A member that somebody changed so that it is no longer JSON is null. Name one `stream`, or one ' +
      '`tenant_id` (this searches the whole log), or neither for all events. To continue, send the last `revision` ' +
      '(of a stream) or `position` as `after`. Lines are sent as fast as you read them. Text that people wrote ' +
      'appears as a token, because the token was hashed. With `texts=true` a line also has `texts`: the text of each ' +
      'token, or null if it was erased, and `actor_name`, the name of the key that acted (null: it has none). ' +
      '`type`, `actor`, `from`, `to` and `q` choose among the events; `q` is text that the event or a text beside it ' +
      'has. ' +
      'If the texts of an event were moved into the vault (`texts_moved`), its ' +
      '`data` and `metadata` have tokens that were not hashed, and `covered` is null: the audit verifies the event.',
    access: 'admin',
    bucket: 'heavy',
    query: z.object({
      stream: plainText(1, 400).optional(),
      tenant_id: tenantIdText.optional(),
      after: placeIn.optional(),
      type: plainText(1, 100)
        .refine(isKnownType, { error: 'There is no such type: GET /v1/admin/events shows those there are.' })
        .optional()
        .meta({ description: 'Type of event, as `CreditsGranted`.' }),
      actor: plainText(1, 200).optional().meta({ description: 'ID of the key that acted, or `system`.' }),
      from: fromBoundary.optional().meta({ description: 'Recorded then or later.' }),
      to: toBoundary.optional().meta({ description: 'Recorded until then, inclusive.' }),
      q: plainText(1, 200).optional().meta({
        description:
          'Text that the stream, the type, a value of the content, who acted or a text beside it has, in any case.',
      }),
      direction: z.enum(['forwards', 'backwards']).default('forwards'),
      limit: wholeNumberText(1, 1_000_000).default(1_000),
      texts: booleanText
        .default(false)
        .meta({ description: 'Whether each line also has the texts of its tokens.' }),
    }),
    reply: { status: 200, contentType: 'application/x-ndjson' },
    problems: ['tenant_not_found'],
    reads: 'all',
  },
  async ({ query, signal }, deps) => {
    const { texts: isWithTexts, ...asked } = query;
    const { tenant_id, from, to } = asked;
    if (from !== undefined && to !== undefined && to < from)
      throw invalid({ loc: ['query', 'to'], msg: 'Lies before from.', type: 'value_error' });
    if (tenant_id !== undefined) await checkKnown(deps, tenant_id, { isEmpty: true });
    return { contentType: 'application/x-ndjson', body: lines(deps, { ...asked, isWithTexts, signal }) };
  },
);

export const listSeals = get(
  '/v1/admin/seals',
  {
    summary: 'The seals of the log, newest first',
    description:
      '`state` is the result of the last audit kept; `continues` says whether the seal names the one before it.',
    access: 'admin',
    reply: { status: 200, schema: sealList },
  },
  async (_request, { log, audits }) => ({ items: await sealsOf(log, await audits.lastReported()) }),
);

export const sealEventLog = post(
  '/v1/admin/seals',
  {
    summary: 'Seal the log as it is now',
    description:
      'Does the same as `quire seal`: the seal covers every event before it, so that a cut or rewritten log is seen ' +
      'by later audits. Each request makes a seal. The time it takes grows with the events since the last one.',
    access: 'admin',
    bucket: 'heavy',
    body: sealRequest,
    reply: { status: 201, schema: sealItem },
    problems: ['log_not_sealed'],
  },
  async ({ body, caller: { key_id, role }, signal }, { log, audits, sealLog }) => {
    const wish = { retainDays: body.retain_days, actor: { key_id, role }, signal };
    const sealed = await sealLog(wish).catch((error: unknown) => {
      throw error instanceof CannotSeal ? problem('log_not_sealed', error.message) : error;
    });
    const made = (await sealsOf(log, await audits.lastReported())).find(
      ({ position, made_at }) => position === sealed?.seal.position && made_at === sealed.seal.made_at,
    );
    if (made === undefined) throw problem('log_not_sealed', 'The log is empty: there is nothing to seal.');
    return made;
  },
);

export const startAudit = post(
  '/v1/admin/audits',
  {
    summary: 'Begin an audit of the event log and the read models',
    description:
      'Does the same as `quire audit`, in a separate thread; each process runs one at a time. Poll `GET ' +
      '/v1/admin/audits/{audit_id}` until `status` is no longer `running`.',
    access: 'admin',
    bucket: 'heavy',
    body: auditRequest,
    reply: { status: 202, schema: auditBody },
    problems: ['audit_running'],
  },
  async ({ body, caller }, { audits }) => {
    const { kind, record } = await audits.start(body, caller.key_id);
    if (kind === 'started') return record;
    throw problem('audit_running', 'Another audit runs in this process.', { audit_id: record.audit_id });
  },
);
