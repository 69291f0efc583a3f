import { until } from '../../../engine/test/support/until.ts';
import { payments } from '../../../src/commands/money/payments.ts';
import { sale } from '../../support/money/accountCommands.ts';
import type { TestApi } from './testApi.ts';

/** Claims a sale of Stripe as a process does that dies before its account hears of it. */
export const claimAndDie = async (
  { log, deps }: Pick<TestApi, 'log' | 'deps'>,
  tenant: string,
  provider_txn_id: string,
): Promise<void> => {
  const { meta, ...command } = sale(tenant, 100, provider_txn_id);
  await new Promise<void>((died) => {
    const execute = () => {
      died();
      return new Promise<never>(() => undefined);
    };
    const pay = payments({ store: log, writer: { ...deps.accounts, execute } });
    void pay.sellCredits({ ...command, meta: { ...meta, now: deps.clock.now() } });
  });
  const isListed = async () =>
    (await deps.openPayments(500, new AbortController().signal)).some(
      (claim) => claim.provider_txn_id === provider_txn_id,
    );
  await until(isListed);
};
