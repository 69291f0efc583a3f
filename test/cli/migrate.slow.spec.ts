import { expect } from 'chai';
import { notServed } from '../../src/cli/projections.ts';
import type { ReadModelStatus } from '../../src/operator/log.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { runCommand } from '../support/quireCommand.ts';
import { startService } from '../support/serviceProcess.ts';

const status = (more: Partial<ReadModelStatus>): ReadModelStatus => ({
  name: 'ledger',
  version: 3,
  state: 'live',
  position: '12',
  lag_events: 0,
  waiting_since: null,
  lag_seconds: 0,
  still_seconds: 0,
  is_paused: false,
  parked: [],
  reason: null,
  next: null,
  ...more,
});

const WANTED = [{ name: 'ledger', version: 3 }];
const building = { version: 3, state: 'building', position: '4' } as const;

describe('what a migration waits for', () => {
  it('is each read model that does not serve in its version, or is far behind', () => {
    expect(notServed([status({})], WANTED)).to.deep.equal([]);
    expect(notServed([status({ lag_seconds: 59 })], WANTED)).to.deep.equal([]);
    expect(notServed([status({ lag_seconds: 900, is_paused: true })], WANTED)).to.deep.equal([]);
    for (const open of [
      [],
      [status({ version: 2 })],
      [status({ version: 2, next: building })],
      [status({ next: { ...building, state: 'rebuilding' } })],
      [status({ lag_seconds: 61 })],
      [status({ name: 'grants' })],
    ])
      expect(notServed(open, WANTED), JSON.stringify(open)).to.deep.equal(['ledger']);
  });

  it('is not what will never come: it says why', () => {
    const refused: readonly (readonly [Partial<ReadModelStatus>, string])[] = [
      [{ version: 4 }, 'a newer release serves it'],
      [{ state: 'stopped', reason: 'bad event' }, 'stopped: bad event'],
      [{ state: 'diverged', reason: 'another log' }, 'diverged: another log'],
      [{ version: 2, reason: 'too old', next: { ...building, state: 'stopped' } }, 'stopped: too old'],
    ];
    for (const [more, why] of refused)
      expect(() => notServed([status(more)], WANTED), why).to.throw(
        `ledger will not serve in version 3: ${why}`,
      );
  });
});

describe('quire projections migrate', () => {
  const folder = tempFolder();
  after(() => folder.remove());
  const env = { DATA_DIR: folder.path };
  const migrate = () => runCommand(env, 'projections', 'migrate');

  it('makes what this release needs, ends, and has nothing to do the next time', async () => {
    for (const time of ['first', 'second']) {
      const { code, err } = await migrate();
      expect(code, `${time}: ${err}`).to.equal(0);
      expect(err).to.contain('All read models serve');
    }
    const { out } = await runCommand(env, 'projections', 'status', '--json');
    const statuses = JSON.parse(out) as readonly ReadModelStatus[];
    expect(statuses.map(({ name, version, next }) => ({ name, version, next }))).to.have.deep.members(
      READ_MODELS.map(({ name, version }) => ({ name, version, next: null })),
    );
  });

  it('is refused beside a service that has the folder', async () => {
    const service = await startService(folder.path);
    const { code, err } = await migrate();
    expect(code, err).to.equal(1);
    expect(err).to.match(/already|in use|another/);
    await service.stop('SIGTERM');
  });
});
