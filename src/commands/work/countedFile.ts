import type { DocumentParser, Inspection } from '@quire/engine/ports/documentParser';
import type { KeptFile } from '@quire/engine/ports/keptFile';
import { unlessOverrun, type Overruns } from './recentFailures.ts';
import type { WorkPlan, WorkRequest } from './work.ts';
import { misfit, parseProblem, workProblem, type WorkProblem } from './workProblem.ts';

export interface CountFileDeps {
  readonly parser: DocumentParser;
  /** Most pages of one call, and of an operation. */
  readonly pagesMax: number;
  readonly longPagesMax: number;
  readonly inspectDeadlineMs: number;
  /** Left out: nothing is remembered. */
  readonly overruns?: Overruns | undefined;
}

/** A request, and the file that it keeps open while it is worked on. */
export interface AskedWork {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly kept: KeptFile;
}

export type CountedFile = Extract<Inspection, { readonly kind: 'ok' }>;

/** A document that is too long to wait for, and may not be too long for an operation. */
const tooLong = (pages: number, { pagesMax, longPagesMax }: CountFileDeps): WorkProblem =>
  workProblem(
    'too_many_pages',
    `The document has ${String(pages)} pages; at most ${String(pagesMax)} are read while you wait. ` +
      `Send the request with the header Prefer: respond-async, which reads up to ${String(longPagesMax)}.`,
    { pages, max_pages: pagesMax },
  );

/**
 * Opens the file of a request as it asks, and counts the pages that it will bill. Without `isWaited` nobody waits
 * for the answer, and it may be long.
 */
export const countedFile = async (
  deps: CountFileDeps,
  { request: { file, opening, signal, tenant_id }, plan: { effort, timedOut }, kept }: AskedWork,
  { isWaited }: { readonly isWaited: boolean },
): Promise<CountedFile | WorkProblem> => {
  const { parser, inspectDeadlineMs } = deps;
  const pagesMax = isWaited ? deps.pagesMax : deps.longPagesMax;
  const asked = {
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
  };
  const named = { file, what: 'inspect', request: asked } as const;
  const counted = await unlessOverrun(deps.overruns, named, () => parser.inspect(asked));
  if (counted.kind === 'ok') return counted;
  if (counted.kind === 'too_many_pages' && isWaited) return tooLong(counted.pages, deps);
  return counted.kind === 'no_such_page'
    ? misfit([...opening.at, 'pages'], counted.detail)
    : parseProblem(counted, timedOut);
};
