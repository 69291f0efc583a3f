import { z } from 'zod';
import { sha256 } from '../../../domain/kernel/chain.ts';
import type { ObjectStore } from '../../../domain/ports/objectStore.ts';
import type { OperationEventOf } from '../../../domain/operation/events.ts';
import { RESULTS_PREFIX, type WorkIdentity } from '../work/storedResult.ts';
import type { WorkProblem } from '../work/workProblem.ts';

type Accepted = Pick<
  OperationEventOf<'OperationAccepted'>['data'],
  'operation_id' | 'tenant_id' | 'input_sha256'
>;

/** Under which the result of an operation lies with those of synchronous calls, for a day as they do. */
export const resultIdentityOf = ({ operation_id, tenant_id, input_sha256 }: Accepted): WorkIdentity => ({
  tenant_id,
  endpoint: 'operation',
  idempotency_key: operation_id,
  fingerprint: input_sha256,
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
        ? { issues: problem.issues }
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
