import { extname, join } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { unzipSync } from 'fflate';
import type { Random } from '../../engine/test/support/random.ts';
import { packed, generatedSeeds, seedsIn, type Seed } from './seeds.ts';
import {
  randomOf,
  range,
  settings,
  delayText,
  holding,
  sendAll,
  startFuzzTarget,
  suspectsOf,
  type FuzzTarget,
} from './target.ts';

/** Changes bytes in some way. It may give them back as they are. */
type Mutation = (bytes: Buffer, random: Random, seeds: readonly Seed[]) => Buffer;

/** What breaks parsers of the formats at hand: references, depth, sizes, half tokens. */
const TOKENS: readonly string[] = [
  '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>&b;',
  '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;',
  '<a>'.repeat(3_000),
  '<table><tr><td>'.repeat(500),
  '{\\b'.repeat(3_000),
  '\\bin999999999 ',
  '> '.repeat(2_000),
  '- '.repeat(1_500),
  '['.repeat(4_000),
  '*_'.repeat(4_000),
  '&#x0;&#1114112;&#xD800;',
  '\u0000\uffff\u202e\ud800',
  ']]>',
  '<![CDATA[',
  '<w:gridSpan w:val="99999999"/>',
  'table:number-columns-repeated="2147483647"',
  'colspan="100000000"',
  'r="XFD1048576"',
  '"'.repeat(999),
  '\r\n\r\n--part\r\nContent-Type: multipart/mixed; boundary="part"\r\n\r\n',
  'Content-Type: message/rfc822\r\n\r\n',
  '/Kids [2 0 R 2 0 R 2 0 R]',
  '/Length 99999999999',
  '/MediaBox [0 0 1e9 1e9]',
  'q '.repeat(5_000),
  '<< '.repeat(5_000),
  '/Filter [/FlateDecode /FlateDecode /FlateDecode /LZWDecode]',
  '/First 7 0 R /Next 7 0 R /Parent 7 0 R',
  '/V [1 0 R] /AS /Yes /Opt [[[[]]]] /Rect [1e9 -1e9 0 0]',
  ' 3 Tr 0 0 0 0 1e9 -1e9 Tm 0 Tz 1e9 Ts ',
  '/Rotate 91 /UserUnit 1e9 ',
  'NaN',
  '-1',
  '1e308',
];

const somewhere = (bytes: Buffer, random: Random): number => random.between(0, Math.max(0, bytes.length - 1));

const flipBits: Mutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  for (let left = random.pick([1, 4, 16, 64]); left > 0 && changed.length > 0; left -= 1) {
    const at = somewhere(changed, random);
    changed[at] = (changed[at] ?? 0) ^ (1 << random.between(0, 7));
  }
  return changed;
};

const truncate: Mutation = (bytes, random) => bytes.subarray(0, somewhere(bytes, random));

const cutOut: Mutation = (bytes, random) => {
  const from = somewhere(bytes, random);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + random.between(1, 400))]);
};

const repeatPart: Mutation = (bytes, random) => {
  const from = somewhere(bytes, random);
  const part = bytes.subarray(from, from + random.between(1, 300));
  const times = Array.from({ length: random.between(2, 40) }, () => part);
  return Buffer.concat([bytes.subarray(0, from), ...times, bytes.subarray(from)]);
};

/** A part of another document in the midst of this one. */
const splice: Mutation = (bytes, random, seeds) => {
  const other = Buffer.from(random.pick(seeds).bytes);
  const from = somewhere(other, random);
  const at = somewhere(bytes, random);
  const part = other.subarray(from, from + random.between(8, 2_000));
  return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at + random.pick([0, part.length]))]);
};

const EXTREMES = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

/** A number as binary formats keep lengths, counts and offsets, made absurd. */
const lengthField: Mutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  const size = random.pick([2, 4] as const);
  if (changed.length < size) return changed;
  const at = random.between(0, changed.length - size);
  const value = random.pick(EXTREMES);
  if (size === 4) changed.writeUInt32LE(value, at);
  else changed.writeUInt16LE(value & 0xffff, at);
  return changed;
};

