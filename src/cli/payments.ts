import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { paymentsConfigFrom } from '../clientConfig.ts';
import { environmentOf } from '../config.ts';
import { decimalOf, minorUnitDigits } from '../../domain/kernel/amounts.ts';
import type { PayoutFinding } from '../../domain/payout.ts';
import { PAYOUT_MAPPINGS } from '../../domain/payoutFile.ts';
import type { OpenClaim } from '../commands/money/payments.ts';
import type { PayoutInput } from '../operator/operations.ts';
import type { PaymentReleased, ReleaseInput } from '../operator/records.ts';
import { OperatorError } from '../operator/socket.ts';
import type { PayoutComparison } from '../queries/payouts.ts';
import {
  answerOf,
  answersOf,
  type AsJson,
  ask,
  command,
  json,
  momentOption,
  portGiven,
  type Output,
  table,
} from './terminal.ts';

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

interface CompareOptions extends AsJson {
  readonly mapping?: string;
  readonly from?: string;
  readonly to?: string;
  readonly payout?: string;
}

/** Findings of a table; `--json` prints all. */
const FINDINGS_SHOWN = 100;
const MAPPING_BYTES_MAX = 100_000;

/** The comparison as it comes back: amounts beyond 2^53 are text. */
type Summary = Omit<PayoutComparison, 'findings'>;

const fileGiven = async (path: string, bytesMax = Infinity): Promise<string> => {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw new OperatorError(`${path}: there is no such file.`, 2);
  if (found.size > bytesMax) throw new OperatorError(`${path}: larger than ${String(bytesMax)} bytes.`, 2);
  return resolve(path);
};

const mappingGiven = async (given: string | undefined): Promise<string | undefined> =>
  given === undefined || Object.hasOwn(PAYOUT_MAPPINGS, given)
    ? given
    : readFile(await fileGiven(given, MAPPING_BYTES_MAX), 'utf8');

/** Minor units as a person reads them: `12.34 EUR`. */
const moneyText = (minor: bigint | number | string | null | undefined, currency: string): string =>
  minor === null || minor === undefined
    ? '-'
    : `${decimalOf(BigInt(minor), minorUnitDigits(currency) ?? 0)} ${currency}`;

/** Both sides of a finding, each with its amount, fee and payout. */
const sideOf = (
  one: {
    currency: string;
    amount_minor: number | null;
    fee_minor: number | null;
    payout_id: string | null;
  } | null,
): readonly string[] =>
  one === null
    ? ['-', '-', '-']
    : [
        moneyText(one.amount_minor, one.currency),
        moneyText(one.fee_minor, one.currency),
        one.payout_id ?? '-',
      ];

const findingRow = ({ finding, line, payment }: PayoutFinding): readonly string[] => [
  finding.replaceAll('_', ' '),
  line === null ? '-' : String(line.row),
  payment?.provider_txn_id ?? line?.names[0] ?? '-',
  payment?.tenant_id ?? '-',
  ...sideOf(line),
  ...sideOf(payment),
];

const FINDING_COLUMNS = [
  'FINDING',
  'ROW',
  'PAYMENT',
  'TENANT',
  'FILE',
  'FEE',
  'PAYOUT',
  'BOOKS',
  'FEE',
  'PAYOUT',
];

const totalsText = ({ totals, not_compared }: Summary): string => {
  const rows = totals.map((sum) => [
    sum.currency,
    String(sum.rows),
    moneyText(sum.file_amount_minor, sum.currency),
    moneyText(sum.file_fee_minor, sum.currency),
    String(sum.payments),
    moneyText(sum.booked_amount_minor, sum.currency),
    moneyText(sum.booked_fee_minor, sum.currency),
  ]);
  const others = not_compared.map(({ type, currency, rows: count, amount_minor, fee_minor }) => [
    type === '' ? '-' : type,
    String(count),
    moneyText(amount_minor, currency),
    moneyText(fee_minor, currency),
  ]);
  return [
    rows.length === 0 ? '' : table(['', 'ROWS', 'FILE', 'FEES', 'PAYMENTS', 'BOOKS', 'FEES'], rows),
    others.length === 0 ? '' : `Not compared:\n${table(['TYPE', 'ROWS', 'AMOUNT', 'FEES'], others)}`,
  ].join('');
};

