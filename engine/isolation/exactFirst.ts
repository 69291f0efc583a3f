import { extract, type LocalExtraction } from '../extraction/extract.ts';
import { exactPaths, saidOtherwise, withExact } from '../extraction/facts/exactValues.ts';
import { groundAnswer } from '../extraction/grounding/groundAnswer.ts';
import { validate } from '../extraction/schema/validation.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { GroundedValue, NoObject } from '../ports/documentTools.ts';
import { unpacked } from '../ports/packing.ts';
import { withZones } from './codesOfDocument.ts';

type Answered = Parameters<typeof groundAnswer>[0];

/**
 * What a model answered, held against schema and document; but what the document says exactly, in lines for machines or
 * as data, goes before it. Where the model read something else, that is told. Of an answer that was put together
 * from parts this was done in each of them.
 */
export function exactFirst(job: Answered): GroundedValue | NoObject {
  const grounded = groundAnswer(job);
  if (grounded.kind !== 'ok' || job.cited !== undefined) return grounded;
  const document = withZones(unpacked(job.packed));
  const hasExact = document.invoice !== undefined || (document.codes ?? []).length > 0;
  if (!hasExact) return grounded;
  return overlaid(grounded, extract(document, job.schema), job.schema);
}

function overlaid(grounded: GroundedValue, found: LocalExtraction, schema: JsonObject): GroundedValue {
  const paths = exactPaths(found);
  if (paths.size === 0) return grounded;
  const value = withExact(grounded.value, found.value, paths);
  const before = grounded.validationErrors.filter(({ path }) => !paths.has(path));
  const known = new Set(before.map(({ path, keyword }) => `${path} ${keyword}`));
  const { errors } = validate(schema, value);
  return {
    kind: 'ok',
    value,
    validationErrors: [...before, ...errors.filter(({ path, keyword }) => !known.has(`${path} ${keyword}`))],
    citations: [
      ...grounded.citations.filter(({ path }) => !paths.has(path)),
      ...found.citations.filter(({ path }) => paths.has(path)),
    ],
    warnings: [...grounded.warnings, ...saidOtherwise({ value, paths }, grounded, 'model')],
  };
}