/** The same where formats write numbers as digits. */
const digits: Mutation = (bytes, random) => {
  const text = bytes.toString('latin1');
  const numbers = [...text.matchAll(/\d+/g)];
  if (numbers.length === 0) return bytes;
  const found = random.pick(numbers);
  const value = random.pick(['0', '-1', '99999999', '2147483648', '1e99', '']);
  return Buffer.from(
    text.slice(0, found.index) + value + text.slice(found.index + found[0].length),
    'latin1',
  );
};

/** What a part of a file leads to, exchanged: ways in circles, to what is missing, and to what is of another kind. */
const references: Mutation = (bytes, random) => {
  const text = bytes.toString('latin1');
  const found = [...text.matchAll(/\b\d+(?= 0 R\b)/g)];
  if (found.length === 0) return bytes;
  const [one, other] = [random.pick(found), random.pick(found)];
  const value = random.next() < 0.1 ? '999' : other[0];
  return Buffer.from(text.slice(0, one.index) + value + text.slice(one.index + one[0].length), 'latin1');
};

const insertToken: Mutation = (bytes, random) => {
  const at = somewhere(bytes, random);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(TOKENS)), bytes.subarray(at)]);
};

/** A token where a tag could begin: more of a parser is reached than by one in the midst of a word. */
const insertAtTag: Mutation = (bytes, random) => {
  const tags = [...bytes.toString('latin1').matchAll(/[<>{}\n]/g)].map(({ index }) => index);
  if (tags.length === 0) return bytes;
  const at = random.pick(tags);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(TOKENS)), bytes.subarray(at)]);
};

const PLAIN: readonly Mutation[] = [
  flipBits,
  flipBits,
  truncate,
  cutOut,
  repeatPart,
  splice,
  lengthField,
  lengthField,
  digits,
  references,
  insertToken,
  insertAtTag,
];

const unzipped = (bytes: Buffer): Record<string, Uint8Array> | undefined => {
  if (bytes.subarray(0, 2).toString('latin1') !== 'PK') return undefined;
  try {
    return unzipSync(bytes, { filter: ({ originalSize }) => originalSize < 4_000_000 });
  } catch {
    return undefined;
  }
};

/** Inside an archive: contents swapped, a member lost, or its content mutated; then packed soundly. */
const members: Mutation = (bytes, random, seeds) => {
  const archive = unzipped(bytes);
  const names = Object.keys(archive ?? {});
  if (archive === undefined || names.length === 0) return bytes;
  const one = random.pick(names);
  const other = random.pick(names);
  const content = Buffer.from(archive[one] ?? []);
  switch (random.pick(['swap', 'lose', 'mutate', 'mutate', 'mutate'] as const)) {
    case 'swap':
      archive[one] = archive[other] ?? content;
      archive[other] = content;
      break;
    case 'lose':
      return Buffer.from(
        packed(Object.fromEntries(Object.entries(archive).filter(([name]) => name !== one))),
      );
    case 'mutate':
      archive[one] = random.pick(PLAIN)(content, random, seeds);
  }
  return Buffer.from(packed(archive));
};

/** A mutated document, and what it is called: mostly by its own name, at times by another's. */
const mutant = (seeds: readonly Seed[], random: Random): Seed & { readonly from: string } => {
  const seed = random.pick(seeds);
  let bytes: Buffer = Buffer.from(seed.bytes);
  for (let left = random.between(1, 4); left > 0; left -= 1) {
    const isArchive = bytes.subarray(0, 2).toString('latin1') === 'PK';
    const mutation = isArchive && random.next() < 0.75 ? members : random.pick(PLAIN);
    bytes = mutation(bytes, random, seeds);
  }
  const name = random.next() < 0.08 ? `renamed${extname(random.pick(seeds).name)}` : seed.name;
  return { name, bytes, from: extname(seed.name).slice(1).toLowerCase() };
};

const SEED_BYTES_MAX = 2_000_000;
/** From the deadline to a dead child and its answer. */
const GRACE_MS = 10_000;
const EXTRACT_SHARE = 0.2;
/** Recognising text takes a hundred times as long as reading it. */
const RECOGNISE_SHARE = 0.1;
const TENANT = 'fuzz-documents';
const BUSY_MS = 100;
const BUSY_ATTEMPTS_MAX = 600;

