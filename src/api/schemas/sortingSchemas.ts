import { z } from 'zod';
import { partsPolicy } from '../../../domain/review.ts';
import { bbox, jsonOf, plainText } from './basics.ts';
import { originsOut } from './reviewSchemas.ts';
import { cost, openingFields, page, scope, sourceUrlIn, warning } from './workSchemas.ts';

const CLASSES_MAX = 1_000;
const EXAMPLES_MAX = 20;

const documentClass = z
  .strictObject({
    name: plainText(1, 200)
      .regex(/\S/, 'Must not be blank.')
      .meta({ description: 'What the answer calls it.' }),
    description: plainText(0, 4_000)
      .optional()
      .meta({ description: 'What such documents say or are about.' }),
    config_id: plainText(1, 200).optional().meta({
      description:
        'A saved config for such documents: the names and descriptions of its fields speak of them too.',
    }),
    examples: z
      .array(plainText(1, 20_000))
      .max(EXAMPLES_MAX)
      .optional()
      .meta({ description: 'Texts of such documents; the more alike a document is, the surer.' }),
  })
  .meta({ id: 'DocumentClass' });

const sameName = ({ name }: { readonly name: string }): string => name.normalize('NFC').trim().toLowerCase();

const classList = z
  .array(documentClass)
  .max(CLASSES_MAX)
  .superRefine((classes, context) => {
    const seen = new Set<string>();
    for (const [at, one] of classes.entries()) {
      if (seen.has(sameName(one)))
        context.addIssue({ code: 'custom', path: [at, 'name'], message: 'Two classes have this name.' });
      seen.add(sameName(one));
    }
  });

const classesText = (list: typeof classList, what: string) =>
  z
    .string()
    .transform(jsonOf)
    .pipe(list)
    .meta({ 'x-wire': { type: 'string', description: `JSON of a list of \`DocumentClass\`. ${what}` } });

const common = { source_url: sourceUrlIn.optional(), ...openingFields, ...scope };

export const classifyForm = z
  .strictObject({
    classes: classesText(
      classList.min(1),
      'From 1 to 1,000. A document is told by the names of classes and of the kinds of documents that they name, in ' +
        'nine languages, by their descriptions, by the fields of their configs and by their examples.',
    ),
    ...common,
  })
  .meta({ id: 'ClassifyForm' });

const partsReview = z
  .string()
  .transform(jsonOf)
  .pipe(partsPolicy)
  .meta({
    'x-wire': {
      type: 'string',
      description:
        'JSON of `{"below"?, "sample"?}`: when a person has to look at the parts. `below`: 0 to 1, a part has less ' +
        'confidence. `sample`: 0 to 1, the share of files that a person looks at in any case. The answer is then an ' +
        'operation (202) with the status `needs_review`, billed like any other, and `then` waits for the decision.',
    },
  });

const isNamed = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const thenText = z
  .string()
  .transform((text, context): ReadonlyMap<string, string> => {
    const given = jsonOf(text, context);
    if (!isNamed(given)) {
      context.addIssue({
        code: 'custom',
        message: 'Expected an object of classes and IDs of saved configs.',
      });
      return z.NEVER;
    }
    const named = new Map<string, string>();
    for (const [name, config] of Object.entries(given)) {
      const config_id = plainText(1, 200).safeParse(config);
      if (config_id.success) named.set(name, config_id.data);
      else context.addIssue({ code: 'custom', path: [name], message: 'Expected the ID of a saved config.' });
    }
    return named;
  })
  .meta({
    'x-wire': {
      type: 'string',
      description:
        'JSON of `{"<class>": "<config_id>"}`: the parts of these classes become a batch with a document a part, ' +
        'extracted by the saved config of the class and billed like any other batch.',
    },
  });

export const splitForm = z
  .strictObject({
    classes: classesText(classList, 'At most 1,000; left out, parts have no class.').prefault('[]'),
    review: partsReview.optional(),
    then: thenText.optional(),
    ...common,
  })
  .meta({ id: 'SplitForm' });

const confidence = z.number().min(0).max(1);

const reason = z
  .strictObject({
    text: z.string().meta({ description: 'Words of the page, or a sentence on it.' }),
    page: z.int().meta({ description: 'Starts at 1.' }),
    bbox,
  })
  .meta({ id: 'SortingReason' });

const metaMembers = {
  document_id: z.string(),
  file_name: z.string().nullable(),
  mime_type: z.string(),
  page_count: z.int(),
  pages: z.array(page),
  model: z.string(),
  duration_ms: z.int(),
  warnings: z.array(warning),
  cost,
  free_pages: z.int(),
};

const className = z.string().nullable().meta({ description: 'null: no class fits.' });

export const classifyResponse = z
  .strictObject({
    class: className,
    confidence,
    ranked: z
      .array(
        z.strictObject({ class: z.string().meta({ description: 'Its name, as it was given.' }), confidence }),
      )
      .meta({ description: 'The classes that anything speaks for, the best first; the first 20.' }),
    reasons: z.array(reason).meta({ description: 'The words of the document that speak for the class.' }),
    meta: z.strictObject({ classification_id: z.string(), ...metaMembers }),
  })
  .meta({ id: 'ClassificationResult' });

export const splitResponse = z
  .strictObject({
    documents: z.array(
      z.strictObject({
        pages: z
          .array(z.int())
          .meta({ description: 'Start at 1. A blank page belongs to the document before it.' }),
        class: className,
        confidence: confidence.meta({ description: 'That it begins and ends there, and is of the class.' }),
        reasons: z
          .array(reason)
          .meta({ description: 'Why a document begins on its first page, then what speaks for its class.' }),
        batch_index: z
          .int()
          .nullable()
          .meta({ description: 'Its place in the batch, from 0; null: `then` has no config for its class.' }),
      }),
    ),
    batch_id: z
      .string()
      .nullable()
      .meta({ description: 'The batch that its parts are; null: none goes to a config.' }),
    meta: z.strictObject({ split_id: z.string(), ...metaMembers, origins: originsOut.optional() }),
  })
  .meta({ id: 'SplitResult' });
