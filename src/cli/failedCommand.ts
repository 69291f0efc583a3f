import { isForOperator } from '../operator/forOperator.ts';
import { OperatorError } from '../operator/protocol.ts';

/** How a command that failed ends, and what it prints. */
interface FailedCommand {
  readonly exitCode: 1 | 2;
  readonly text: string;
}

/** What an operator can mend is said in its own sentence, all else with the place in the code. */
export const failedCommand = (error: unknown): FailedCommand => {
  if (isForOperator(error))
    return {
      exitCode: error instanceof OperatorError ? error.exitCode : 1,
      text: error.message === '' ? '' : `${error.message}\n`,
    };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exitCode: 1, text: `Something broke: ${text}\n` };
};
