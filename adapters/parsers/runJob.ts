import type { Job } from './jobs.ts';
import { inspectFile, readFileAsDocument } from './readDocument.ts';
export async function runJob(job: Job): Promise<unknown> {
  if (job.kind === 'inspect') return inspectFile(job.file);
  if (job.kind === 'parse') return readFileAsDocument(job.file);
  throw new Error('x');
}
