import type { Random } from '../../engine/test/support/random.ts';
import { namedValue, valueOf, type Operation, type Making, type KeyKind } from './world.ts';

/** One part of a form; with a `fileName` it is a file. */
export interface FormPart {
  name: string;
  fileName?: string;
  value: string;
}

type Content =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; value: unknown }
  | { readonly kind: 'form'; parts: FormPart[] }
  | { readonly kind: 'bytes'; bytes: Buffer };

/** A request before it is written; mutations change it. */
export interface Draft {
  readonly operation: Operation;
  readonly key: KeyKind;
  method: string;
  params: Record<string, string>;
  query: [string, string][];
  headers: Record<string, string | string[]>;
  content: Content;
  /** What was done to it. */
  readonly changes: string[];
}

const FILES = [
  'Invoice number: Q-1001\nName: pear\nTotal: 120.50 EUR\n',
  'item;count;price\npear;3;1,50\n',
  '%PDF-1.4 not a PDF',
  '',
];

const formParts = (making: Making, value: Record<string, unknown>): FormPart[] =>
  Object.entries(value).map(([name, text]) =>
    name === 'file'
      ? { name, fileName: making.random.pick(['a.txt', 'a.csv', 'a.pdf']), value: making.random.pick(FILES) }
      : { name, value: String(text) },
  );

const contentOf = (making: Making, { body }: Operation): Content => {
  if (body === undefined) return { kind: 'none' };
  if (body.mediaType === 'application/json') return { kind: 'json', value: valueOf(making, body.schema) };
  if (body.mediaType !== 'multipart/form-data')
    return { kind: 'bytes', bytes: Buffer.from(making.random.pick(FILES)) };
  const fields = valueOf({ ...making, asText: true }, body.schema) as Record<string, unknown>;
  return { kind: 'form', parts: formParts(making, fields) };
};

/** Upload URLs are signed as a whole: their parts come from one, mostly. */
const UPLOAD_SHARE = 0.8;

const isNeeded = (required: boolean, { next }: Random): boolean => required || next() >= 0.5;

/** A request that an operation takes, as far as its schemas tell. */
export const draftOf = (
  operation: Operation,
  key: KeyKind,
  making: Omit<Making, 'asText'> & { readonly random: Random },
): Draft => {
  const all: Making = { ...making, asText: false };
  const { random, world } = making;
  const signed = operation.id === 'putUpload' && random.next() < UPLOAD_SHARE ? world.upload : undefined;
  const draft: Draft = {
    operation,
    key,
    method: operation.method,
    params: {},
    query: [],
    headers: {},
    changes: [],
    content: contentOf(all, operation),
  };
  for (const { name, in: where, required, schema } of operation.parameters) {
    if (signed === undefined && !isNeeded(required, random)) continue;
    const text = String(signed?.[name] ?? namedValue({ ...all, asText: true }, [name, schema]));
    if (where === 'path') draft.params[name] = text;
    else if (where === 'query') draft.query.push([name, text]);
    else draft.headers[name] = `fuzz-${String(random.between(0, 30))}`;
  }
  return draft;
};

/** Values that no schema expects, or that lie at its edge. */
const HOSTILE: readonly (() => unknown)[] = [
  ...[null, true, 0, -1, 1.5, 2 ** 53, 1e308, -1e308, 5e-324, '', ' ', '5', '1e3', 'NaN', '-0'].map(
    (value) => () => value,
  ),
  ...['2026-02-30', '9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z', '2026-01-01T00:00:00+99:99'].map(
    (value) => () => value,
  ),
  ...['\u0000', 'a\u0000b', '\ud800', '\u202e\uffff\ufeff', '😀'.repeat(300), 'e\u0301'.repeat(200)].map(
    (value) => () => value,
  ),
  ...["'; drop table events; --", '../../etc/passwd', '${jndi:ldap://x}', '{{7*7}}', '<script>', '%00'].map(
    (value) => () => value,
  ),
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map((value) => () => value),
  () => 'x'.repeat(300),
  () => 'x'.repeat(100_000),
  () => [],
  () => ({}),
  () => [[[[[[[[[['deep']]]]]]]]]],
  () => nested(60),
  () => Array.from({ length: 5_000 }, () => 0),
  () => Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`m${String(at)}`, at])),
  () => JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as unknown,
  () => ({ toString: 1, valueOf: 2, toJSON: 3, then: 4, length: -1 }),
];

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let left = depth; left > 0; left -= 1) value = { a: [value] };
  return value;
};

type Container = Record<string, unknown> | unknown[];
interface Place {
  readonly holder: Container;
  readonly at: string;
}

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

