import type { DocumentParser, Inspection } from '@quire/engine/ports/documentParser';
import type { KeptFile } from '@quire/engine/ports/keptFile';
import type { WorkPlan, WorkRequest } from './work.ts';
import { misfit, parseProblem, type WorkProblem } from './workProblem.ts';

export interface CountFileDeps {
  readonly parser: DocumentParser;
  /** Most pages of one call. */
  readonly pagesMax: number;
  readonly inspectDeadlineMs: number;
}

/** A request, and the file that it keeps open while it is worked on. */
export interface AskedWork {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly kept: KeptFile;
}

export type CountedFile = Extract<Inspection, { readonly kind: 'ok' }>;

/** Opens the file of a request as it asks, and counts the pages that it will bill. */
export const countedFile = async (
  { parser, pagesMax, inspectDeadlineMs }: CountFileDeps,
  { request: { file, opening, signal, tenant_id }, plan: { effort, timedOut }, kept }: AskedWork,
): Promise<CountedFile | WorkProblem> => {
  const counted = await parser.inspect({
    path: file.path,
    fileName: file.file_name,
    effort,
    kept,
    pagesMax,
    pages: opening.pages,
    password: opening.password,
    deadlineMs: inspectDeadlineMs,
    signal,
    share: tenant_id,
  });
  if (counted.kind === 'ok') return counted;
  return counted.kind === 'no_such_page'
    ? misfit([...opening.at, 'pages'], counted.detail)
    : parseProblem(counted, timedOut);
};
