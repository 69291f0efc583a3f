import type { Command } from 'commander';
import type { OpenClaim } from '../commands/payments/openClaims.ts';
import { runOperation } from '../composition/parts/operatorParts.ts';
import { configFrom } from '../config.ts';
import type { PaymentReleased, ReleaseInput } from '../operator/payments.ts';
import { OperatorError } from '../operator/protocol.ts';
import { json, runCommand, table, type Output } from './output.ts';

interface Asked {
  readonly json?: boolean;
  readonly signal: AbortSignal;
}

const ENDS = {
  unreadable: 'by a retry or an operator: its command is not whole',
  may_have_been_refused: 'by a retry or an operator: its caller may have been told no',
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

const listOpen = async ({ json: asJson, signal }: Asked, { out }: Output): Promise<void> => {
  const claims: OpenClaim[] = [];
  const send = (item: unknown): Promise<void> => {
    claims.push(item as OpenClaim);
    return Promise.resolve();
  };
  await runOperation(configFrom(), { name: 'payments.list-open', input: {} }, { send, signal });
  if (asJson !== true) return out(openText(claims));
  for (const claim of claims) await out(json(claim));
};

const release = async (
  input: ReleaseInput,
  { json: asJson, signal }: Asked,
  { out }: Output,
): Promise<void> => {
  let released: PaymentReleased | undefined;
  const send = (item: unknown): Promise<void> => {
    released = item as PaymentReleased;
    return Promise.resolve();
  };
  await runOperation(configFrom(), { name: 'payments.release', input }, { send, signal });
  if (released === undefined) throw new OperatorError('There was no answer; look whether it was done.');
  const { provider, provider_txn_id, kind, tenant_id } = released;
  await out(
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
    .action((options: { readonly json?: boolean }) =>
      runCommand((signal, output) => listOpen({ ...options, signal }, output)),
    );
  payments
    .command('release')
    .argument('<provider>', 'as it is listed')
    .argument('<id>', "the provider's transaction")
    .description('release a claim, so that the payment can be recorded again')
    .requiredOption('--reason <text>', 'why, for the log: 1 to 500 characters')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nRelease what will not be asked for again, or was settled in another way. A claim that ' +
        'took effect is\nnever released. The release is an event, with the reason and ' +
        '`released_by: operator`; the audit shows it.',
    )
    .action((provider: string, id: string, options: { readonly reason: string; readonly json?: boolean }) => {
      const { reason, ...rest } = options;
      const input = { provider, provider_txn_id: id, reason };
      return runCommand((signal, output) => {
        if (reason === '' || reason.length > 500)
          throw new OperatorError('--reason: 1 to 500 characters.', 2);
        return release(input, { ...rest, signal }, output);
      });
    });
};