const { seed } = settings;
const deadlineMs = settings.deadlineSeconds * 1000;
const kept = settings.keep ?? join(tmpdir(), `quire-fuzz-${String(seed)}`);

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: {
    order_number: { type: 'string' },
    date: { type: 'string', format: 'date' },
    total: { type: 'number' },
    items: {
      type: 'array',
      items: { type: 'object', properties: { item: { type: 'string' }, price: { type: 'number' } } },
    },
  },
});

/** What a mutated document may be answered with; `timed out` is a limit that did its work. */
const EXPECTED = new Set([
  '200',
  'unreadable_file',
  'unsupported_file_type',
  'empty_file',
  'too_many_pages',
  'timed out',
  // The schema is ours; an extraction that finds nothing has nothing else to say.
  'output_schema_mismatch',
]);

interface Counted {
  readonly outcomes: Map<string, Map<string, number>>;
  readonly suspects: string[];
  longest: { ms: number; input: number; name: string };
  broken: number;
}

interface Answer {
  readonly word: string;
  readonly text: string;
}

const wordOf = (status: number, text: string): string => {
  if (status === 200) return '200';
  const code = /"code":"([a-z_]+)"/.exec(text)?.[1] ?? `${String(status)} without a code`;
  return code === 'unreadable_file' && text.includes('was not read within') ? 'timed out' : code;
};

/** The service answers before it has read a body that it will not take, and the sender sees its end alone. */
const CUT_OFF = 'cut off';
const isForNow = ({ word }: Answer): boolean => ['busy', 'rate_limited', 'not_ready', CUT_OFF].includes(word);

/** Of the tenant, whose limits are wide; the first admin key has those of everybody. */
let key = '';

const posted = async (url: string, path: string, form: FormData): Promise<Answer> => {
  const headers = { 'x-api-key': key };
  try {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: form });
    const text = await answer.text();
    return { word: wordOf(answer.status, text), text };
  } catch (error) {
    return { word: CUT_OFF, text: String(error) };
  }
};

const formOf = (made: Seed, random: Random): { readonly path: string; readonly form: FormData } => {
  const recognises = random.next() < RECOGNISE_SHARE;
  const extracts = random.next() < EXTRACT_SHARE;
  const form = new FormData();
  form.set('tenant_id', TENANT);
  if (extracts) {
    form.set('schema', SCHEMA);
    form.set('allow_partial', 'true');
    form.set('mode', recognises ? 'standard' : 'fast');
  } else form.set('conversion_mode', recognises ? 'default' : 'fast');
  form.set('file', new Blob([Buffer.from(made.bytes)]), made.name);
  return { path: extracts ? '/v1/extract' : '/v1/to-markdown', form };
};

/** A caller that is told to come again does so. */
const answered = async (url: string, made: Seed, random: Random): Promise<Answer> => {
  const { path, form } = formOf(made, random);
  let answer = await posted(url, path, form);
  for (let attempt = 0; isForNow(answer) && attempt < BUSY_ATTEMPTS_MAX; attempt += 1) {
    await pause(BUSY_MS);
    answer = await posted(url, path, form);
  }
  return answer;
};

const keep = (input: number, { name, bytes }: Seed): string => {
  mkdirSync(kept, { recursive: true });
  const path = join(kept, `${String(input)}-${name}`);
  writeFileSync(path, bytes);
  return path;
};

const judge = (
  counted: Counted,
  input: number,
  { made, answer, ms }: { made: Seed & { from: string }; answer: Answer; ms: number },
): void => {
  const { outcomes, suspects } = counted;
  const { word, text } = answer;
  const counts = outcomes.get(made.from) ?? new Map<string, number>();
  outcomes.set(made.from, counts.set(word, (counts.get(word) ?? 0) + 1));
  if (ms > counted.longest.ms) counted.longest = { ms, input, name: made.name };
  const isBroken = !EXPECTED.has(word) || ms > deadlineMs + GRACE_MS;
  if (isBroken) counted.broken += 1;
  if (!isBroken && word !== 'timed out' && settings.only === undefined) return;
  const where = keep(input, made);
  suspects.push(
    `input ${String(input)}, ${made.name}, ${ms.toFixed(0)} ms: ${text.slice(0, 400)}\n  kept as ${where}`,
  );
};

