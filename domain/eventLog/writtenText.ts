import { categoryOf, sha256 } from '../kernel/chain.ts';
import { type Json, jsonIn, type JsonObject } from '../kernel/json.ts';
import type { RecordedEvent } from '../kernel/recorded.ts';

/**
 * Members of events that hold what a tenant's people write: their text is kept beside the log, and the event has a
 * token in its place. Of each type the paths; a spec holds them against the inventory of personal data.
 */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  PlanSet: ['reason'],
  CreditsGranted: ['invoice_ref', 'note'],
  SaleDetailsAdded: ['details.invoice_ref'],
  SaleRateBooked: ['reason'],
  CreditsRefunded: ['reason'],
  RefundReversed: ['reason'],
  CreditsTransferredOut: ['reason'],
  CreditsAdjusted: ['reason'],
  PaymentClaimed: ['intent.data.invoice_ref', 'intent.data.note', 'intent.data.reason'],
  ApiKeyIssued: ['name'],
  BudgetSet: ['name'],
  BillingDetailsSet: ['legal_name', 'address', 'vat_id', 'billing_email'],
  TopUpSet: ['payer', 'payment_method'],
  UploadPresigned: ['file_name'],
  DocumentRegistered: ['file_name'],
  ConfigPublished: ['name', 'schema', 'rules'],
  EvaluationSetPublished: ['set_name'],
  TablePublished: ['table_name', 'header'],
  ReviewRejected: ['note'],
  TrainingJobCreated: ['name'],
  WebhookCreated: ['url', 'description'],
  WebhookChanged: ['url', 'description'],
};

const PATHS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map(
  Object.entries(WRITTEN).map(([type, paths]) => [type, paths.map((path) => path.split('.'))]),
);

/** Every such member, as `CreditsGranted.note`. */
export const writtenMembers = (): readonly string[] =>
  Object.entries(WRITTEN).flatMap(([type, paths]) => paths.map((path) => `${type}.${path}`));

/** `quire:text:<tenant>.<scope>.<text>`, each a keyed or plain digest in hex. */
const TOKEN = /quire:text:([0-9a-f]{16})\.([0-9a-f]{16})\.([0-9a-f]{32})/;
const WHOLE = new RegExp(`^${TOKEN.source}$`);
const EACH = new RegExp(TOKEN.source, 'g');

/** What a token says: whose text it is, of which part of the tenant's, and the digest that it is found by. */
export interface TokenParts {
  readonly tenant: string;
  readonly scope: string;
  readonly text: string;
}

/** The name of a tenant in tokens and in keys of objects. */
export const tenantNameOf = (tenantId: string): string =>
  sha256(`quire vault tenant ${tenantId}`).slice(0, 16);

/** Streams that have texts of their own, which go with a document: one can be forgotten without the others. */
const OWN_SCOPE: ReadonlySet<string> = new Set(['document', 'review']);

export const scopeNameOf = (stream: string): string =>
  sha256(`quire vault scope ${OWN_SCOPE.has(categoryOf(stream)) ? stream : ''}`).slice(0, 16);

export const tokenOf = ({ tenant, scope, text }: TokenParts): string =>
  `quire:text:${tenant}.${scope}.${text}`;

/** undefined for whatever is no token. */
export const tokenParts = (text: string): TokenParts | undefined => {
  const [, tenant, scope, digest] = WHOLE.exec(text) ?? [];
  return tenant === undefined || scope === undefined || digest === undefined
    ? undefined
    : { tenant, scope, text: digest };
};

/** Every token in a text, once. */
export const tokensIn = (text: string): readonly string[] =>
  text.includes('quire:text:') ? [...new Set(text.match(EACH) ?? [])] : [];

/** The member that stands alone in the place of an object whose JSON is kept beside the log. */
const JSON_MEMBER = 'quire:json';

const OBJECTS = new RegExp(`\\{"${JSON_MEMBER}":"(${TOKEN.source})"\\}`, 'g');
const STRINGS = new RegExp(`"(${TOKEN.source})"`, 'g');

/** JSON with each token as the text that it stands for; undefined: null. */
export const withQuotedTokens = (json: string, textOf: (token: string) => string | undefined): string =>
  json
    .replaceAll(OBJECTS, (_, token: string) => textOf(token) ?? 'null')
    .replaceAll(STRINGS, (_, token: string) => JSON.stringify(textOf(token) ?? null));

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The replacement of a text; `path`: of its member. */
type InPlaceOf = (text: string, path: string) => string;