const resultText = (file: string, summary: Summary, findings: readonly PayoutFinding[]): string => {
  const shown = findings.slice(0, FINDINGS_SHOWN).map(findingRow);
  const left = findings.length - shown.length;
  const { rows, matched, mapping } = summary;
  return [
    shown.length === 0 ? '' : table(FINDING_COLUMNS, shown),
    left === 0 ? '' : `${String(left)} more: --json prints all.\n`,
    totalsText(summary),
    `${file}: ${String(rows)} payments by the mapping ${mapping}: ${String(matched)} match. `,
    summary.is_matching ? 'Nothing differs.\n' : 'There are differences.\n',
  ].join('');
};

const compare = async (output: Output, file: string, options: CompareOptions): Promise<void> => {
  const { mapping, from, to, payout, json: asJson } = options;
  const given = { mapping: await mappingGiven(mapping), from, to, payout_id: payout };
  const input: PayoutInput = { file: await fileGiven(file), ...given };
  const findings: PayoutFinding[] = [];
  let summary: Summary | undefined;
  await ask(output, { name: 'projections.compare-payout', input }, (item) => {
    const sent = item as { readonly summary?: Summary; readonly finding?: PayoutFinding };
    summary = sent.summary ?? summary;
    if (sent.finding !== undefined) findings.push(sent.finding);
    return Promise.resolve();
  });
  if (summary === undefined) throw new OperatorError('The comparison did not finish; run it again.', 2);
  if (asJson === true) for (const one of [summary, ...findings]) await output.out(json(one));
  else await output.out(resultText(file, summary, findings));
  if (!summary.is_matching) throw new OperatorError('');
};

interface ServeOptions {
  readonly host: string;
  readonly port: number;
}

const serve = async (output: Output, place: ServeOptions): Promise<void> => {
  // Loaded here, because no other command needs it.
  const { runPayments } = await import('../payments/runPayments.ts');
  await runPayments(paymentsConfigFrom(environmentOf()), place, output);
};

const PORT = 8090;

const addServe = (payments: Command): void => {
  payments
    .command('serve')
    .description("take Stripe's webhooks, and make checkout pages")
    .option('--host <address>', 'where it listens', '127.0.0.1')
    .option('--port <number>', 'its port; 0 picks a free one', portGiven, PORT)
    .addHelpText(
      'after',
      '\nIt tells the service at QUIRE_URL of sales, refunds and disputes with the key QUIRE_API_KEY, of role seller.' +
        '\nSTRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET are of your account at Stripe, CHECKOUT_TOKEN is the password ' +
        'of\nPOST /checkout. Each event brings the books to where Stripe has the payment: it may come twice, late or ' +
        'in any order.',
    )
    .action(command(serve));
};

/** `quire payments …`. */
export const addPayments = (program: Command): void => {
  const payments = program
    .command('payments')
    .description('payments: webhooks, open claims, and files of providers');
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
  payments
    .command('compare')
    .argument('<file>', 'CSV in UTF-8 with a header, as the provider exports it')
    .description("compare a payment provider's file with the payments in the books")
    .option(
      '--mapping <file>',
      `JSON that names the columns, or one of: ${Object.keys(PAYOUT_MAPPINGS).join(', ')}`,
    )
    .option('--from <time>', 'the file should have all payments from here on', momentOption('00:00:00.000'))
    .option('--to <time>', 'and up to here: a UTC day or an RFC 3339 time', momentOption('23:59:59.999'))
    .option('--payout <id>', 'the file is of this payout')
    .option('--json', 'print a line of JSON for the result, and one for each finding')
    .addHelpText(
      'after',
      '\nWithout --from, --to and --payout the file should have the payments of the days from its first row to its ' +
        'last.\nExit codes: 0 no difference, 1 there are differences, 2 the file could not be compared.',
    )
    .action(command(compare));
  addServe(payments);
};
