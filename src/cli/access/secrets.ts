import type { Command } from 'commander';
import { OperatorError } from '../../operator/protocol.ts';
import type { Rotated } from '../../operator/rotateSecrets.ts';
import { nameOfHolder } from '../../operator/secretHolders.ts';
import { ask } from '../ask.ts';
import { command, json, type AsJson, type Output } from '../output.ts';

type Item =
  { readonly progress: { readonly done: number; readonly of: number } } | { readonly rotated: Rotated };

const textOf = ({ configs, webhooks, rotated, current, lost }: Rotated): string => {
  const holders = `${configs} saved configs and ${webhooks} webhooks`;
  const lines = [`${holders}: ${rotated} keys encrypted again, ${current} were up to date`];
  for (const { secret_id, ...holder } of lost) {
    const cure = 'config_id' in holder ? 'publish the config again' : 'rotate the secret of the webhook';
    lines.push(`lost: ${secret_id} of ${nameOfHolder(holder)} opens with no known secret; ${cure}`);
  }
  return `${lines.join('\n')}\n`;
};

const rotate = async (output: Output, { json: asJson }: AsJson): Promise<void> => {
  const { out, note } = output;
  let rotated: Rotated | undefined;
  const send = (item: unknown): Promise<void> => {
    const known = item as Item;
    if ('rotated' in known) rotated = known.rotated;
    else if (known.progress.done % 100 === 0) note(`${known.progress.done} of ${known.progress.of}\n`);
    return Promise.resolve();
  };
  await ask(output, { name: 'secrets.rotate', input: {} }, send);
  if (rotated === undefined) throw new OperatorError('It was stopped before its end. Run it again.');
  await out(asJson === true ? json(rotated) : textOf(rotated));
  if (rotated.lost.length > 0) throw new OperatorError(`${rotated.lost.length} keys could not be opened.`);
};

/** `quire secrets …`. */
export const addSecrets = (program: Command): void => {
  program
    .command('secrets')
    .description('own keys of callers in saved configs, and secrets of webhooks')
    .command('rotate')
    .description('encrypt all of them again with FIELD_ENCRYPTION_KEY')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nTo change the secret: put the old one into FIELD_ENCRYPTION_KEYS_OLD and the new one ' +
        'into\nFIELD_ENCRYPTION_KEY, start the service, rotate, and take the old one away.',
    )
    .action(command(rotate));
};
