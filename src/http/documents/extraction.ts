import type { z } from 'zod';
import type { ExtractFields } from '../../commands/extract.ts';
import type { WorkRequest } from '../../commands/work.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import type { extractResponse } from '../wire/documents.ts';
import { acceptLater } from './operations.ts';

type ExtractionAnswer = z.input<typeof extractResponse>;

/** Extracts, now or as an operation, and gives the answer's body. Throws the problem that answers why there is none. */
export const runExtraction = async (
  deps: ApiDeps,
  request: RouteRequest<unknown, unknown, unknown>,
  { fields, work }: { readonly fields: ExtractFields; readonly work: WorkRequest },
): Promise<ExtractionAnswer> => {
  if (request.respondAsync) {
    const later = { work, endpoint: 'extract', begin: (one: WorkRequest) => deps.extract(fields, one) };
    // Another status has another schema: that of an operation.
    return (await acceptLater(deps, request, later)) as unknown as ExtractionAnswer;
  }
  const answer = await deps.extract(fields, work);
  if (answer.kind === 'problem') throw workFailure(answer);
  if (answer.kind === 'handed_over') throw new Error('nobody was there to take the work');
  // The work is billed by now: its shape is held by specs, never by a refusal here.
  return answer.body as unknown as ExtractionAnswer;
};
