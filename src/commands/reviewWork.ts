import { z } from 'zod';
import { pointedName } from '@quire/engine/kernel/json';
import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import type { Doubt, Question } from '../../domain/doubts.ts';
import { machinePlaces, type Origin, origin, originsOf, reviewReason } from '../../domain/review.ts';
import { decidableParts, misplacedPage, partsIn, placedInBatch } from '../../domain/split.ts';
import { type BodyEnds, storedBodyOf } from './storedResult.ts';

const object = z.record(z.string(), z.unknown()).transform((value) => value as JsonObject);

const storedQuestion = z.object({
  schema: object,
  doubts: z.array(
    z
      .object({ code: reviewReason, path: z.string(), confidence: z.number().optional() })
      .transform(({ confidence, ...doubt }): Doubt =>
        confidence === undefined ? doubt : { ...doubt, confidence },
      ),
  ),
  /** What becomes of the parts of a stack; left out where it is about something else. */
  parts: z.object({ batch_id: z.string(), sent: z.array(z.string()) }).optional(),
});

/** All that a decision is about, complete in itself: the document alone lies elsewhere. */
const storedDecision = storedQuestion.extend({
  /** The machine's answer, as the operation has it. */
  answer: object,
  result: object,
  /** Of each leaf of the result, by its JSON Pointer. */
  origins: z.record(z.string(), origin),
  /** JSON Pointers to required values that the document does not say; left out by older releases. */
  absent: z.array(z.string()).default([]),
  note: z.string().nullable(),
});
export type StoredDecision = z.output<typeof storedDecision>;

/** The objects that a review is about: its question and the result that this is about, or the last decision. */
export type StoredReview =
  | { readonly question: Uint8Array; readonly result: Uint8Array }
  | { readonly decision: Uint8Array };

/** What a person says of a document. */
export interface Said {
  readonly result: JsonObject;
  readonly absent: readonly string[];
  readonly note: string | null;
}

/** Work on what is stored of a review: it may be megabytes. Answers are bytes of JSON wherever they are large. */
export type ReviewWork =
  | { readonly kind: 'show' }
  | { readonly kind: 'answer'; readonly ends: BodyEnds }
  | { readonly kind: 'said' }
  | { readonly kind: 'decide'; readonly said: string };

/** Such work, and what it is done on. */
export interface ReviewJob {
  readonly work: ReviewWork;
  readonly stored: StoredReview;
}

/** A decision that is ready to be stored. */
export interface PreparedDecision {
  readonly schema: JsonObject;
  readonly schema_sha256: string;
  readonly bytes: Uint8Array;
  readonly decision_sha256: string;
  readonly counts: Readonly<Record<Origin, number>>;
  /** The batch that the decided parts of a stack become; null: none does. */
  readonly then_batch_id: string | null;
  /** The first page of a stack that the decision loses, doubles or moves; undefined: none. */
  readonly misplaced: number | undefined;
}

interface Answers {
  /** The last members of a review as callers get it; of one with a decision, the last ones of that before them. */
  readonly show: Uint8Array;
  /** The machine's answer with what a person has decided in the place of its result. */
  readonly answer: Uint8Array;
  /** What the document says, and the saved config that it was read with. */
  readonly said: { readonly result: Uint8Array; readonly config_id: string | null };
  readonly decide: PreparedDecision;
}
export type ReviewAnswer<Kind extends ReviewWork['kind']> = Answers[Kind];

