import type { OperationState } from '../../../domain/operation/decider.ts';
import { closeOperation } from '../../commands/operations/closeOperation.ts';
import type { OperationName } from '../../commands/operations/operations.ts';
import { reapWork, runClaimed } from '../queue/claim.ts';
import { queueWorker, type QueueWorker, type QueueWorkerDeps } from '../queue/queueWorker.ts';
import { queuedOperations } from './queuedOperations.ts';
import { runHeld, type OperationRunDeps } from './runOperation.ts';

export type OperationWorkerDeps = OperationRunDeps & QueueWorkerDeps<OperationName>;

/** Takes operations from the queue that their streams are. */
export const operationWorker = (deps: OperationWorkerDeps): QueueWorker => {
  const { operations } = deps;
  const work = queuedOperations(operations);
  const close = (state: OperationState) => closeOperation(deps, state);
  return queueWorker(deps, {
    idOf: work.idOf,
    run: (name, shutdown) =>
      runClaimed(deps, work, {
        name,
        close,
        runHeld: (held, state) => runHeld(deps, { held, state }, shutdown),
      }),
    reap: (name) => reapWork(deps, work, { name, close }),
    settle: async ({ operation_id }) => close(await operations.stateOf(operation_id)),
    isKnown: async ({ operation_id }) => (await operations.stateOf(operation_id)).accepted !== null,
  });
};
