import type { z } from 'zod';
import type { ConvertRequest } from '../../commands/work/convertDocument.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { workFailure } from '../doneOrProblem.ts';
import type { markdownResponse } from '../wire/documents.ts';

/** Converts, and gives the answer's body. Throws the problem that answers why there is none. */
export const runConversion = async (
  deps: ApiDeps,
  request: ConvertRequest,
): Promise<z.input<typeof markdownResponse>> => {
  const answer = await deps.convert(request);
  if (answer.kind === 'problem') throw workFailure(answer);
  // The work is billed by now: its shape is held by specs, never by a refusal here.
  return answer.body as unknown as z.input<typeof markdownResponse>;
};
