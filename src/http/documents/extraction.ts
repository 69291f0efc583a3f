import type { z } from 'zod';
import type { ExtractFields } from '../../commands/work/extractFields.ts';
import type { WorkRequest } from '../../commands/work/work.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { workFailure } from '../doneOrProblem.ts';
import type { extractResponse } from '../wire/documents.ts';

/** Extracts, and gives the answer's body. Throws the problem that answers why there is none. */
export const runExtraction = async (
  deps: ApiDeps,
  fields: ExtractFields,
  work: WorkRequest,
): Promise<z.input<typeof extractResponse>> => {
  const answer = await deps.extract(fields, work);
  if (answer.kind === 'problem') throw workFailure(answer);
  // The work is billed by now: its shape is held by specs, never by a refusal here.
  return answer.body as unknown as z.input<typeof extractResponse>;
};
