import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTooMuch } from '../server/jsonBody.ts';

/** What a request is told by. */
interface RequestParts {
  readonly path: unknown;
  readonly query: unknown;
  /** As JSON, or as the fields of a form. */
  readonly body?: unknown;
  readonly form?: unknown;
  readonly sha256: string | undefined;
}

const SECRETS = new Set(['api_key', 'llm_api_key', 'ocr_api_key']);

/** Longest stretch of the main thread before others get their turn, ms. */
const SLICE_MS = 8;
/** Pieces are written, and the clock is looked at, so many characters at a time. */
const CHUNK_CHARS = 4_096;

const digest = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** The digest of a word that a person made up can be guessed: a document's password is left out altogether. */
const PASSWORD = 'password';

/** A secret is told by its digest alone. */
const shown = (name: string, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (name === PASSWORD) return undefined;
  return SECRETS.has(name) ? digest(value) : value;
};

function* listPieces(items: readonly unknown[]): Generator<string> {
  for (let at = 0; at < items.length; at += 1) {
    if (at > 0) yield ',';
    yield* canonicalPieces(items[at] ?? null);
  }
}

/** Sorts the names at a stretch: for as many as a body may have that takes some 30 ms. */
function* memberPieces(members: Readonly<Record<string, unknown>>): Generator<string> {
  let before = '';
  for (const name of Object.keys(members).sort()) {
    const value = shown(name, members[name]);
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* canonicalPieces(value);
    before = ',';
  }
}

/** The canonical JSON of a value (RFC 8785), piece by piece. */
function* canonicalPieces(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) yield JSON.stringify(value);
  else if (Array.isArray(value)) {
    yield '[';
    yield* listPieces(value);
    yield ']';
  } else {
    yield '{';
    yield* memberPieces(value as Readonly<Record<string, unknown>>);
    yield '}';
  }
}

/** Takes all pieces in slices: those of a megabyte at a stretch would hold the main thread for a tenth of a second. */
const writeAll = async (value: unknown, write: (text: string) => void): Promise<void> => {
  let until = performance.now() + SLICE_MS;
  let text = '';
  for (const piece of canonicalPieces(value)) {
    text += piece;
    if (text.length < CHUNK_CHARS) continue;
    write(text);
    text = '';
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
  write(text);
};

/** JSON that travels as the text of a form's field: its white space and the order of its members say nothing. */
const withCanonicalSchema = async (fields: unknown): Promise<unknown> => {
  const schema = (fields as { readonly schema?: unknown } | undefined)?.schema;
  if (typeof schema !== 'string' || isTooMuch(schema)) return fields;
  let value: unknown;
  try {
    value = JSON.parse(schema);
  } catch {
    return fields;
  }
  let text = '';
  await writeAll(value, (piece) => (text += piece));
  return { ...(fields as object), schema: text };
};

/** Digest of the normalised request. Own provider keys enter it as digests. */
export const requestFingerprint = async ({ form, ...parts }: RequestParts): Promise<string> => {
  const request = form === undefined ? parts : { ...parts, body: await withCanonicalSchema(form) };
  const hash = createHash('sha256');
  await writeAll(request, (piece) => hash.update(piece, 'utf8'));
  return hash.digest('hex');
};
