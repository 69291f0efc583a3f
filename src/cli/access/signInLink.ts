import type { Command } from 'commander';
import type { SignInLink } from '../../operator/signInLink.ts';
import { answerOf } from '../ask.ts';
import { command, type Output } from '../output.ts';

const print = async (output: Output): Promise<void> => {
  const { url } = await answerOf<SignInLink>(output, { name: 'session.link', input: {} });
  await output.out(`${url}\n`);
  output.note('It signs in as an admin once, within 15 minutes.\n');
};

/** `quire sign-in-link`. */
export const addSignInLink = (program: Command): void => {
  program
    .command('sign-in-link')
    .description('print a link that signs in to the console of the running service, once')
    .action(command(print));
};
