import type { Api } from './generated/calls.gen.ts';
import type { CancelledOperation, Operation } from './generated/types.gen.ts';
import type { Problem } from './generated/problems.gen.ts';
import { lookUntil } from './patience.ts';
import { ProblemError } from './problemError.ts';

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Called with each state that is read, the last one too. */
  readonly onProgress?: (operation: Operation) => void;
}

/** The operation has ended without a result that could be given. */
export class NoResultError extends Error {
  override readonly name = 'NoResultError';
  readonly operation: Operation;

  constructor(operation: Operation) {
    super(
      operation.status === 'cancelled'
        ? `${operation.operation_id} was cancelled`
        : `the result of ${operation.operation_id} is no longer kept`,
    );
    this.operation = operation;
  }
}

const hasEnded = ({ status }: Operation): boolean => status !== 'queued' && status !== 'running';

/** Work that goes on after the call that began it. */
export class Operations {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The operation once it has ended, in whichever way; asks from four times a second to once in 5 seconds. */
  wait(operation: string | Pick<Operation, 'operation_id'>, options: WaitOptions = {}): Promise<Operation> {
    const { signal, onProgress } = options;
    const operation_id = typeof operation === 'string' ? operation : operation.operation_id;
    const look = async (): Promise<Operation> => {
      const state = await this.#api.getOperation({ path: { operation_id } }, { signal });
      onProgress?.(state);
      return state;
    };
    return lookUntil(look, hasEnded, signal);
  }

  /**
   * What the synchronous call would have answered; throws the problem that it would have answered, or
   * `NoResultError` where the operation was cancelled or its result is no longer kept.
   */
  async result<Result = Readonly<Record<string, unknown>>>(
    operation: string | Pick<Operation, 'operation_id'>,
    options: WaitOptions = {},
  ): Promise<Result> {
    const ended = await this.wait(operation, options);
    if (ended.error !== null) throw new ProblemError(ended.error as unknown as Problem);
    if (ended.result === null) throw new NoResultError(ended);
    return ended.result as Result;
  }

  /** Cancels an operation that has not ended. */
  cancel(operation_id: string): Promise<CancelledOperation> {
    return this.#api.cancelOperation({ path: { operation_id } });
  }
}
