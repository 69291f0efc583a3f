import type { DocumentTools } from '../../domain/ports/documentTools.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { ParseFailure } from '../../domain/ports/documentParser.ts';
import type { ChildPool } from './isolation/childPool.ts';
import { fileOf, runDocumentJob } from './poolJobs.ts';

/** Levels of objects and arrays in a model's answer; a schema may have 32, references may repeat them. */
const DEPTH_MAX = 200;

/** What model work needs of documents, done by the processes that parse. */
export const documentTools = (pool: ChildPool, languages: readonly string[]): DocumentTools => ({
  pictures: (request) =>
    runDocumentJob(pool, { kind: 'pictures', file: fileOf(request, languages) }, request),
  documentOf: (read, limits) => runDocumentJob(pool, { kind: 'documentOf', ...read }, limits),
  render: ({ packed }, limits) => runDocumentJob(pool, { kind: 'renderDocument', packed }, limits),
  extractFrom: ({ document: { packed }, ...work }, limits) =>
    runDocumentJob(pool, { kind: 'extractFrom', packed, ...work }, limits),
  ground: ({ document: { packed }, ...work }, limits) =>
    isDeep(work.value)
      ? Promise.resolve(tooDeep)
      : runDocumentJob(pool, { kind: 'ground', packed, ...work }, limits),
});

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
