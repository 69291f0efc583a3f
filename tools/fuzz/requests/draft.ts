import type { Random } from '../../../engine/test/support/random.ts';
import type { Operation } from './operations.ts';
import { namedValue, valueOf, type Making } from './values.ts';
import type { KeyKind } from './world.ts';

/** One part of a form; with a `fileName` it is a file. */
export interface FormPart {
  name: string;
  fileName?: string;
  value: string;
}

export type Content =
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
    ...{ operation, key, method: operation.method, params: {}, query: [], headers: {}, changes: [] },
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
