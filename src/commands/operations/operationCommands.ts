import type { OperationEventOf } from '../../../domain/operation/events.ts';
import type { StoredResult } from '../work/storedResult.ts';
import type { acceptOperation } from './acceptOperation.ts';
import type { cancelOperation } from './closeOperation.ts';
import type { StoredProblem } from './operationResult.ts';
import type { Operations } from './operations.ts';

/** What routes call for operations. */
export interface OperationCommands {
  readonly accept: ReturnType<typeof acceptOperation>;
  readonly cancel: ReturnType<typeof cancelOperation>;
  readonly streams: Operations;
  /** undefined where there is none, or it is kept no more. */
  readonly result: (
    accepted: OperationEventOf<'OperationAccepted'>['data'],
  ) => Promise<StoredResult | undefined>;
  readonly problem: (operationId: string) => Promise<StoredProblem | undefined>;
}
