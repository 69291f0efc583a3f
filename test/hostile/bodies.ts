import { BODY_LIMITS } from '../../src/server/jsonBody.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import type { Attack, Reply, Target } from './attacks.ts';

/** A little less than the largest body, for the envelope around it. */
const CHARS = 1_040_000;

interface Filled {
  readonly open: string;
  readonly close: string;
  readonly piece: (at: number) => string;
  readonly valuesOfPiece?: number;
}

const filled = ({ open, close, piece, valuesOfPiece = 1 }: Filled, valuesMax: number): string => {
  const pieces: string[] = [];
  let chars = 0;
  for (let at = 0; chars < CHARS && (at + 1) * valuesOfPiece < valuesMax; at += 1) {
    const next = piece(at);
    pieces.push(next);
    chars += next.length + 1;
  }
  return `${open}${pieces.join(',')}${close}`;
};

const list = (piece: (at: number) => string, valuesOfPiece = 1): Filled => ({
  open: '[',
  close: ']',
  piece,
  valuesOfPiece,
});
const object = (piece: (at: number) => string): Filled => ({ open: '{', close: '}', piece });

const nested = (inside: string, levels = BODY_LIMITS.depthMax - 8): string =>
  `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`;

/** Texts of JSON that are hard in one way each. */
const SHAPES: Readonly<Record<string, Filled>> = {
  'one object of many members': object((at) => `"m${String((at * 7_919) % 1_000_003)}":${String(at)}`),
  'members named by numbers': object((at) => `"${String((at * 7_919) % 1_000_003)}":0`),
  'a member that stands twice, last': object((at) => (at === 0 ? '"m":1' : `"m${String(at - 1)}":1,"m":1`)),
  'many objects': list(() => '{"a":1}', 2),
  'many lists': list(() => '[]', 2),
  numbers: list(() => '1'),
  'numbers with a point': list(() => '1.0'),
  'numbers with a point, far down': {
    ...list(() => '1.0'),
    open: nested('', 100).slice(0, 100),
    close: ']'.repeat(100),
  },
  'deep lists': list(() => nested('1.0'), BODY_LIMITS.depthMax),
  'escaped letters': list(() => '"\\u0041"'),
  'surrogate pairs': list(() => '"\\ud83d\\ude00"'),
  'long numbers': list(() => `${'9'.repeat(700)}.0`),
  'white space': list(() => `1${' '.repeat(2_000)}`),
  'one long text': list(() => `"${'x'.repeat(1_000_000)}"`, BODY_LIMITS.valuesMax / 2),
};

/** Each by as many values as are let in, and by a megabyte. */
const TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(SHAPES).flatMap(([what, shape]) => [
    [what, filled(shape, BODY_LIMITS.valuesMax - 200)],
    [`${what}, a megabyte`, filled(shape, Infinity)],
  ]),
);

/** A body around a text, where a route takes anything, or takes something else. */
const ROUTES: Readonly<Record<string, (tenant: string, text: string) => string>> = {
  '/v1/configs': (tenant, text) => `{"tenant_id":"${tenant}","schema":${text}}`,
  '/v1/canonical': (tenant, text) =>
    `{"schema_version":"1.0","operation":"training.create","scope":{"tenant_id":"${tenant}"},` +
    `"payload":{"schema":${text}}}`,
  '/v1/training/jobs': (tenant, text) =>
    `{"tenant_id":"${tenant}","schema":{},"examples":[{"document_id":"doc_1","expected":${text}}]}`,
  '/v1/batches': (tenant, text) => `{"tenant_id":"${tenant}","schema":{},"file_uris":${text}}`,
  '/v1/documents/page-count': (_tenant, text) => `{"documents":${text}}`,
  '/v1/admin/fx-rates': (_tenant, text) => `{"date":"2026-01-30","rates":${text}}`,
  '/v1/admin/billing-config': (_tenant, text) => text,
  '/v1/billing/credits': (tenant, text) => `{"tenant_id":"${tenant}","provider_txn_id":"a","note":${text}}`,
};

const send = async ({ url }: Target, path: string, body: string): Promise<Reply> => {
  const headers = {
    'x-api-key': ADMIN_KEY,
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(),
  };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return { status: answer.status, body: {} };
};

const attacksOn = (path: string, around: (tenant: string, text: string) => string): readonly Attack[] =>
  Object.entries(TEXTS).map(([what, text]) => ({
    what,
    send: (target) => send(target, path, around(target.tenant_id, text)),
  }));

/** What every route that takes JSON does with every such body. */
export const attacksByBody: Readonly<Record<string, readonly Attack[]>> = Object.fromEntries(
  Object.entries(ROUTES).map(([path, around]) => [path, attacksOn(path, around)]),
);
