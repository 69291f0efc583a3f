import { z } from 'zod';
import { creditsOut, instantOut, orAbsent, pagingQuery, plainText, tagsIn, tenantIdText } from './basics.ts';
import { extractModeIn } from './workSchemas.ts';

export const runRequest = z
  .strictObject({
    tenant_id: tenantIdText
      .optional()
      .meta({ description: 'For service and admin keys; default: their own.' }),
    set_id: plainText(1, 128).meta({ description: 'The set to measure with; its latest version is used.' }),
    config_id: orAbsent(plainText(1, 200)).meta({ description: 'The saved config to measure.' }),
    artifact_id: orAbsent(plainText(1, 200)).meta({ description: 'The artifact to measure.' }),
    schema: z
      .unknown()
      .optional()
      .meta({ description: 'The JSON Schema to measure, if neither config nor artifact has one.' }),
    mode: orAbsent(extractModeIn),
    tags: tagsIn.optional(),
  })
  .meta({ id: 'EvaluationRunRequest' });

export const runStatus = z
  .enum(['queued', 'running', 'cancelling', 'scoring', 'succeeded', 'cancelled'])
  .meta({
    description:
      '`scoring`: every document has its outcome, and the results are being compared with the set.',
  });

const shareOut = z.number().min(0).max(1).nullable();
const figures = {
  precision: shareOut.meta({
    description: 'Share of the values read that are right; null: none were read.',
  }),
  recall: shareOut.meta({
    description: 'Share of the values to be read that were read right; null: there are none.',
  }),
  f1: shareOut.meta({ description: '2 tp / (2 tp + fp + fn); null: there is nothing to read.' }),
};
const counts = {
  tp: z.int().meta({ description: 'Values that are right.' }),
  fp: z.int().meta({ description: 'Values that are wrong, or should not be there.' }),
  fn: z.int().meta({ description: 'Values that are missing, or wrong.' }),
};

const measured = {
  config_id: z.string().nullable(),
  config_version: z.int().nullable(),
  artifact_id: z.string().nullable(),
  examples: z
    .int()
    .nullable()
    .meta({ description: 'Number of examples that the artifact learned from; null without an artifact.' }),
  mode: z.string(),
  schema_sha256: z.string(),
};

const runMembers = {
  run_id: z.string(),
  batch_id: z.string().meta({ description: 'The batch of the run, with its operations and results.' }),
  tenant_id: z.string(),
  set_id: z.string(),
  set_version: z.int(),
  ...measured,
  status: runStatus,
  documents: z.int(),
  scored: z
    .int()
    .nullable()
    .meta({ description: 'Documents that were compared; null before the comparison.' }),
  left_out: z.int().nullable().meta({
    description: 'Documents that say nothing about quality, because they were not paid for or are gone.',
  }),
  ...figures,
  pages: z.int().nullable(),
  credits_used: creditsOut
    .nullable()
    .meta({ description: 'Cost of its documents; null until the run has ended.' }),
  accepted_at: instantOut,
  started_at: instantOut.nullable(),
  finished_at: instantOut.nullable(),
  scored_at: instantOut.nullable(),
};
export const runItem = z.strictObject(runMembers).meta({ id: 'EvaluationRunItem' });

const changeOut = z
  .number()
  .nullable()
  .meta({ description: 'F1 less the F1 of the previous run; null if either is missing.' });

const fileNameOut = z
  .string()
  .nullable()
  .meta({ description: 'null if the file has no name, or it was erased.' });

export const runBody = z
  .strictObject({
    ...runMembers,
    schema: z.record(z.string(), z.unknown()).nullable().meta({ description: 'The schema that was used.' }),
    calibration: z.array(z.strictObject({ at_least: z.number(), values: z.int(), right: z.int() })).meta({
      description:
        'For each confidence: how many values have at least this confidence, and how many of them are right.',
    }),
    per_field: z
      .array(z.strictObject({ path: z.string(), ...counts, ...figures, change: changeOut }))
      .meta({ description: '`*` stands for any place in a list, and for names that are not in the schema.' }),
    per_document: z
      .array(
        z.strictObject({
          document_id: z.string(),
          file_name: fileNameOut,
          operation_id: z.string().nullable(),
          left_out: z.string().nullable().meta({ description: 'Why the document was not compared.' }),
          ...counts,
          ...figures,
          change: changeOut,
        }),
      )
      .meta({ description: 'In the order of the set.' }),
    previous: z
      .strictObject({ run_id: z.string(), set_version: z.int(), ...figures, change: changeOut })
      .nullable()
      .meta({ description: 'The previous run of this set.' }),
  })
  .meta({ id: 'EvaluationRun' });

export const acceptedRun = z
  .strictObject({
    run_id: z.string(),
    batch_id: z.string(),
    set_id: z.string(),
    set_version: z.int(),
    status: z.literal('queued'),
    documents: z.int(),
    accepted_at: instantOut,
  })
  .meta({ id: 'AcceptedEvaluationRun' });

export const runParams = z.object({ run_id: plainText(1, 128) });

export const runsQuery = z.object({
  tenant_id: tenantIdText,
  ...pagingQuery,
  set_id: plainText(1, 128).optional(),
  status: runStatus.optional(),
});

const wrongOut = z
  .strictObject({
    path: z.string(),
    at: z
      .string()
      .nullable()
      .meta({ description: 'JSON Pointer into the result; null: the result has nothing there.' }),
    expected: z
      .string()
      .nullable()
      .meta({ description: 'The correct value as JSON, at most 300 characters; null: none.' }),
    got: z.string().nullable().meta({ description: 'The value that was read, in the form of `expected`.' }),
    confidence: z.number().nullable(),
    page: z.int().nullable().meta({ description: 'Page where it was read.' }),
    bbox: z
      .array(z.number())
      .nullable()
      .meta({ description: 'Place on the page: left, top, right, bottom, as in citations.' }),
    text: z
      .string()
      .nullable()
      .meta({ description: 'The text at that place, at most 300 characters; null: nothing was read.' }),
  })
  .meta({ id: 'EvaluationWrongValue' });

export const runDocument = z
  .strictObject({
    run_id: z.string(),
    document_id: z.string(),
    file_name: fileNameOut,
    mime_type: z
      .string()
      .nullable()
      .meta({ description: 'Type of the file; null if the document was erased.' }),
    operation_id: z.string().nullable(),
    left_out: z.string().nullable(),
    ...counts,
    ...figures,
    wrong: z
      .array(wrongOut)
      .nullable()
      .meta({ description: 'At most 1,000; null if the document was erased since.' }),
  })
  .meta({ id: 'EvaluationRunDocument' });