/** Does such work: here, or where nobody else waits for it. */
export interface ReviewWorker {
  /** Pieces of work of one `share` are loaded and done in order. undefined: there is nothing stored. */
  readonly run: <Work extends ReviewWork>(
    share: string,
    work: Work,
    load: () => Promise<StoredReview | undefined>,
  ) => Promise<ReviewAnswer<Work['kind']> | undefined>;
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The question and the reading. */
interface Standing extends Question {
  readonly answer: JsonObject;
  readonly decision: StoredDecision | null;
}

const standingIn = (stored: StoredReview): Standing => {
  if ('decision' in stored) {
    const decision = storedDecision.parse(JSON.parse(textOf(stored.decision)));
    const { schema, doubts, answer, parts } = decision;
    return { schema, doubts, answer, parts, decision };
  }
  const question = storedQuestion.parse(JSON.parse(textOf(stored.question)));
  return { ...question, answer: storedBodyOf(stored.result), decision: null };
};

/** The machine's result, as a person decides about it. */
const machineResult = ({ answer, parts }: Pick<Standing, 'answer' | 'parts'>): JsonObject =>
  parts === undefined ? ((answer['result'] ?? {}) as JsonObject) : decidableParts(partsIn(answer));

/** What a person said is not in the document, as the reason why the result is `partial`. */
const absences = ({ absent }: StoredDecision): readonly JsonObject[] | null =>
  absent.length === 0
    ? null
    : absent.map((path) => ({
        path,
        keyword: 'required',
        message: 'A person has decided that the document does not say it.',
        params: { missingProperty: nameIn(path) },
        actual: null,
      }));

const nameIn = (path: string): string => pointedName(path.split('/').at(-1) ?? '');

const show = ({ schema, doubts, answer, parts, decision }: Standing): Uint8Array => {
  const { meta, validation_errors } = answer as JsonObject & { readonly meta: JsonObject };
  const {
    document_id,
    file_name,
    mime_type,
    pages,
    citations = [],
    warnings,
    checks = [],
  } = meta as Readonly<Record<string, Json>>;
  const members = {
    document: { document_id, file_name, mime_type, pages },
    reasons: doubts,
    schema,
    result: decision?.result ?? machineResult({ answer, parts }),
    citations: decision === null || parts !== undefined ? citations : decidedCitations(decision, answer),
    warnings,
    checks,
    validation_errors: validation_errors ?? [],
  };
  if (decision === null) return bytesOf(members).subarray(1);
  const { origins, absent, note } = decision;
  const rest = JSON.stringify({ origins, absent, note }).slice(1);
  return new TextEncoder().encode(`${rest},${JSON.stringify(members).slice(1)}`);
};

/** What a person decided was found by no machine; where it stands nobody has said. */
const BY_PERSON = { text: '', page: null, bbox: null, confidence: 1, by: 'person' } as const;

/**
 * One citation for each value: of one that nobody was asked about as the machine told it, wherever its row stands now;
 * of a confirmed one with the machine's place; of a corrected one without a place.
 */
const decidedCitations = ({ result, origins }: StoredDecision, answer: JsonObject): readonly JsonObject[] => {
  const { citations = [] } = answer['meta'] as {
    readonly citations?: readonly (JsonObject & { path: string })[];
  };
  const cited = new Map(citations.map((one) => [one.path, one]));
  const places = machinePlaces(result, (answer['result'] ?? {}) as JsonObject);
  return Object.entries(origins).flatMap(([path, from]) => {
    const known = cited.get(places.get(path) ?? path);
    if (from === 'read') return known === undefined ? [] : [{ ...known, path }];
    return from === 'confirmed' && known !== undefined
      ? [{ ...known, path, by: 'person' }]
      : [{ path, ...BY_PERSON }];
  });
};

/** The answer of a split with the parts that a person has decided. */
const decidedParts = (
  { answer, parts }: Standing & { readonly parts: NonNullable<Standing['parts']> },
  { result, origins }: StoredDecision,
  ends: BodyEnds,
): Uint8Array => {
  const told = new Map(partsIn(answer).map((part) => [JSON.stringify(decidableParts([part])), part]));
  const decided = partsIn(result).map((part) => {
    const before = told.get(JSON.stringify(decidableParts([part])));
    const { pages, class: name } = part;
    return { pages, class: name, confidence: 1, reasons: before?.['reasons'] ?? [] };
  });
  const meta = { ...(answer['meta'] as JsonObject), origins, ...ends.meta };
  return bytesOf({ ...answer, ...placedInBatch(decided, parts), ...ends.body, meta });
};

const decidedAnswer = (standing: Standing, ends: BodyEnds): Uint8Array => {
  const { answer, decision, parts } = standing;
  if (decision === null) throw new Error('nobody has decided it');
  if (parts !== undefined) return decidedParts({ ...standing, parts }, decision, ends);
  const { result, origins } = decision;
  const validation_errors = absences(decision);
  const status = validation_errors === null ? 'success' : 'partial';
  const citations = decidedCitations(decision, answer);
  const meta = { ...(answer['meta'] as JsonObject), citations, origins, ...ends.meta };
  return bytesOf({ ...answer, status, result, validation_errors, ...ends.body, meta });
};

const prepared = (standing: Standing, said: string): PreparedDecision => {
  const { schema, doubts, answer, parts } = standing;
  const { result, absent, note } = JSON.parse(said) as Said;
  const machine = machineResult(standing);
  const origins = originsOf(
    result,
    machine,
    doubts.map(({ path }) => path),
  );
  const counts = { read: 0, confirmed: 0, corrected: 0 };
  for (const one of Object.values(origins)) counts[one] += 1;
  const bytes = bytesOf({ schema, doubts, parts, answer, result, origins, absent, note });
  const schema_sha256 = sha256(canonicalJson(schema));
  const decided = partsIn(result);
  return {
    schema,
    schema_sha256,
    bytes,
    decision_sha256: sha256(bytes),
    counts,
    then_batch_id: parts === undefined ? null : placedInBatch(decided, parts).batch_id,
    misplaced: parts === undefined ? undefined : misplacedPage(decided, partsIn(answer)),
  };
};

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A result with null for what the schema asks for and a person left out: so it is said that the document lacks it. */
const withAbsent = (schema: Json | undefined, result: JsonObject): JsonObject => {
  const asked = isObject(schema) ? schema['properties'] : undefined;
  if (!isObject(asked)) return result;
  const names = [...new Set([...Object.keys(result), ...Object.keys(asked)])];
  return Object.fromEntries(
    names.map((name) => {
      const value = Object.hasOwn(result, name) ? (result[name] ?? null) : null;
      const part = Object.hasOwn(asked, name) ? asked[name] : undefined;
      return [name, isObject(value) ? withAbsent(part, value) : value];
    }),
  );
};

const said = ({ schema, answer, decision }: Standing): Answers['said'] => {
  const config_id = (answer['meta'] as JsonObject | undefined)?.['config_id'];
  const result = withAbsent(schema, (decision?.result ?? answer['result'] ?? {}) as JsonObject);
  return { result: bytesOf(result), config_id: typeof config_id === 'string' ? config_id : null };
};

/** Does a piece of work at a stretch. */
export const doReviewJob = ({ work, stored }: ReviewJob): Answers[ReviewWork['kind']] => {
  const standing = standingIn(stored);
  switch (work.kind) {
    case 'show':
      return show(standing);
    case 'answer':
      return decidedAnswer(standing, work.ends);
    case 'said':
      return said(standing);
    case 'decide':
      return prepared(standing, work.said);
  }
};

/** Bytes that a piece of work reads, with the text that comes with it. */
export const sizeOfJob = ({ work, stored }: ReviewJob): number => {
  const before = work.kind === 'decide' ? work.said.length : 0;
  return Object.values(stored).reduce<number>((sum, { length }: Uint8Array) => sum + length, before);
};

/** Memory that is handed over instead of copied: that of bytes which have it for themselves. */
export const buffersIn = (values: readonly unknown[]): ArrayBuffer[] =>
  values.flatMap((value) => {
    if (!(value instanceof Uint8Array)) return [];
    const { buffer, byteLength } = value;
    // The first byte of an answer may be left out.
    return buffer instanceof ArrayBuffer && buffer.byteLength - byteLength <= 1 ? [buffer] : [];
  });

/** Does all work at a stretch where it is asked for. */
export const workHere: ReviewWorker = {
  run: async <Work extends ReviewWork>(
    _: string,
    work: Work,
    load: () => Promise<StoredReview | undefined>,
  ) => {
    const stored = await load();
    return stored && (doReviewJob({ work, stored }) as ReviewAnswer<Work['kind']>);
  },
};
