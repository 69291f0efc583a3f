import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { join } from 'node:path';
import { copyEventLog, openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { familyOf } from '../../engine/isolation/children/childProcess.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { eachAtOnce } from '../../src/backup/files.ts';

describe('work on many files at once', () => {
  async function* slowly(count: number) {
    for (let n = 1; n <= count; n += 1) {
      yield n;
      for (let turns = 0; turns < 5; turns += 1) await turn();
    }
  }
  const ended = async (work: (n: number) => Promise<void>): Promise<unknown> => {
    try {
      await eachAtOnce(slowly(3), 4, work);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  it('fails when one failed while the next was being looked for', async () => {
    const failure = new Error('no room for the first');
    const fails = async (n: number) => {
      await turn();
      if (n === 1) throw failure;
    };
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.prependListener('unhandledRejection', note);
    expect(await ended(fails)).to.equal(failure);
    process.off('unhandledRejection', note);
    expect(unhandled).to.deep.equal([]);
  });

  it('does everything, never more at once than it may', async () => {
    let [running, most, done] = [0, 0, 0];
    await eachAtOnce([1, 2, 3, 4, 5, 6, 7], 3, async () => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      done += 1;
    });
    expect([most, done]).to.deep.equal([3, 7]);
  });
});

describe('the copy of an event log that is given up', () => {
  it('is written by nobody any more when that is told', async () => {
    const folder = tempFolder();
    const from = join(folder.path, 'events.db');
    await openSqliteEventLog({ path: from }).close();
    const before = familyOf(process.pid);
    const stop = new AbortController();
    const copying = copyEventLog(from, join(folder.path, 'copy.db'), stop.signal).catch(
      (error: unknown) => error,
    );
    expect(familyOf(process.pid)).to.have.lengthOf(before.length + 1);
    stop.abort(new Error('given up'));
    expect(String(await copying)).to.contain('given up');
    expect(familyOf(process.pid)).to.deep.equal(before);
    folder.remove();
  });
});
