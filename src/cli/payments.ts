import type { Command } from 'commander';
import type { OpenClaim } from '../commands/payments/openClaims.ts';
import type { PaymentReleased, ReleaseInput } from '../operator/payments.ts';
import { OperatorError } from '../operator/protocol.ts';
import { answerOf, answersOf } from './ask.ts';
import { command, json, table, type AsJson, type Output } from './output.ts';

interface ReleaseOptions extends AsJson {
  readonly reason: string;
}

const ENDS = {
  unreadable: 'by a retry or an operator: its command is incomplete',
  may_have_been_refused: 'by a retry or an operator: its caller may have seen a refusal',
} as const;

const openText = (claims: readonly OpenClaim[]): string =>
  claims.length === 0
    ? 'No claim is open.\n'
    : table(
        ['PROVIDER', 'ID', 'TENANT', 'KIND', 'CREDITS', 'CLAIMED', 'ENDS'],
        claims.map((claim) => [
          claim.provider,
          claim.provider_txn_id,
          claim.tenant_id,
          claim.kind,
          claim.credits === null ? '-' : String(claim.credits),
          claim.claimed_at,
          claim.stuck === null ? 'by itself, within minutes' : ENDS[claim.stuck],
        ]),
      );

const listOpen = async (output: Output, { json: asJson }: AsJson): Promise<void> => {
  const claims = await answersOf<OpenClaim>(output, { name: 'payments.list-open', input: {} });
  if (asJson !== true) return output.out(openText(claims));
  for (const claim of claims) await output.out(json(claim));
};

const release = async (
  output: Output,
  ...[provider, provider_txn_id, { reason, json: asJson }]: [string, string, ReleaseOptions]
): Promise<void> => {
  if (reason === '' || reason.length > 500) throw new OperatorError('--reason: 1 to 500 characters.', 2);
  const input: ReleaseInput = { provider, provider_txn_id, reason };
  const released = await answerOf<PaymentReleased>(output, { name: 'payments.release', input });
  const { kind, tenant_id } = released;
  await output.out(
    asJson === true
      ? json(released)
      : `${provider} ${provider_txn_id} is free again: the ${kind} of ${tenant_id} was given up.\n`,
  );
};

/** `quire payments …`. */
export const addPayments = (program: Command): void => {
  const payments = program.command('payments').description('open claims of payments');
  payments
    .command('list-open')
    .description('list payments that are claimed but neither booked nor released')
    .option('--json', 'print a line of JSON for each')
    .action(command(listOpen));
  payments
    .command('release')
    .argument('<provider>', 'as it is listed')
    .argument('<id>', "the provider's transaction")
    .description('release a claim, so that the payment can be recorded again')
    .requiredOption('--reason <text>', 'why, for the log: 1 to 500 characters')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nRelease a payment that will not be sent again, or that was settled elsewhere. ' +
        'A claim that took effect is\nnever released. The release is an event, with the reason ' +
        'and `released_by: operator`; the audit shows it.',
    )
    .action(command(release));
};
