import { z } from 'zod';
import { problemsOf, type Route } from './routes.ts';
import { PROBLEM_CODES, statusOf, titleOf, wireCodeOf, type ProblemCode } from '../problemTable.ts';

/** A piece of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** Schemas that have an `id`, gathered from all routes. */
export type Components = Record<string, unknown>;

/** Where named schemas live. */
export const COMPONENT = '#/components/schemas/';

/** JSON Schema's `$defs` become components; references follow. */
const rehomed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rehomed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string' ? member.replace('#/$defs/', COMPONENT) : rehomed(member),
    ]),
  );
};

interface Converted {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: Record<string, unknown>;
}

/** An empty text is taken too, and counts as absent. */
const orEmpty = (jsonSchema: Record<string, unknown>): void => {
  const { 'x-or-empty': _, description, ...rest } = jsonSchema;
  for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
  Object.assign(jsonSchema, description === undefined ? {} : { description }, {
    anyOf: [rest, { type: 'string', enum: [''] }],
  });
};

/**
 * What a member is documented as, where its own schema is about text of a URL or form. zod leaves out the
 * default of such a member, for it is given in what the text becomes.
 */
const asDocumented = ({ zodSchema, jsonSchema }: Converted): void => {
  const documented = jsonSchema['x-wire'];
  const { description } = jsonSchema;
  if (typeof documented === 'object' && documented !== null) {
    for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
    Object.assign(jsonSchema, description === undefined ? {} : { description }, documented);
  }
  if (jsonSchema['x-or-empty'] === true) orEmpty(jsonSchema);
  const { def } = zodSchema._zod;
  if (def.type === 'union' && 'discriminator' in def)
    jsonSchema['discriminator'] = { propertyName: def.discriminator };
  if (def.type === 'default') jsonSchema['default'] = def.defaultValue;
};

/** A zod schema as OpenAPI 3.1 has it; named ones go to `components` and leave a reference. */
export const schemaOf = (schema: z.ZodType, io: 'input' | 'output', components: Components): Json => {
  const { $defs = {}, ...top } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: asDocumented,
  }) as Record<string, unknown>;
  for (const [id, definition] of Object.entries($defs as Record<string, unknown>))
    components[id] = rehomed(definition);
  const { $schema: _, id, ...plain } = rehomed(top) as Record<string, unknown>;
  if (typeof id !== 'string') return plain;
  components[id] = plain;
  return { $ref: `${COMPONENT}${id}` };
};

const count = (description: string): Json => ({ type: 'integer', description });
const word = (description: string): Json => ({ type: 'string', description });

const ISSUE: Json = {
  type: 'object',
  description: 'One thing that is wrong with the request.',
  properties: {
    loc: {
      type: 'array',
      description: '`body`, `query`, `path` or `header`, then the names and positions down to the value.',
      items: { type: ['string', 'integer'] },
    },
    msg: word('What is wrong, in a sentence.'),
    type: word('Kind of the mistake.'),
  },
  required: ['loc', 'msg', 'type'],
};

const FALLEN_FIELD: Json = {
  type: 'object',
  description: 'A field that is worse than it has to be.',
  properties: {
    path: word('JSON Pointer of the field; `*` stands for every row of a list.'),
    f1: { type: ['number', 'null'], description: 'Its F1, 0 to 1; null if no value of it was counted.' },
    before: { type: 'number', description: 'The F1 that it has to reach.' },
  },
  required: ['path', 'f1', 'before'],
};

/** Codes whose own members are in every answer. */
const ALWAYS_WITH_MEMBERS: ReadonlySet<string> = new Set(['validation_error', 'gate_not_passed']);

