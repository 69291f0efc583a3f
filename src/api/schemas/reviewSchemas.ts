import { GENERATOR_NAMES, GENERATORS } from '@quire/engine/ports/why';
import { z } from 'zod';
import { origin, reviewPolicy } from '../../../domain/review.ts';
import { checks, duplicatesRule, lookups } from '../../../domain/rules/checks.ts';
import { bbox, jsonOf } from './basics.ts';

const REVIEW =
  'When a person has to look at the result. It replaces the whole policy of the config. `below`: 0 to 1, a value has ' +
  'less confidence, or was left out because of it. `missing_required`: a required value is missing; the rest is kept ' +
  'for the review. `rules`: items do not add up to their total, or two readings of a value differ, a check of the ' +
  'config failed, a look-up is doubtful, or it told a duplicate. `sample`: 0 to 1, ' +
  'the share of files that a person looks at in any case. The answer is then an operation (202) with the status ' +
  '`needs_review`, billed like any other.';

export const reviewIn = reviewPolicy.meta({ id: 'ReviewPolicy', description: REVIEW });

export const checksIn = checks.meta({
  id: 'Checks',
  description:
    'What has to be true of each result, in the Common Expression Language: names are those of the members of the ' +
    'schema, `result` is all of it, and there are `sum`, `near`, `between`, `in_order`, `days`, `is_iban`, `is_bic` ' +
    'and `is_vat_id`. Outcomes are in `meta.checks`.',
});

export const lookupsIn = lookups.meta({
  id: 'Lookups',
  description:
    'Values of each result that are looked up in tables (`POST /v1/tables`): the same text but for case, accents and ' +
    'punctuation, or else the one that is most like it, with a score of 0 to 1. `field` is a member such as `vendor` ' +
    'or `items[].article`, or a JSON Pointer with `*` for any place in a list. Below `min_score` (default 0.85) a ' +
    'value is in doubt. Outcomes are in `meta.checks`; the version of the table that counts is the latest when the ' +
    'work was accepted.',
});

export const duplicatesIn = duplicatesRule.meta({
  id: 'DuplicatesRule',
  description:
    'Earlier documents of the tenant that are the same are in `meta.duplicates`: the same pages of one file, and ' +
    'those with the same `values`, named by JSON Pointers, such as the number and the party of an invoice. ' +
    'Only letters and digits are compared; a missing value tells nothing.',
});

/** An earlier document that is the same. */
export const duplicateOut = z
  .strictObject({
    by: z.enum(['file', 'values']),
    document_id: z.string(),
    extraction_id: z.string(),
    sighted_at: z.string().meta({ description: 'When it was read.' }),
  })
  .meta({ id: 'Duplicate' });

const lookupOut = z
  .strictObject({
    table_id: z.string(),
    table_version: z.int().nullable().meta({
      description:
        'The version that was looked in: the latest when the work was accepted; null: there was none.',
    }),
    column: z.string(),
    score: z.number().nullable().meta({
      description: '1: the same but for case, accents and punctuation; null: nothing is like it.',
    }),
    row: z.int().nullable().meta({ description: 'Number of the best row, from 1.' }),
    match: z.string().nullable().meta({ description: 'What that row has in the column.' }),
    values: z.record(z.string(), z.string()).nullable().meta({ description: 'That row, by column.' }),
    equal_rows: z.int().meta({
      description: 'How many rows have the same text in the column; the first of them is given.',
    }),
  })
  .meta({ id: 'LookupOutcome' });

/** What came of the rules of a config. */
export const checkOutcome = z
  .strictObject({
    name: z.string().meta({ description: 'Name of the check; of a look-up the JSON Pointer to the value.' }),
    passed: z.boolean().nullable().meta({
      description: 'null: it cannot be judged, because a value that it names is missing.',
    }),
    message: z
      .string()
      .optional()
      .meta({ description: 'That of the config if it has not passed; else why it could not be judged.' }),
    lookup: lookupOut.optional().meta({ description: 'Of a look-up: what it found.' }),
  })
  .meta({ id: 'CheckOutcome' });

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

const BY = [
  'How the value was found. More may be added; left out in results of earlier releases.',
  ...GENERATOR_NAMES.map((name) => `\`${name}\`: ${GENERATORS[name]}`),
].join(' ');

export const citation = z
  .strictObject({
    path: z.string().meta({ description: 'JSON Pointer into `result`.' }),
    text: z.string().meta({ description: 'The text at that place; empty if `page` is null.' }),
    page: z.int().nullable().meta({ description: 'Starts at 1; null for values without a place.' }),
    bbox,
    confidence: z.number().min(0).max(1),
    grounding: z
      .enum(['exact', 'normalised', 'derived', 'none'])
      .optional()
      .meta({
        description:
          'For a value of a model, how the document says it. `exact`: letter by letter; `normalised`: written in ' +
          'another way; `derived`: it follows from the text there or is chosen (a sum, a boolean); `none`: not at ' +
          'all. Left out if the embedded engine read the value, or a person decided it.',
      }),
    by: z.enum(GENERATOR_NAMES).optional().meta({ description: BY }),
  })
  .meta({ id: 'Citation' });
