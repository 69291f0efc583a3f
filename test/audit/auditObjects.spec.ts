import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { objectFolder } from '../../adapters/local/objectFolder.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { objectsCheck } from '../../src/backup/namedObjects.ts';
import { resultKeyOf } from '../../src/commands/storedResult.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { history, PAID_RESULT } from './auditedHistory.ts';
import { dataOf, expectFound } from './found.ts';
import { auditAfter, nothing } from './tampering.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the audit of objects', () => {
  /** Audits the log of a service beside a copy of its objects, after something was done to them. */
  const after = async (change: (objects: ObjectStore) => Promise<unknown> = () => Promise.resolve()) => {
    const folder = tempFolder();
    cpSync(join(await history(), 'objects'), folder.path, { recursive: true });
    const objects = objectFolder(folder.path);
    await change(objects);
    const { report } = await auditAfter(nothing, { objects: await objectsCheck(objects) });
    folder.remove();
    return report;
  };

  const firstUnder = async (objects: ObjectStore, prefix: string): Promise<string> => {
    const folder = prefix.slice(0, prefix.indexOf('/') + 1);
    for await (const { key } of objects.list(folder)) if (key.startsWith(prefix)) return key;
    throw new Error(`nothing lies under ${prefix}`);
  };

  const paidWork = async (): Promise<string> => {
    let work = '';
    await auditAfter(({ all }) => {
      const [burn] = all(`type = 'CreditsBurned' and data like '%${PAID_RESULT}%'`);
      work = dataOf(burn!)['operation_id'] as string;
    });
    return work;
  };

  it('finds nothing in those of a service, and looks at them', async () => {
    const report = await after();
    expect(report.findings).to.deep.equal([]);
    expect(report.checks.find(({ check }) => check === 'objects')?.checked).to.be.greaterThan(3);
  });

  for (const prefix of ['artifacts/', 'uploads/', 'evaluations/set_'])
    it(`finds one under ${prefix} that was changed`, async () => {
      let key = '';
      const report = await after(async (objects) => {
        key = await firstUnder(objects, prefix);
        await objects.put(key, bytes('something else'));
      });
      expectFound(report, 'objects', { key, found: sha256('something else') });
    });

  it('notes one that is missing', async () => {
    const report = await after(async (objects) => objects.remove(await firstUnder(objects, 'artifacts/')));
    expect(report.findings).to.deep.equal([]);
    expect(report.notes.join()).to.match(/1 objects that the log names are not there.*artifacts\//);
  });

  it('finds a result that is not what its name says', async () => {
    const key = resultKeyOf('ext_other', sha256('a result'));
    const report = await after((objects) => objects.put(key, bytes('another result')));
    expectFound(report, 'objects', { key });
  });

  it('finds a burn that names another result than the one that is kept of its work', async () => {
    const work = await paidWork();
    const kept = resultKeyOf(work, sha256('a result'));
    const report = await after((objects) => objects.put(kept, bytes('a result')));
    expectFound(report, 'objects', { key: resultKeyOf(work, PAID_RESULT), expected: PAID_RESULT });
  });
});
