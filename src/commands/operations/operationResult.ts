import { z } from 'zod';
import { sha256 } from '../../../domain/kernel/chain.ts';
import type { OperationState } from '../../../domain/operation.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { RESULTS_PREFIX, formerKeyOf, resultKeyOf } from '../work/results/storedResult.ts';
import type { WorkProblem } from '../work/workProblem.ts';

/** Where the result lies that an operation succeeded with; undefined for one that did not. */
export const keyOfResult = ({
  accepted,
  success,
}: Pick<OperationState, 'accepted' | 'success'>): string | undefined => {
  if (accepted === null || success === null) return undefined;
  const { result_sha256 } = success;
  return result_sha256 === undefined
    ? formerKeyOf(formerPlaceOf(accepted))
    : resultKeyOf(accepted.work_id, result_sha256);
};

/** Where releases before this one put the result of an operation. */
export const formerPlaceOf = ({
  tenant_id,
  operation_id,
}: Pick<NonNullable<OperationState['accepted']>, 'tenant_id' | 'operation_id'>) => ({
  tenant_id,
  endpoint: 'operation',
  idempotency_key: operation_id,
});

/** Why an operation failed, as its answer says it: it may quote the document. */
export const storedProblem = z.object({
  code: z.string(),
  detail: z.string(),
  members: z.record(z.string(), z.unknown()).optional(),
});
export type StoredProblem = z.output<typeof storedProblem>;

const keyOf = (operationId: string): string =>
  `${RESULTS_PREFIX}${sha256(['operation problem', operationId].join('\u001f'))}`;

export const operationProblems = (objects: Pick<ObjectStore, 'put' | 'get'>) => ({
  put: (operationId: string, problem: WorkProblem): Promise<void> => {
    const { code, detail } = problem;
    const members =
      problem.code === 'validation_error'
        ? { errors: problem.issues }
        : 'members' in problem
          ? problem.members
          : undefined;
    return objects.put(
      keyOf(operationId),
      new TextEncoder().encode(JSON.stringify({ code, detail, members })),
    );
  },
  /** undefined where there is none, or it is kept no more. */
  find: async (operationId: string): Promise<StoredProblem | undefined> => {
    const bytes = await objects.get(keyOf(operationId));
    if (bytes === undefined) return undefined;
    return storedProblem.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  },
});
