import { createHash, type Hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTooMuch } from '../server/jsonBody.ts';

/** What a request is told by. */
export interface RequestParts {
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
/** The clock is looked at after so many members. */
const STEPS = 256;
const CHUNK_CHARS = 16_384;
/** So many names are sorted at once; more are merged, turn by turn. */
const SORTED_AT_ONCE = 4_096;

type Members = Readonly<Record<string, unknown>>;

const digest = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Gives way to others when its slice is used up. */
const slices = () => {
  let steps = 0;
  let until = performance.now() + SLICE_MS;
  /** Counts `more` steps; true when it is time to give way. */
  const isUp = (more = 1): boolean => {
    steps += more;
    if (steps < STEPS) return false;
    steps = 0;
    return performance.now() >= until;
  };
  const giveWay = async (): Promise<void> => {
    await nextTurn();
    until = performance.now() + SLICE_MS;
  };
  return { isUp, giveWay };
};
type Slices = ReturnType<typeof slices>;

const merged = async (a: readonly string[], b: readonly string[], { isUp, giveWay }: Slices) => {
  const both: string[] = [];
  let [x, y] = [0, 0];
  while (x < a.length || y < b.length) {
    const [first, second] = [a[x], b[y]];
    if (second === undefined || (first !== undefined && first <= second)) {
      both.push(first ?? '');
      x += 1;
    } else {
      both.push(second);
      y += 1;
    }
    if (isUp()) await giveWay();
  }
  return both;
};

/** As `sort`, by UTF-16 units; an object may have a hundred thousand members. */
const sorted = async (names: string[], turns: Slices): Promise<readonly string[]> => {
  if (names.length <= SORTED_AT_ONCE) return names.sort();
  const half = names.length >> 1;
  const first = await sorted(names.slice(0, half), turns);
  if (turns.isUp(STEPS)) await turns.giveWay();
  return merged(first, await sorted(names.slice(half), turns), turns);
};

/** An object or a list on the way: what stands before its next member, and what closes it. */
interface Open {
  readonly holder: Members | readonly unknown[];
  /** undefined: a list. */
  readonly names: readonly string[] | undefined;
  readonly count: number;
  at: number;
  isFirst: boolean;
}

const openList = (holder: readonly unknown[]): Open => ({
  holder,
  names: undefined,
  count: holder.length,
  at: 0,
  isFirst: true,
});

const openObject = (holder: Members, names: readonly string[]): Open => ({
  holder,
  names,
  count: names.length,
  at: 0,
  isFirst: true,
});

/** Waits only where there is much to sort: a body may have three hundred thousand objects and lists. */
const opened = (holder: object, turns: Slices): Open | Promise<Open> => {
  if (Array.isArray(holder)) return openList(holder);
  const members = holder as Members;
  const names = Object.keys(members);
  if (names.length <= SORTED_AT_ONCE) return openObject(members, names.sort());
  return sorted(names, turns).then((inOrder) => openObject(members, inOrder));
};

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null;

const closing = ({ names }: Open): string => (names === undefined ? ']' : '}');

/** What stands in a place: a secret is told by its digest alone. */
const standing = ({ holder, names, at }: Open): unknown => {
  if (names === undefined) return (holder as readonly unknown[])[at] ?? null;
  const name = names[at] ?? '';
  const value = (holder as Members)[name];
  return SECRETS.has(name) && typeof value === 'string' ? digest(value) : value;
};

const before = (open: Open): string => {
  const comma = open.isFirst ? '' : ',';
  open.isFirst = false;
  return open.names === undefined ? comma : `${comma}${JSON.stringify(open.names[open.at])}:`;
};

/**
 * The canonical JSON of a value (RFC 8785) piece by piece, in slices: a body of a megabyte would hold the main
 * thread for a fifth of a second.
 */
const writeCanonical = async (value: unknown, write: (text: string) => void): Promise<void> => {
  const turns = slices();
  const stack: Open[] = [];
  const begun = (open: Open): void => {
    write(open.names === undefined ? '[' : '{');
    stack.push(open);
  };
  if (!isHolder(value)) {
    write(JSON.stringify(value));
    return;
  }
  begun(await opened(value, turns));
  for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
    if (turns.isUp()) await turns.giveWay();
    if (open.at >= open.count) {
      write(closing(open));
      stack.pop();
      continue;
    }
    const next = standing(open);
    if (next !== undefined) write(before(open));
    open.at += 1;
    if (!isHolder(next)) {
      if (next !== undefined) write(JSON.stringify(next));
      continue;
    }
    const inner = opened(next, turns);
    begun(inner instanceof Promise ? await inner : inner);
  }
};

/** Hashes what is written, some kilobytes at a time. */
const hashed = (hash: Hash) => {
  let text = '';
  const flush = () => {
    hash.update(text, 'utf8');
    text = '';
  };
  const write = (piece: string) => {
    text += piece;
    if (text.length >= CHUNK_CHARS) flush();
  };
  return { write, flush };
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
  const pieces: string[] = [];
  await writeCanonical(value, (piece) => pieces.push(piece));
  return { ...(fields as object), schema: pieces.join('') };
};

/** Digest of the normalised request. Own provider keys enter it as digests. */
export const requestFingerprint = async ({ form, ...parts }: RequestParts): Promise<string> => {
  const request = form === undefined ? parts : { ...parts, body: await withCanonicalSchema(form) };
  const hash = createHash('sha256');
  const { write, flush } = hashed(hash);
  await writeCanonical(request, write);
  flush();
  return hash.digest('hex');
};