const table = (outcomes: Counted['outcomes']): void => {
  const words = [...new Set([...outcomes.values()].flatMap((counts) => [...counts.keys()]))].sort();
  const all = new Map<string, number>();
  for (const counts of outcomes.values())
    for (const [word, count] of counts) all.set(word, (all.get(word) ?? 0) + count);
  const rows = [...[...outcomes].sort(([a], [b]) => (a < b ? -1 : 1)), ['all', all] as const];
  const row = (counts: ReadonlyMap<string, number>) =>
    Object.fromEntries(words.map((word) => [word, counts.get(word) ?? 0]));
  console.table(Object.fromEntries(rows.map(([from, counts]) => [from, row(counts)])));
};

/** A mutation of what is refused as it is tests little: this says which documents those are. */
const tellSound = async (url: string, seeds: readonly Seed[]): Promise<void> => {
  const refused: string[] = [];
  for (const made of seeds) {
    const { word } = await answered(url, made, randomOf(0));
    if (word !== '200') refused.push(`${made.name} ${word}`);
  }
  console.log(
    `read as they are: ${String(seeds.length - refused.length)}; not: ${refused.join(', ') || 'none'}`,
  );
};

const seedsOfRun = async (): Promise<readonly Seed[]> => {
  const { folder } = settings;
  const seeds = folder === undefined ? await generatedSeeds() : seedsIn(folder, SEED_BYTES_MAX);
  if (seeds.length === 0)
    throw new Error(`no document up to ${String(SEED_BYTES_MAX)} bytes is in ${folder ?? ''}`);
  return seeds;
};

/** Sends all, then again alone what was on its way while the service was held; gives what is wrong. */
const run = async (target: FuzzTarget, seeds: readonly Seed[], counted: Counted): Promise<string[]> => {
  const { service } = target;
  const send = async (input: number): Promise<void> => {
    const random = randomOf(input);
    const made = mutant(seeds, random);
    const began = performance.now();
    const answer = await answered(service.url, made, random);
    judge(counted, input, { made, answer, ms: performance.now() - began });
  };
  const sent = await sendAll({ ...range(), callers: settings.callers ?? availableParallelism() + 1 }, send);
  const { worstMs, inputs } = suspectsOf(service, sent);
  table(counted.outcomes);
  console.log(delayText(service, worstMs));
  return [...(await holding(service, inputs, send))];
};

/** Mutated documents through the running service; gives whether all was well. */
export const fuzzDocuments = async (): Promise<boolean> => {
  const seeds = await seedsOfRun();
  console.log(
    `${String(settings.inputs)} inputs from ${String(seeds.length)} documents, seed ${String(seed)} ` +
      '(FUZZ_SEED repeats it, FUZZ_ONLY=<input> shows one)',
  );
  const deadline = String(settings.deadlineSeconds);
  const target = await startFuzzTarget({
    LOCAL_DEADLINE_FAST_SECONDS: deadline,
    LOCAL_DEADLINE_STANDARD_SECONDS: deadline,
  });
  await target.openTenant(TENANT);
  const created = await target.admin('POST', '/v1/api-keys', { tenant_id: TENANT, role: 'tenant' });
  key = String(created['key']);
  await tellSound(target.service.url, seeds);
  target.service.measureDelay();
  const counted: Counted = {
    outcomes: new Map(),
    suspects: [],
    longest: { ms: 0, input: -1, name: '' },
    broken: 0,
  };
  const began = performance.now();
  const held = await run(target, seeds, counted);
  const seconds = (performance.now() - began) / 1000;
  const flaws = [...held, ...(await target.end())];
  const { longest, suspects, broken } = counted;
  for (const line of [...suspects, ...flaws]) console.log(line);
  const sent = [...counted.outcomes.values()].reduce(
    (sum, counts) => sum + [...counts.values()].reduce((a, b) => a + b, 0),
    0,
  );
  console.log(`${String(sent)} inputs in ${seconds.toFixed(0)} s, seed ${String(seed)}`);
  console.log(
    `longest: ${longest.ms.toFixed(0)} ms (input ${String(longest.input)}, ${longest.name}), ` +
      `deadline ${String(deadlineMs)} ms`,
  );
  console.log(`not as documented, or late: ${String(broken)}; other flaws: ${String(flaws.length)}`);
  return broken === 0 && flaws.length === 0;
};
