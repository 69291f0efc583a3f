import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Finding } from '../../src/doctor/doctor.ts';
import { leaveStrandedClaim } from '../support/strandedClaim.ts';
import { runCommand, type Ran } from '../support/quireCommand.ts';
import { ADMIN_KEY, startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';

describe('stranded payments of an old log, on the command line', () => {
  let folder: TempFolder;
  let kept: TempFolder;
  let service: ServiceProcess | undefined;

  /** A log as an earlier release left it: a sale claimed for a time that no event may have. */
  before(async () => {
    folder = tempFolder();
    kept = tempFolder();
    await leaveStrandedClaim(folder.path);
  });
  after(async () => {
    await service?.stop('SIGKILL');
    folder.remove();
    kept.remove();
  });

  const quire = (...args: readonly string[]): Promise<Ran> =>
    runCommand({ DATA_DIR: folder.path, PORT: '0' }, ...args);
  const open = async (): Promise<readonly JsonObject[]> => {
    const { out, err, code } = await quire('payments', 'list-open', '--json');
    expect(code, err).to.equal(0);
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as JsonObject);
  };
  const doctored = async (): Promise<Finding | undefined> => {
    const { out } = await quire('doctor', '--json');
    return (JSON.parse(out) as Finding[]).find(({ check }) => check === 'payments');
  };

  const openOverHttp = async (): Promise<readonly JsonObject[]> => {
    const headers = { 'x-api-key': ADMIN_KEY };
    const answer = await fetch(`${service?.url ?? ''}/v1/admin/payments/open`, { headers });
    expect(answer.status).to.equal(200);
    return ((await answer.json()) as { readonly items: readonly JsonObject[] }).items;
  };

  it('are listed and named by doctor, before a service runs and beside it', async () => {
    const look = async () => {
      expect(await open()).to.have.lengthOf(1);
      expect((await open())[0]).to.include({
        provider: 'Stripe',
        provider_txn_id: 'pi_sale_v1',
        tenant_id: 'acme',
        kind: 'sale',
        stuck: 'unreadable',
      });
      const found = await doctored();
      expect(found?.level).to.equal('problem');
      expect(found?.text).to.contain('Stripe pi_sale_v1 (sale of acme)');
    };
    await look();
    service = await startService(folder.path);
    await look();
    const { stream: _, ...listed } = (await open())[0] ?? {};
    expect(await openOverHttp()).to.deep.equal([listed]);
  });

  it('are findings of the audit, and not damage of the log in a backup', async () => {
    const backup = join(kept.path, 'backup');
    const made = await quire('backup', backup);
    expect(made.err).to.contain('The backup was made; its log is whole, and its audit has 1 findings');
    const verified = await quire('backup', 'verify', backup);
    expect([verified.code, verified.err.includes('is damaged')]).to.deep.equal([1, false]);
    expect(verified.err).to.contain('The log in the backup is whole, and its audit has 1 findings');
  });

  it('are released by an operator with a reason, and their payment is free again', async () => {
    const reason = 'refunded at the provider';
    const none = await quire('payments', 'release', 'stripe', 'never', '--reason', reason);
    expect([none.code, none.err]).to.deep.equal([
      1,
      'There is no open claim of this payment. Give provider and ID as `quire payments list-open` shows them.\n',
    ]);
    const released = await quire('payments', 'release', 'stripe', 'pi_sale_v1', '--reason', reason);
    expect(released.code, released.err).to.equal(0);
    expect(await open()).to.deep.equal([]);
    expect(await openOverHttp()).to.deep.equal([]);
    expect((await doctored())?.level).to.equal('ok');
    const json = {
      tenant_id: 'acme',
      provider: 'Stripe',
      provider_txn_id: 'pi_sale_v1',
      gross_amount_minor: 100,
    };
    const sold = await fetch(`${service?.url ?? ''}/v1/billing/credits`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    expect(await sold.json()).to.include({ credited: true });
    const audited = await quire('audit', '--log-only', '--json');
    expect(audited.code, audited.out + audited.err).to.equal(0);
    expect(audited.out).to.contain(`An operator (cli) gave up payment pi_sale_v1 of Stripe`);
    expect(audited.out).to.contain(reason);
    const taken = await quire('payments', 'release', 'stripe', 'pi_sale_v1', '--reason', reason);
    expect(taken.err).to.contain('This payment took effect');
  });
});

describe("a provider's file, on the command line", () => {
  let folder: TempFolder;
  let service: ServiceProcess;
  const quire = (...args: readonly string[]): Promise<Ran> =>
    runCommand({ DATA_DIR: folder.path, PORT: '0' }, ...args);
  const compare = (fee: string, ...args: readonly string[]) => {
    const file = join(folder.path, 'payout.csv');
    const lines = [
      'id,Type,Source,Amount,Fee,Net,Currency,Created (UTC),Transfer',
      `txn_1,charge,ch_1,11.90,${fee},11.25,usd,2026-02-03 10:00,po_1`,
      'txn_2,payout,po_1,-11.25,0.00,-11.25,usd,2026-02-04 00:00,',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    return quire('payments', 'compare', file, ...args);
  };

  before(async () => {
    folder = tempFolder();
    service = await startService(folder.path);
    const json = {
      tenant_id: 'acme',
      provider: 'stripe',
      provider_txn_id: 'ch_1',
      gross_amount_minor: 1190,
      provider_fee_minor: 65,
      occurred_at: '2026-02-03T10:00:05Z',
    };
    const sold = await fetch(`${service.url}/v1/billing/credits`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    expect(sold.status, await sold.text()).to.equal(200);
    const file = ['payments', 'compare', join(folder.path, 'never.csv')] as const;
    expect(await quire(...file)).to.include({ code: 2 });
  });
  after(async () => {
    await service.stop('SIGKILL');
    folder.remove();
  });

  it('ends with 0 where all of it matches, with 1 and a table where something differs', async () => {
    const same = await compare('0.65');
    expect(same.code, same.out + same.err).to.equal(0);
    expect(same.out).to.contain('1 payments by the mapping stripe-history: 1 match. Nothing differs.');
    expect(same.out).to.match(/payout +1 +-11\.25 USD/);
    const other = await compare('0.66');
    expect(other.code, other.err).to.equal(1);
    expect(other.out).to.match(
      /other fee +1 +ch_1 +acme +11\.90 USD +0\.66 USD +po_1 +11\.90 USD +0\.65 USD/,
    );
    expect(other.out).to.contain('There are differences.');
    const [summary, finding] = (await compare('0.66', '--json')).out.trim().split('\n');
    expect(JSON.parse(summary ?? '')).to.include({ is_matching: false, rows: 1 });
    expect(JSON.parse(finding ?? '')).to.include({ finding: 'other_fee' });
  });

  it('ends with 2 where it cannot be compared', async () => {
    const row = await compare('much');
    expect([row.code, row.err]).to.deep.equal([2, 'Row 1: "much" is not an amount.\n']);
    const mapping = await compare('0.65', '--mapping', join(folder.path, 'payout.csv'));
    expect(mapping.code, mapping.err).to.equal(2);
    expect(mapping.err).to.contain('--mapping: Neither the name of a mapping');
  });

  it('is compared without a service too', async () => {
    await service.stop('SIGTERM');
    const { code, out, err } = await compare('0.65');
    expect(code, err).to.equal(0);
    expect(out).to.contain('Nothing differs.');
  });
});
