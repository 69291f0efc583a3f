import { unzipSync } from 'fflate';
import { extname } from 'node:path';
import type { Random } from '../../engine/test/support/random.ts';
import { packed, type Seed } from './seeds.ts';

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
export const mutant = (seeds: readonly Seed[], random: Random): Seed & { readonly from: string } => {
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
