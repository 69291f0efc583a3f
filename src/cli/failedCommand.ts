import { messageOf } from '../../domain/kernel/json.ts';
import { EXIT } from './exitCodes.ts';
import { isForOperator } from '../operator/forOperator.ts';
import { OperatorError } from '../operator/protocol.ts';

/** How a command that failed ends, and what it prints. */
interface FailedCommand {
  readonly exitCode: 1 | 2;
  readonly text: string;
}

/** What an error says, without the names of classes that others put before what they pass on. */
export const saidBy = (error: unknown): string => {
  const text = error instanceof Error && error.message === '' ? error.name : messageOf(error);
  const parts = text.split(': ');
  return parts.filter((part, at) => at === parts.length - 1 || !/^[A-Za-z]*Error$/.test(part)).join(': ');
};

/** The lines of a stack below what it says. */
const placeOf = (error: unknown): string => {
  const { stack = '' } = error instanceof Error ? error : {};
  const at = stack.indexOf('\n    at ');
  return at === -1 ? '' : stack.slice(at);
};

/** What an operator can mend is said in its own sentence, all else with the place in the code. */
export const failedCommand = (error: unknown): FailedCommand => {
  if (isForOperator(error))
    return {
      exitCode: error instanceof OperatorError ? error.exitCode : EXIT.failed,
      text: error.message === '' ? '' : `${error.message}\n`,
    };
  return { exitCode: EXIT.failed, text: `Something broke: ${saidBy(error)}${placeOf(error)}\n` };
};