/** A member in the form that the log is to have it in. */
const replaced = (member: Json | undefined, as: (text: string) => string): Json | undefined => {
  if (typeof member === 'string') return member === '' ? member : as(member);
  return isObject(member) && !(JSON_MEMBER in member)
    ? { [JSON_MEMBER]: as(JSON.stringify(member)) }
    : member;
};

const replacedAt = (data: JsonObject, path: readonly string[], as: (text: string) => string): JsonObject => {
  const [name = '', ...rest] = path;
  const member = data[name];
  if (rest.length > 0 && !isObject(member)) return data;
  const inner = isObject(member) && rest.length > 0 ? replacedAt(member, rest, as) : replaced(member, as);
  return inner === undefined || inner === member ? data : { ...data, [name]: inner };
};

/** The data of an event with its written text replaced by `as`; the same object if it has none. */
export const withWritten = (type: string, data: JsonObject, as: InPlaceOf): JsonObject =>
  (PATHS.get(type) ?? []).reduce(
    (changed, path) => replacedAt(changed, path, (text) => as(text, path.join('.'))),
    data,
  );

/** A value of JSON with each token as the text that it stands for; undefined: null. */
export const withoutTokens = (value: Json, as: (token: string) => string | undefined): Json => {
  if (typeof value === 'string') return tokenParts(value) === undefined ? value : (as(value) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one: Json) => withoutTokens(one, as));
  const inner = (value as JsonObject)[JSON_MEMBER];
  if (typeof inner === 'string') return (jsonIn(as(inner) ?? 'null') ?? null) as Json;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, one]) => [name, withoutTokens(one, as)]),
  );
};

/** What members and metadata of old events have of somebody who signed in by a provider. */
const SUBJECT = 'oidc:';

/** A value with the people who signed in replaced by `as`; the same value if there are none. */
const withSubjects = (value: Json, as: (subject: string) => string): Json => {
  if (typeof value === 'string') return value.startsWith(SUBJECT) ? as(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    const named = items.map((one) => withSubjects(one, as));
    return named.some((one, at) => one !== items[at]) ? named : items;
  }
  const before = Object.entries(value as JsonObject);
  const after = before.map(([name, one]): [string, Json] => [name, withSubjects(one, as)]);
  return after.some(([, one], at) => one !== before[at]?.[1]) ? Object.fromEntries(after) : value;
};

/** Operators are no tenant's: what they are called stays where it is. */
const operatorIn = (metadata: JsonObject): Json | undefined => {
  const actor = metadata['actor'];
  return isObject(actor) && actor['role'] === 'admin' ? actor['key_id'] : undefined;
};

/** The token of a text that an earlier release wrote into an event: it says where the text is, not what it is. */
export const placedToken = (
  { stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>,
  { tenantId, path }: { readonly tenantId: string; readonly path: string },
): string => {
  const place = sha256(`quire vault place ${stream} ${String(revision)} ${path}`).slice(0, 32);
  return tokenOf({ tenant: tenantNameOf(tenantId), scope: scopeNameOf(stream), text: place });
};

/**
 * An event with tokens in place of the texts that an earlier release wrote into it: those of the tenant's people, and
 * who signed in. A token is made only from the event's place, so that it can be found without a key, also once there
 * is none. undefined: the event has no such text. `told` gets each text.
 */
export const withoutTexts = (
  { stream, revision, type, data, metadata }: Omit<RecordedEvent, 'id' | 'position'>,
  told?: (token: string, text: string) => void,
): Pick<RecordedEvent, 'data' | 'metadata'> | undefined => {
  const tenantId = metadata['tenant_id'];
  if (typeof tenantId !== 'string') return undefined;
  const as: InPlaceOf = (text, path) => {
    if (tokenParts(text) !== undefined) return text;
    const token = placedToken({ stream, revision }, { tenantId, path });
    told?.(token, text);
    return token;
  };
  const operator = operatorIn(metadata);
  const subjects: string[] = [];
  const who = (subject: string): string => {
    if (subject === operator) return subject;
    if (!subjects.includes(subject)) subjects.push(subject);
    return as(subject, `who ${String(subjects.indexOf(subject))}`);
  };
  const changed = withSubjects(withWritten(type, data, as), who) as JsonObject;
  const changedMetadata = withSubjects(metadata, who) as JsonObject;
  return changed === data && changedMetadata === metadata
    ? undefined
    : { data: changed, metadata: changedMetadata };
};
