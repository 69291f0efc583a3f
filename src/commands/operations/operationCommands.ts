import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { OperationState } from '../../../domain/operation.ts';
import type { cancelWork } from '../queue/closeWork.ts';
import type { BodyEnds, JsonPieces } from '../work/results/storedBody.ts';
import type { acceptOperation } from './acceptOperation.ts';
import type { StoredProblem } from './operationResult.ts';
import type { OperationName, Operations } from './operations.ts';

/** What routes call for operations. */
export interface OperationCommands {
  readonly accept: ReturnType<typeof acceptOperation>;
  readonly cancel: (name: OperationName, meta: CommandMeta) => ReturnType<typeof cancelWork>;
  /** Gives up an operation that was not accepted, for good. False: it was accepted, or it cannot be done now. */
  readonly abandon: (name: OperationName) => Promise<boolean>;
  readonly streams: Operations;
  /** undefined where there is none, or it is kept no more. */
  readonly result: (state: OperationState, ends: BodyEnds) => Promise<JsonPieces | undefined>;
  readonly problem: (operationId: string) => Promise<StoredProblem | undefined>;
}
