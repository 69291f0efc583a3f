import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand, type Ran } from '../support/quireCommand.ts';
import { ADMIN_KEY, startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';

describe('the books of a month, on the command line', () => {
  let folder: TempFolder;
  let out: TempFolder;
  let service: ServiceProcess | undefined;
  const month = new Date().toISOString().slice(0, 7);

  before(async () => {
    [folder, out] = [tempFolder(), tempFolder()];
    service = await startService(folder.path);
    const sold = await fetch(`${service.url}/v1/billing/credits`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ tenant_id: 'acme', provider_txn_id: 'pi_1', gross_amount_minor: 1000 }),
    });
    expect(sold.status).to.equal(200);
  });
  after(async () => {
    await service?.stop('SIGKILL');
    folder.remove();
    out.remove();
  });

  const quire = (...args: readonly string[]): Promise<Ran> =>
    runCommand({ DATA_DIR: folder.path, PORT: '0' }, 'export', ...args, '--out', out.path, '--month', month);
  const texts = (name: string): string => readFileSync(join(out.path, name), 'utf8');

  it('are written beside a running service and without one, with a manifest', async () => {
    const rows = async () => {
      const { out: printed, err, code } = await quire('journal', '--json');
      expect(code, err).to.equal(0);
      return JSON.parse(printed) as { readonly rows: number; readonly sha256: string };
    };
    const beside = await rows();
    expect(beside.rows).to.equal(2);
    expect(texts(`journal-${month}.csv`)).to.include(',acme,sale,account-acme,');
    await service?.stop('SIGTERM');
    service = undefined;
    expect((await rows()).sha256).to.equal(beside.sha256);
    const { files } = JSON.parse(texts('manifest.json')) as { readonly files: readonly object[] };
    expect(files).to.have.length(1);
    expect(files[0]).to.include({ file: `journal-${month}.csv`, is_closed: false, month });
  });

  it('come in a layout and as Parquet, and what there is not is refused', async () => {
    expect((await quire('journal', '--layout', 'datev')).code).to.equal(0);
    expect(texts(`EXTF_Buchungsstapel_${month}.csv`)).to.include('"EXTF";700;21;"Buchungsstapel";13;');
    expect((await quire('payments', '--format', 'parquet')).code).to.equal(0);
    expect(texts(`payments-${month}.parquet`).slice(0, 4)).to.equal('PAR1');
    const wrong = await Promise.all([
      quire('ledger'),
      quire('focus', '--layout', 'xero'),
      quire('focus', '--format', 'ods'),
    ]);
    expect(wrong.map(({ code }) => code)).to.deep.equal([2, 2, 2]);
  });
});
