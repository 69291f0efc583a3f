import { runOperation } from '../composition/parts/operatorParts.ts';
import { configFrom } from '../config.ts';
import { itemsOf, OperatorError } from '../operator/protocol.ts';
import type { Output } from './output.ts';

/** What is asked of the service, or done here where none runs. */
interface Asked {
  readonly name: string;
  readonly input: unknown;
}

/** Hands each item that an operation sends to `send`. */
export const ask = (
  { signal }: Output,
  asked: Asked,
  send: (item: unknown) => Promise<void>,
): Promise<void> => runOperation(configFrom(), asked, { send, signal });

/** All items that an operation sends. */
export const answersOf = <Item>(output: Output, asked: Asked): Promise<readonly Item[]> =>
  itemsOf<Item>((send) => ask(output, asked, send));

/** The one item that an operation sends. Throws OperatorError with `missing` where there is none. */
export const answerOf = async <Item>(
  output: Output,
  asked: Asked,
  missing = 'There was no answer: check whether it was done.',
): Promise<Item> => {
  const [answer] = await answersOf<Item>(output, asked);
  if (answer === undefined) throw new OperatorError(missing);
  return answer;
};
