import type { DocumentTools } from '../ports/documentTools.ts';
import type { ChildPool } from './children/childPool.ts';
import { fileOf, runDocumentJob, type RecognitionMeans } from './poolJobs.ts';

/** What model work needs of documents, done by the processes that parse. */
export const documentTools = (pool: ChildPool, means: RecognitionMeans): DocumentTools => ({
  pictures: (request) =>
    runDocumentJob(pool, { kind: 'pictures', file: fileOf(request, { ...means, isLast: false }) }, request),
  documentOf: (read, limits) => runDocumentJob(pool, { kind: 'documentOf', ...read }, limits),
  render: ({ packed }, { form, ...limits }) =>
    runDocumentJob(pool, { kind: 'renderDocument', packed, form }, limits),
  extractFrom: ({ document: { packed }, minConfidence, ...work }, limits) =>
    runDocumentJob(pool, { kind: 'extractFrom', packed, minConfidence, ...work }, limits),
  ground: ({ document: { packed }, minConfidence, ...work }, limits) =>
    runDocumentJob(pool, { kind: 'ground', packed, minConfidence, ...work }, limits),
  score: (work, limits) => runDocumentJob(pool, { kind: 'score', ...work }, limits),
});
