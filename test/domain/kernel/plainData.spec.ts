import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { decodeAny } from '../../../domain/catalogue.ts';
import { canonicalJson, type Json, type JsonObject, storableJson } from '../../../domain/kernel/json.ts';
import { UndecodableEvent } from '../../../domain/kernel/codec.ts';
import { isPlainData, plainTypes } from '../../../domain/plainEvents.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';

/** From the compiled spec to the sources. */
const FOLDER = new URL('../../../../test/golden/', import.meta.url);

const golden = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => {
    const stored = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Omit<
      RecordedEvent,
      'revision'
    > & {
      readonly revision: string;
    };
    return { file, event: { ...stored, revision: BigInt(stored.revision), position: 0n } };
  });

/** The event as a log's file has it. */
const withText = (event: RecordedEvent, text: string): RecordedEvent => ({
  ...event,
  stored: { category: '', metadata: '', data: text, log_digest: null },
});

/** Whether the long way says of the text what the short way may say without it. */
const isFit = (event: RecordedEvent, text: string): boolean => {
  try {
    const data = JSON.parse(text) as JsonObject;
    expect(decodeAny({ ...event, data }).data).to.deep.equal(data);
    return storableJson(data) === text;
  } catch (error) {
    if (error instanceof UndecodableEvent || error instanceof SyntaxError) return false;
    throw error;
  }
};

/** Texts that the short way takes although the long way does not. */
const wronglyTaken = (event: RecordedEvent, texts: readonly string[]): readonly string[] =>
  texts.filter((text) => isPlainData(withText(event, text)) && !isFit(event, text));

const VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1,
  1.5,
  10 ** 15,
  2 ** 53,
  '',
  '-',
  'x"',
  'é',
  '\ud800',
  'a\n',
  'a\\',
  'x'.repeat(200),
  '2026-02-29T00:00:00.000Z',
  '2024-02-29',
  '2026-01-01T00:00:00Z',
  '12',
  [],
  {},
  { a: 1 },
];

/** The object with each of its members left out, or of another value, here and in objects inside. */
const variants = (data: JsonObject): readonly JsonObject[] =>
  Object.entries(data).flatMap(([name, value]): readonly JsonObject[] => {
    const { [name]: _, ...without } = data;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const inner = isObject ? variants(value as JsonObject) : [];
    return [without, ...[...VALUES, ...inner].map((other) => ({ ...data, [name]: other }))];
  });

const CHARACTERS = ['', '"', '\\', ' ', ',', '0', '-', '\u0001', '}'];

/** The text with each character left out, doubled, or another. */
const misspelt = (text: string): readonly string[] =>
  Array.from(text).flatMap((character, at) =>
    [...CHARACTERS, character + character].map((other) => text.slice(0, at) + other + text.slice(at + 1)),
  );

describe('data told by its text', () => {
  it('is that of most types', () => {
    const usual = ['ExtractionRequested', 'DocumentRegistered', 'CreditsHeld', 'ExtractionCompleted'];
    const more = ['CreditsBurned', 'LlmCostLogged', 'OperationAccepted', 'CreditsGranted'];
    expect(plainTypes()).to.include.members([...usual, ...more]);
  });

  const ofPlainTypes = golden.filter(({ event: { type } }) => plainTypes().includes(type));

  it('is not that of events with lists, which no pattern tells', () => {
    const others = ofPlainTypes.filter(({ event: { data } }) => storableJson(data) === undefined);
    expect(others.map(({ event: { type } }) => type)).to.include('ExtractionRequested');
    for (const { event } of others)
      expect(isPlainData(withText(event, canonicalJson(event.data))), event.type).to.equal(false);
  });

  for (const { file, event } of ofPlainTypes.filter(
    ({ event: { data } }) => storableJson(data) !== undefined,
  ))
    describe(file, () => {
      const text = canonicalJson(event.data);

      it('is taken as it is, and in no other order or stream, and of no other version', () => {
        expect(isFit(event, text)).to.equal(true);
        expect(isPlainData(withText(event, text))).to.equal(true);
        expect(isPlainData(event)).to.equal(false);
        const others = [
          { ...event, stream: `other-${event.stream}` },
          { ...event, stream: event.stream.replace(/^[^-]*/, '$&s') },
          { ...event, metadata: { ...event.metadata, schema_version: 9 } },
          { ...event, type: 'Other' },
        ];
        for (const other of others) expect(isPlainData(withText(other, text))).to.equal(false);
      });

      it('is not taken with a value that its schema refuses', () => {
        const texts = [...variants(event.data), { ...event.data, other: 1 }].flatMap((data) => {
          const entries = Object.entries(data).toReversed();
          return [storableJson(data) ?? JSON.stringify(data), JSON.stringify(Object.fromEntries(entries))];
        });
        expect(wronglyTaken(event, texts)).to.deep.equal([]);
      });

      it('is not taken with a character that does not belong there', () => {
        expect(wronglyTaken(event, misspelt(text))).to.deep.equal([]);
      });
    });
});
