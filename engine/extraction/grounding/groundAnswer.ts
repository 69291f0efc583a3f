import type { Json, JsonObject } from '../../kernel/json.ts';
import { withAbsence } from './absence.ts';
import { groundedIn } from './grounding.ts';
import { objectInAnswer } from '../../models/language/jsonAnswer.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { GroundedValue, NoObject } from '../../ports/documentTools.ts';
import { scoredAnswer } from '../../learning/scoring/feedback.ts';
import { unpacked } from '../../isolation/packing.ts';
import { validate } from '../schema/validation.ts';

/** Levels of objects and arrays in a model's answer; a schema may have 32, references may repeat them. */
const DEPTH_MAX = 200;

const tooDeep: ParseFailure = {
  kind: 'unreadable',
  detail: `The model's answer is nested deeper than ${DEPTH_MAX} levels.`,
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
  readonly answer: string;
}

/** Citations and doubts are of what is valid: what was taken out has an error that shows it. */
export function groundAnswer({ packed, schema, answer }: Answered): GroundedValue | NoObject | ParseFailure {
  const found = objectInAnswer(answer);
  if (found === undefined) return { kind: 'no_object' };
  if (isDeep(found)) return tooDeep;
  const { value, errors } = validate(schema, withAbsence(schema, found));
  const grounding = groundedIn(unpacked(packed), { schema, value });
  return { kind: 'ok', value, validationErrors: errors, ...grounding };
}

/** An answer without an object, or nested without end, is none. */
export function scoreAnswer({ expected, answer }: Pick<Answered, 'answer'> & { expected: JsonObject }) {
  const found = objectInAnswer(answer);
  return scoredAnswer(expected, found !== undefined && isDeep(found) ? undefined : found);
}