const placesIn = (value: unknown, left = 200): Place[] => {
  if (!isContainer(value) || left <= 0) return [];
  return Object.keys(value).flatMap((at) => [
    { holder: value, at },
    ...placesIn((value as Record<string, unknown>)[at], left - 1),
  ]);
};

const put = ({ holder, at }: Place, value: unknown): void => {
  Object.defineProperty(holder, at, { value, enumerable: true, configurable: true, writable: true });
};

const NAMES = ['__proto__', 'constructor', 'tenant_id', 'TENANT_ID', 'id', '', 'ü', 'x'.repeat(2_000)];

const remove = ({ holder, at }: Place): void => {
  if (Array.isArray(holder)) holder.splice(Number(at), 1);
  else Reflect.deleteProperty(holder, at);
};

/** Changes one thing in a JSON value, which is a copy. */
const changedJson = (value: unknown, random: Random): unknown => {
  const root = { value: structuredClone(value) };
  const places = placesIn(root);
  const place = random.pick(places);
  const now = (place.holder as Record<string, unknown>)[place.at];
  switch (random.pick(['replace', 'replace', 'replace', 'remove', 'add', 'repeat', 'wrap'] as const)) {
    case 'replace':
      put(place, random.pick(HOSTILE)());
      break;
    case 'remove':
      remove(place);
      break;
    case 'add':
      if (isContainer(now)) put({ holder: now, at: random.pick(NAMES) }, random.pick(HOSTILE)());
      break;
    case 'repeat':
      if (Array.isArray(now)) for (let left = 300; left > 0; left -= 1) now.push(now[0]);
      break;
    case 'wrap':
      put(place, random.pick([[now], { value: now }]));
  }
  return root.value;
};

/** Hostile values as text of a URL, a header or a field. */
const hostileText = (random: Random): string => {
  const value = random.pick(HOSTILE)();
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 4_000);
};

const changeForm = (draft: Draft & { readonly content: { readonly kind: 'form' } }, random: Random): void => {
  const { parts } = draft.content;
  if (parts.length === 0) return;
  const part = random.pick(parts);
  switch (random.pick(['replace', 'replace', 'remove', 'add', 'repeat', 'name', 'as file'] as const)) {
    case 'replace':
      part.value = hostileText(random);
      break;
    case 'remove':
      parts.splice(parts.indexOf(part), 1);
      break;
    case 'add':
      parts.push({ name: random.pick(NAMES), value: hostileText(random) });
      break;
    case 'repeat':
      parts.push({ ...part }, { ...part });
      break;
    case 'name':
      part.fileName = random.pick([
        '../../etc/passwd',
        'a\u202efdp.txt',
        'x'.repeat(300),
        '.',
        'a;b="c".txt',
      ]);
      break;
    case 'as file':
      part.fileName = 'field.txt';
  }
};

const isForm = (draft: Draft): draft is Draft & { readonly content: { readonly kind: 'form' } } =>
  draft.content.kind === 'form';

const changeBody = (draft: Draft, random: Random): void => {
  const { content } = draft;
  draft.changes.push('body');
  if (content.kind === 'json') content.value = changedJson(content.value, random);
  else if (isForm(draft)) changeForm(draft, random);
  else if (content.kind === 'none')
    draft.content = { kind: 'json', value: random.pick([{}, [], { tenant_id: 'fuzz-other' }]) };
};

const changePath = (draft: Draft, random: Random): void => {
  const names = Object.keys(draft.params);
  draft.changes.push('path');
  if (names.length > 0) draft.params[random.pick(names)] = hostileText(random).slice(0, 2_000) || '%';
};

const changeQuery = (draft: Draft, random: Random): void => {
  const { query } = draft;
  draft.changes.push('query');
  if (query.length > 0 && random.next() < 0.6) {
    const at = random.between(0, query.length - 1);
    query[at] = [query[at]?.[0] ?? '', hostileText(random)];
  } else {
    const name = random.pick([...NAMES, 'limit', 'offset', 'tenant_id[]', 'limit[$gt]', 'from_date']);
    query.push([name, hostileText(random)]);
    if (random.next() < 0.3) query.push([name, hostileText(random)]);
  }
};

/** Makes one to three things wrong that a schema or a look-up should tell. */
export const nearValid = (draft: Draft, random: Random): void => {
  for (let left = random.between(1, 3); left > 0; left -= 1) {
    const hasBody = draft.content.kind !== 'none';
    const change = random.pick([
      ...(hasBody ? [changeBody, changeBody, changeBody, changeBody] : []),
      ...(draft.operation.parameters.some(({ in: where }) => where === 'path') ? [changePath] : []),
      changeQuery,
    ]);
    change(draft, random);
  }
};
