import type { Document } from '../../document/document.ts';
import { asObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { seenWarnings, toldAboveFloor } from '../confidenceFloor.ts';
import { withAbsence } from './absence.ts';
import { groundedIn, type Grounded } from './grounding.ts';
import { leavesOf } from './groundingLeaves.ts';
import { objectInAnswer } from '../../kernel/jsonAnswer.ts';
import type { GroundedValue, NoObject, ScoredWork } from '../../ports/documentTools.ts';
import type { ExtractionSettings, ValidationError, ValueCitation } from '../../ports/extractionEngine.ts';
import { scoredAnswer } from '../../learning/scoring/feedback.ts';
import { onlyLabelled } from '../../learning/scoring/labelled.ts';
import { unpacked } from '../../ports/packing.ts';
import { validate } from '../schema/validation.ts';

/** Levels of objects and arrays in a model's answer; a schema may have 32, references may repeat them. */
const DEPTH_MAX = 200;

const TOO_DEEP: NoObject = {
  kind: 'no_object',
  detail: `answered with JSON that is nested deeper than ${DEPTH_MAX} levels`,
};

/** A level at a time, so that depth cannot exhaust the stack. */
function isDeep(value: Json): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}

type Ground = (value: JsonObject) => Grounded;

const groundIn =
  (document: Document, schema: JsonObject): Ground =>
  (value) =>
    groundedIn(document, { schema, value });

/** Values as they were cited; one that was not stands nowhere. */
const groundAsCited = (cited: readonly ValueCitation[], schema: JsonObject): Ground => {
  const byPath = new Map(cited.map((one) => [one.path, one]));
  return (value) =>
    leavesOf(schema, value)
      .filter((leaf) => leaf.value !== '')
      .map(({ path }) => byPath.get(path) ?? { ...UNPLACED, path });
};

const UNPLACED = { text: '', page: null, bbox: null, confidence: 0, grounding: 'none', by: 'model' } as const;

interface Told {
  readonly value: JsonObject;
  readonly citations: Grounded;
}

interface Answered {
  readonly packed: Uint8Array;
  readonly schema: JsonObject;
  readonly settings: ExtractionSettings;
  readonly answer: string;
  /** The first and the last page that the model was shown; left out: all. */
  readonly pages?: readonly [number, number] | undefined;
  /** Where its values stand, where that was told by the parts of a document too long to be looked through at once. */
  readonly cited?: readonly ValueCitation[] | undefined;
}

/**
 * What a model answered, held against schema and document. What does not fit the schema is taken out with an error
 * that shows it, unless it stands on the pages: what a document says is not lost for its shape.
 */
export function groundAnswer({
  packed,
  schema,
  settings,
  answer,
  pages,
  cited,
}: Answered): GroundedValue | NoObject {
  const found = objectInAnswer(answer);
  if (found === undefined) return { kind: 'no_object', detail: 'did not answer with JSON' };
  if (isDeep(found)) return TOO_DEEP;
  const ground =
    cited === undefined ? groundIn(shownOf(unpacked(packed), pages), schema) : groundAsCited(cited, schema);
  const whole = withAbsence(schema, found);
  const { errors } = validate(schema, whole);
  const all = ground(whole);
  const valid =
    errors.length === 0
      ? { value: whole, errors }
      : validate(schema, whole, standing(schema, { value: whole, citations: all }));
  const citations = valid.value === whole ? all : ground(valid.value);
  const sure = toldAboveFloor({ value: valid.value, citations }, settings);
  const left = sure.seen.length === 0 ? valid : validAgain(schema, sure, valid.errors);
  return {
    kind: 'ok',
    value: left.value,
    validationErrors: left.errors,
    citations: sure.citations,
    warnings: seenWarnings(sure.seen, settings),
  };
}

/**
 * Whether what is at a place stands on the pages, all of it. Digits alone are a number in another type: they were
 * too long for one, and are told in the error.
 */
function standing(schema: JsonObject, { value, citations }: Told): (path: string) => boolean {
  const tooLong = new Set(
    leavesOf(schema, value).flatMap((leaf) =>
      typeof leaf.value === 'string' && DIGITS.test(leaf.value) ? [leaf.path] : [],
    ),
  );
  const stand = new Map<string, boolean>();
  for (const { path, page, grounding } of citations)
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
      stand.set(at, (stand.get(at) ?? true) && (page !== null || (at !== path && grounding === 'derived')));
  return (path) => (stand.get(path) ?? false) && !tooLong.has(path);
}

const DIGITS = /^-?\d{16,}(?:\.\d+)?$/;

/** What was left out may be required. Of what was invalid before, the first error stays. */
function validAgain(schema: JsonObject, sure: Told, before: readonly ValidationError[]) {
  const { value, errors } = validate(schema, withAbsence(schema, sure.value), standing(schema, sure));
  const told = new Set(before.map(({ path }) => path));
  return { value, errors: [...before, ...errors.filter(({ path }) => !told.has(path))] };
}

const shownOf = (document: Document, pages: Answered['pages']): Document =>
  pages === undefined
    ? document
    : { ...document, pages: document.pages.filter(({ page }) => page >= pages[0] && page <= pages[1]) };

/** An answer without an object, or nested without end, is none. */
export function scoreAnswer({ expected, answer, labelledOnly }: ScoredWork) {
  const found = objectInAnswer(answer);
  const got = found !== undefined && isDeep(found) ? undefined : found;
  return scoredAnswer(expected, labelledOnly === true ? asObject(onlyLabelled(expected, got)) : got);
}
