import type { z } from 'zod';
import type { ConvertRequest } from '../../commands/convert.ts';
import type { WorkRequest } from '../../commands/work.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import type { markdownResponse } from '../wire/documents.ts';
import { acceptLater } from './operations.ts';

type ConversionAnswer = z.input<typeof markdownResponse>;

/** Converts, now or as an operation, and gives the answer's body. Throws the problem that answers why there is none. */
export const runConversion = async (
  deps: ApiDeps,
  request: RouteRequest<unknown, unknown, unknown>,
  asked: ConvertRequest,
): Promise<ConversionAnswer> => {
  if (request.respondAsync) {
    const begin = (one: WorkRequest) => deps.convert({ ...asked, ...one });
    // Another status has another schema: that of an operation.
    return (await acceptLater(deps, request, {
      work: asked,
      endpoint: 'to-markdown',
      begin,
    })) as unknown as ConversionAnswer;
  }
  const answer = await deps.convert(asked);
  if (answer.kind === 'problem') throw workFailure(answer);
  if (answer.kind === 'handed_over') throw new Error('nobody was there to take the work');
  // The work is billed by now: its shape is held by specs, never by a refusal here.
  return answer.body as unknown as ConversionAnswer;
};
