import type { Document } from '../../document/document.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { aboveFloor, MIN_CONFIDENCE, seenWarnings } from '../confidenceFloor.ts';
import { withAbsence } from './absence.ts';
import { groundedIn } from './grounding.ts';
import { objectInAnswer } from '../../kernel/jsonAnswer.ts';
import type { GroundedValue, NoObject } from '../../ports/documentTools.ts';
import type { ValidationError } from '../../ports/extractionEngine.ts';
import { scoredAnswer } from '../../learning/scoring/feedback.ts';
import { unpacked } from '../../isolation/children/packing.ts';
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

interface Answered {
  readonly packed: Uint8Array;
  readonly schema: JsonObject;
  readonly minConfidence?: number | undefined;
  readonly answer: string;
  /** The first and the last page that the model was shown; left out: all. */
  readonly pages?: readonly [number, number] | undefined;
}

/** Citations and doubts are of what is valid: what was taken out has an error that shows it. */
export function groundAnswer({
  packed,
  schema,
  minConfidence = MIN_CONFIDENCE,
  answer,
  pages,
}: Answered): GroundedValue | NoObject {
  const found = objectInAnswer(answer);
  if (found === undefined) return { kind: 'no_object', detail: 'did not answer with JSON' };
  if (isDeep(found)) return TOO_DEEP;
  const valid = validate(schema, withAbsence(schema, found));
  const { citations, ungrounded } = groundedIn(shownOf(unpacked(packed), pages), {
    schema,
    value: valid.value,
  });
  const sure = aboveFloor({ value: valid.value, citations }, minConfidence);
  const { value, errors } = sure.seen.length === 0 ? valid : validAgain(schema, sure.value, valid.errors);
  return {
    kind: 'ok',
    value,
    validationErrors: errors,
    citations: sure.citations,
    ungrounded: ungrounded.flatMap((path) => sure.placeOf(path) ?? []),
    warnings: seenWarnings(sure.seen, minConfidence),
  };
}

/** What was left out may be required. Of what was invalid before, the first error stays. */
function validAgain(schema: JsonObject, left: JsonObject, before: readonly ValidationError[]) {
  const { value, errors } = validate(schema, withAbsence(schema, left));
  const told = new Set(before.map(({ path }) => path));
  return { value, errors: [...before, ...errors.filter(({ path }) => !told.has(path))] };
}

const shownOf = (document: Document, pages: Answered['pages']): Document =>
  pages === undefined
    ? document
    : { ...document, pages: document.pages.filter(({ page }) => page >= pages[0] && page <= pages[1]) };

/** An answer without an object, or nested without end, is none. */
export function scoreAnswer({ expected, answer }: Pick<Answered, 'answer'> & { expected: JsonObject }) {
  const found = objectInAnswer(answer);
  return scoredAnswer(expected, found !== undefined && isDeep(found) ? undefined : found);
}
