import { type Json, jsonIn, type JsonObject } from './kernel/json.ts';

/**
 * Members of events that hold what a tenant's people write: their text is kept beside the log, and the event has a
 * token in its place. Of each type the paths; a spec holds them against the inventory of personal data.
 */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  PlanSet: ['reason'],
  CreditsGranted: ['invoice_ref', 'note'],
  CreditsRefunded: ['reason'],
  CreditsAdjusted: ['reason'],
  PaymentClaimed: ['intent.data.invoice_ref', 'intent.data.note', 'intent.data.reason'],
  ApiKeyIssued: ['name'],
  UploadPresigned: ['file_name'],
  DocumentRegistered: ['file_name'],
  ConfigPublished: ['name', 'schema'],
  EvaluationSetPublished: ['set_name'],
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

/** The data of an event with its written text as `as` makes it; the same object where there is none. */
export const withWritten = (type: string, data: JsonObject, as: (text: string) => string): JsonObject =>
  (PATHS.get(type) ?? []).reduce((changed, path) => replacedAt(changed, path, as), data);

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