/** Members beside those that every problem has. Where not every answer with the code has one, it is not required. */
const OWN_MEMBERS: Readonly<Partial<Record<ProblemCode, Readonly<Record<string, Json>>>>> = {
  body_too_large: {
    max_bytes: count('The most bytes that a body may have.'),
    max_values: count('The most values that a body may have.'),
  },
  budget_read_only: {
    parent_limit_credits: {
      type: ['integer', 'null'],
      description: 'How far the key may raise its own budget; null: it may not.',
    },
  },
  budget_reached: {
    budget_id: word('The budget that refuses.'),
    limit_credits: count('The most that may be used and held in its period.'),
    used_credits: count('Burned in this period.'),
    held_credits: count('Held by work that is not done yet.'),
    required_credits: count('What the work may cost.'),
    resets_at: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When its next period begins; null: never.',
    },
  },
  charge_required: {
    job_id: word('The job whose examples are asked for.'),
    required_credits: count('What the charge costs.'),
  },
  too_many_budgets: { max_budgets: count('The most budgets that a tenant may have.') },
  ambiguous_minor_units: { currency: word('The currency that was sent.') },
  currency_not_offered: { currency: word('The currency that was sent.') },
  file_too_large: { max_bytes: count('The most bytes that a file may have.') },
  gate_not_passed: {
    run_id: {
      type: ['string', 'null'],
      description: 'The run that was judged; null if none measured this with the latest version of the set.',
    },
    f1: { type: ['number', 'null'], description: 'F1 of that run, 0 to 1; null if there is none.' },
    required_f1: {
      type: ['number', 'null'],
      description: 'The F1 that it has to reach; null if the run cannot be judged by it.',
    },
    fields: {
      type: 'array',
      description: 'The fields that fell short, at most 100.',
      items: FALLEN_FIELD,
    },
  },
  insufficient_balance: {
    available_credits: count('The balance without the credits that running work holds.'),
    max_refundable_credits: count('The most that can be refunded now.'),
  },
  insufficient_credits: {
    required_credits: count('What the work may cost.'),
    available_credits: count('The balance without the credits that running work holds.'),
  },
  model_provider_error: {
    provider: word('The provider that failed.'),
    provider_status: {
      type: ['integer', 'null'],
      description:
        'The HTTP status of its answer; null if the fault is in the answer itself, or there was no answer.',
    },
  },
  output_schema_mismatch: {
    validation_errors: {
      type: 'array',
      description: 'What does not fit the schema.',
      items: { $ref: `${COMPONENT}OutputValidationError` },
    },
  },
  plan_required: { plan: word('The plan of the tenant.'), required_plan: word('The plan that includes it.') },
  price_mismatch: {
    expected_minor: count('The amount by the price list, in minor units of the currency, VAT included.'),
  },
  rate_limited: {
    bucket: word('The bucket that is empty: `heavy`, `general`, `upload`, `unread` or `sign_in`.'),
  },
  refund_exceeds_original: {
    refundable_credits: count('Credits of the sale that can still be refunded.'),
    refundable_amount_minor: {
      type: ['integer', 'null'],
      description:
        'Money of the sale that can still be refunded, in minor units; null if the sale had no amount.',
    },
  },
  refund_mismatch: { reason: word('What is different: `tenant` or `currency`.') },
  reversal_exceeds_refund: {
    reversible_credits: count('Credits of the refund that can still be given back.'),
    reversible_amount_minor: count('Money of the refund that can still be reversed, in minor units.'),
  },
  review_decided: { generation: count('The current generation of the review.') },
  review_rejected: {
    reason: word('Why: `illegible`, `wrong_document`, `value_missing` or `other`.'),
  },
  review_leased: {
    lease_until: word('Time until which somebody else has the review, unless they renew it.'),
  },
  source_unavailable: {
    source_status: {
      type: ['integer', 'null'],
      description:
        'The HTTP status of the host of `source_url`; null if it did not answer, or not completely.',
    },
  },
  table_beyond_limits: {
    limit: word(
      'What there is too much of: `rows`, `columns`, `cell_characters`, `row_characters`, `bytes` or `tables`.',
    ),
    max: count('The most that there may be.'),
  },
  too_many_pages: {
    pages: count('Pages of the document.'),
    max_pages: count('The most pages that are read at once.'),
  },
  upload_quota_exceeded: {
    used_bytes: count('Bytes that are stored.'),
    quota_bytes: count('The most bytes that may be stored.'),
  },
  validation_error: {
    errors: {
      type: 'array',
      description: 'Each thing that is wrong with the request, and where.',
      items: ISSUE,
    },
  },
};

/** The name of a code's schema: `insufficient_credits` is `InsufficientCreditsProblem`. */
const schemaNameOf = (wireCode: string): string =>
  wireCode === 'validation_error'
    ? 'HTTPValidationError'
    : `${wireCode.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Problem`;

const problemSchema = (wireCode: string): Json => {
  const codes = PROBLEM_CODES.filter((code) => wireCodeOf(code) === wireCode);
  const statuses = codes.map(statusOf);
  const titles = codes.map(titleOf);
  const own = Object.assign({}, ...codes.map((code) => OWN_MEMBERS[code])) as Readonly<Record<string, Json>>;
  return {
    type: 'object',
    description: `${titles.join('. ')}. RFC 9457; what to do: /docs/problems/${wireCode}.`,
    properties: {
      type: { const: `/docs/problems/${wireCode}`, description: 'The page of the problem, at this service.' },
      title: { enum: titles, description: 'The problem in a few words.' },
      status: { enum: statuses, description: 'Status of the HTTP answer.' },
      code: { const: wireCode, description: 'The code that programs use for the problem.' },
      detail: word('A sentence for people.'),
      request_id: word('ID of the request, as in `X-Request-Id`.'),
      ...own,
    },
    required: [
      'type',
      'title',
      'status',
      'code',
      'detail',
      'request_id',
      ...(ALWAYS_WITH_MEMBERS.has(wireCode) ? Object.keys(own) : []),
    ],
  };
};

/** A schema for each code that one of the routes answers with. */
export const problemSchemas = (routes: readonly Route[]): Readonly<Record<string, Json>> => {
  const answered = new Set(routes.flatMap(problemsOf).map(wireCodeOf));
  return Object.fromEntries([...answered].map((code) => [schemaNameOf(code), problemSchema(code)]));
};

const refTo = (wireCode: string): Json => ({ $ref: `${COMPONENT}${schemaNameOf(wireCode)}` });

const problemContent = (wireCodes: readonly string[]): Json => {
  const [only] = wireCodes;
  if (only !== undefined && wireCodes.length === 1) return { schema: refTo(only) };
  const mapping = Object.fromEntries(wireCodes.map((code) => [code, `${COMPONENT}${schemaNameOf(code)}`]));
  return { schema: { oneOf: wireCodes.map(refTo), discriminator: { propertyName: 'code', mapping } } };
};

const RETRY_HEADER = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
};

/** A route's answers if it does not do what was asked, by status. */
export const problemResponses = (route: Route): Json => {
  const byStatus = new Map<number, string[]>();
  for (const code of problemsOf(route))
    byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), wireCodeOf(code)]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        ...((status === 429 || status === 503 || codes.includes('request_in_progress')) && {
          headers: RETRY_HEADER,
        }),
        content: { 'application/problem+json': problemContent([...new Set(codes)]) },
      },
    ]),
  );
};
