import type { AskedParts, Doubt, Question } from './doubts.ts';
import type { Json, JsonObject } from './kernel/json.ts';
import { suffixOf } from './leased.ts';
import { isSampled, type PartsPolicy } from './review.ts';

/** A document in a stack: the pages and the class that a split tells, or that a person has decided. */
export interface StackPart {
  /** Their numbers, which rise. */
  readonly pages: readonly number[];
  /** null: no class fits, or none was given. */
  readonly class: string | null;
}

/** The batch that the parts of a split become: one of each, so it is accepted once however often it is tried. */
export const batchIdOfSplit = (splitId: string): string => `bat_${suffixOf(splitId)}`;

/** The parts with their place in the batch, and the batch; null for what does not go to a config. */
export const placedInBatch = <Part extends StackPart>(
  parts: readonly Part[],
  { sent, batch_id }: AskedParts,
): {
  readonly documents: readonly (Part & { readonly batch_index: number | null })[];
  readonly batch_id: string | null;
} => {
  const classes = new Set(sent);
  let next = 0;
  const documents = parts.map((part) => ({
    ...part,
    batch_index: part.class !== null && classes.has(part.class) ? next++ : null,
  }));
  return { documents, batch_id: next === 0 ? null : batch_id };
};

/** The parts as a person decides about them. */
export const decidableParts = (parts: readonly StackPart[]): JsonObject => ({
  documents: parts.map(({ pages, class: name }) => ({ pages: [...pages], class: name })),
});

/** A decision about parts has this form; that no page is lost or doubled `misplacedPages` tells. */
const schemaOf = (parts: readonly StackPart[], classes: readonly string[]): JsonObject => ({
  type: 'object',
  properties: {
    documents: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          pages: {
            type: 'array',
            description: 'Each page of the stack belongs to one document, in their order.',
            minItems: 1,
            items: { type: 'integer', minimum: 1, maximum: Math.max(...pagesOf(parts), 1) },
          },
          class: { enum: [...classes, null] },
        },
        required: ['pages', 'class'],
        additionalProperties: false,
      },
    },
  },
  required: ['documents'],
  additionalProperties: false,
});

const pagesOf = (parts: readonly StackPart[]): readonly number[] => parts.flatMap(({ pages }) => pages);

/** The first page of the stack that the decided parts lose, double or put elsewhere; undefined: none. */
export const misplacedPage = (
  decided: readonly StackPart[],
  parts: readonly StackPart[],
): number | undefined => {
  const [now, before] = [pagesOf(decided), pagesOf(parts)];
  const at = before.findIndex((page, index) => now[index] !== page);
  return at < 0 ? now[before.length] : before[at];
};

/** What a person has to look at; none: nobody has to. */
const doubtsAbout = (
  parts: readonly (StackPart & { readonly confidence: number })[],
  { below, sample }: PartsPolicy,
  file_sha256: string,
): readonly Doubt[] => [
  ...parts.flatMap(({ confidence }, index) =>
    below !== undefined && confidence < below
      ? [{ code: 'below' as const, path: `/documents/${String(index)}`, confidence }]
      : [],
  ),
  ...(sample !== undefined && isSampled(file_sha256, sample) ? [{ code: 'sample' as const, path: '' }] : []),
];

/** The question to a person about the parts of a stack; undefined: nobody has to look at them. */
export const questionAbout = (
  parts: readonly (StackPart & { readonly confidence: number })[],
  asked: {
    readonly review: PartsPolicy | undefined;
    readonly file_sha256: string;
    readonly classes: readonly string[];
    readonly into: AskedParts;
  },
): Question | undefined => {
  const doubts = doubtsAbout(parts, asked.review ?? {}, asked.file_sha256);
  if (doubts.length === 0) return undefined;
  return { schema: schemaOf(parts, asked.classes), doubts, parts: asked.into };
};

const isPart = (value: Json): value is JsonObject & StackPart =>
  typeof value === 'object' && value !== null && 'pages' in value && Array.isArray(value['pages']);

/** The parts in an answer of a split, or in a decision about one. */
export const partsIn = (body: JsonObject): readonly (JsonObject & StackPart)[] => {
  const { documents } = body;
  return Array.isArray(documents) ? (documents as readonly Json[]).filter(isPart) : [];
};
