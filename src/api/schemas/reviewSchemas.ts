import { z } from 'zod';
import { origin, reviewPolicy } from '../../../domain/review.ts';
import { jsonOf } from './basics.ts';

const REVIEW =
  'When a person has to look at the result. It replaces the whole policy of the config. `below`: 0 to 1, a value has ' +
  'less confidence, or was left out because of it. `missing_required`: a required value is missing; the rest is kept ' +
  'for the review. `rules`: items do not add up to their total, or two readings of a value differ. `sample`: 0 to 1, ' +
  'the share of files that a person looks at in any case. The answer is then an operation (202) with the status ' +
  '`needs_review`, billed like any other.';

export const reviewIn = reviewPolicy.meta({ id: 'ReviewPolicy', description: REVIEW });

/** The same in a form: its text. */
export const reviewText = z
  .string()
  .transform(jsonOf)
  .pipe(reviewPolicy)
  .meta({ 'x-wire': { type: 'string', description: `JSON of a \`ReviewPolicy\`. ${REVIEW}` } });

/** Where each leaf of a decided result comes from. */
export const originsOut = z.record(z.string(), origin).meta({
  description:
    'Once a person has decided: the origin of each leaf of `result`, by its JSON Pointer. `confirmed`: it was in ' +
    'doubt and was kept.',
});
