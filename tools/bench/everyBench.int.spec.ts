import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { NODE_OPTIONS } from '../../test/support/program.ts';
import { tempDatabase, type TempDatabase } from '../../test/support/tempDatabase.ts';

const {
  DATABASE_URL,
  REDIS_URL,
  PATH = '',
  HOME = '',
  QUIRE_BUNDLE = '',
  QUIRE_SHORT_LIVED = '',
} = process.env;
/** A folder in which Emmett is installed; empty where it could not be. */
const BENCH_EMMETT = process.env['BENCH_EMMETT'] === '' ? undefined : process.env['BENCH_EMMETT'];

const folder = tempFolder();

/** Runs a benchmark as its command does, and gives all it says. It throws when the benchmark fails. */
const ran = async (
  main: string,
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<string> => {
  const file = fileURLToPath(new URL(`../../${main}.js`, import.meta.url));
  // Services start from the bundle where that is fresh: one file loads in half the time of hundreds.
  const ours = { PATH, HOME, QUIRE_BUNDLE, QUIRE_SHORT_LIVED };
  const all = { ...ours, BENCH_DIR: folder.path, BENCH_ROUNDS: '1', ...env };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...NODE_OPTIONS, file, ...args], {
    env: all,
    timeout: 590_000,
  });
  return stdout + stderr;
};

/** Every benchmark once with tiny sizes: what it measures then means nothing, but none rots. */
describe('every benchmark runs', function () {
  this.timeout(600_000);
  after(() => folder.remove());

  it('bench:path', async () => {
    const said = await ran('tools/bench/workPathMain', { BENCH_RUNS: '2', BENCH_CPU_RUNS: '2' });
    expect(said).to.match(/[1-9]\d* files, [1-9]\d* functions/);
    expect(said).to.match(/\d ms an extraction/);
  });

  it('bench:longdocument', async () => {
    const said = await ran('tools/bench/longDocumentMain', {
      BENCH_PAGES: '24',
      BENCH_STEP: '12',
    });
    expect(said.match(/\| joined \|/g)).to.have.length(2);
  });

  it('bench:documents', async () => {
    const small = { BENCH_PAGES: '2', BENCH_LARGE_PAGES: '3', BENCH_SCANNED_PAGES: '1' };
    const said = await ran('tools/bench/documentsMain', {
      ...small,
      BENCH_SECONDS: '0.2',
      BENCH_IN_FLIGHT: '2',
      BENCH_WARM_UPS: '1',
    });
    expect(said).to.include('processor ms a page').and.include('CPU ms a page');
  });

  it('bench:training', async () => {
    folder.file('manifest.json', Buffer.from('[]'));
    folder.file('score.mjs', Buffer.from('export const compare = () => ({ tp: 1, fp: 0, fn: 0 });'));
    const said = await ran(
      'engine/test/bench/trainingMain',
      { BENCH_EXAMPLES: '4', BENCH_ONLY: 'cards' },
      folder.path,
    );
    expect(said).to.include('CPU ms an example').and.include('1.000');
  });

  it('bench:fairness', async () => {
    const small = { BENCH_TENANTS: '2', BENCH_PAGES: '1', BENCH_ATTACKS: 'counts' };
    const said = await ran('tools/bench/fairnessMain', { ...small, BENCH_SECONDS: '1' });
    expect(said).to.match(/p99 beside it: [\d.]+ times/);
  });

  it('bench:start, on a log', async () => {
    const said = await ran('tools/bench/startMain', { BENCH_EVENTS: '500', BENCH_TENANTS: '5' });
    expect(said).to.include('later start').and.not.include('NaN');
  });

  it('bench:logs', async () => {
    const said = await ran('tools/bench/logsMain', { BENCH_EVENTS: '300', BENCH_UNITS: '200' });
    expect(said).to.match(/copy of 3\d\d events/);
    expect(said.match(/share \d/g)).to.have.length(9);
  });

  it('bench:budgets', async () => {
    const said = await ran('tools/bench/budgetsMain', {}, '--burns', '64', '--rounds', '1');
    expect(said)
      .to.match(/[1-9][\d.]* µs a burn without, [1-9][\d.]* µs with ten budgets/)
      .and.match(/-?\d+\.\d % more/);
  });

  it('bench:memory', async () => {
    const small = { BENCH_EVENTS: '500', BENCH_TENANTS: '5', BENCH_RATE: '50', BENCH_SECONDS: '2' };
    const said = await ran('tools/bench/memoryMain', small);
    expect(said).to.include('All books balance.').and.not.include('NaN');
  });

  it('bench:live', async () => {
    const said = await ran('tools/bench/liveMain', {
      BENCH_RATE: '100',
      BENCH_SECONDS: '1',
      BENCH_TENANTS: '2',
    });
    expect(said).to.include('CPU ms a burn');
  });

  it('bench with bench:audit, and its table says what it could not compare for want of a server', async () => {
    const said = await ran('tools/bench/allMain', { BENCH_SMALL: '1' }, 'http', 'documents', 'audit');
    expect(said).to.match(/\| audit of the log, events\/s \| [\d,.]+ \| ≥ 100,000 \| missed \|/);
    expect(said).to.match(/own markdown \| [\d,.]+ \| ≥ 0.90 \|/);
    expect(said).to.match(
      /one hot tenant, 16 connections \| no server: BENCH_DATABASE_URL names none \| ≥ 1.30 \|/,
    );
    expect(said).to.include('CPU us an event').and.include('every audit says the same');
    expect(said).not.to.match(/not told|failed|NaN/);
  });

  if (DATABASE_URL !== undefined)
    describe('with PostgreSQL', () => {
      let database: TempDatabase;
      let url: Readonly<Record<string, string>>;
      before(async () => {
        database = await tempDatabase(DATABASE_URL);
        url = { BENCH_DATABASE_URL: database.url };
      });
      after(() => database.drop());

      it('bench:burns, with every contestant that can be had here', async () => {
        const redis = REDIS_URL === undefined ? undefined : new URL(REDIS_URL);
        if (redis !== undefined) redis.pathname = '/15';
        const said = await ran('tools/bench/burnsMain', {
          ...url,
          ...(redis && { BENCH_REDIS_URL: redis.href }),
          ...(BENCH_EMMETT !== undefined && { BENCH_EMMETT }),
          BENCH_UNITS: '40',
          BENCH_TENANTS: '10',
          BENCH_ONLY: '10 tenants, 16',
        });
        const names = ['Quire: keyed', 'Quire: hold', 'R0', 'R1', 'Double entry'];
        const more = [
          ...(redis ? ['Redis'] : []),
          ...(BENCH_EMMETT === undefined ? [] : ['Emmett, as', 'Emmett, st']),
        ];
        for (const name of [...names, ...more]) expect(said).to.include(name);
        expect(said).not.to.include('unknown').and.not.to.include('NOT caught up');
      });

      it('bench with bench:http and bench:rebuild, which are compared with a server', async () => {
        const said = await ran(
          'tools/bench/allMain',
          { ...url, BENCH_SMALL: '1' },
          'burns',
          'http',
          'rebuild',
        );
        for (const figure of ['burns ÷ one SQL statement', 'HTTP burns ÷ Express'])
          expect(said).to.match(new RegExp(`\\| ${figure}: one hot tenant, 16 [a-z ]+ \\| [\\d,.]+ \\|`));
        expect(said).to.match(/\| rebuild ÷ bare load \| [\d.]+ \|/);
        for (const part of ['All books balance.', 'burns:', 'balance reads:', 'Quire ÷ bare load'])
          expect(said).to.include(part);
        expect(said).not.to.match(/\| failed \||unknown|NaN|[1-9] failed/);
      });

      it('bench:reads', async () => {
        const small = { BENCH_WHALE_ROWS: '500', BENCH_ROWS_EACH: '120', BENCH_TENANTS: '8' };
        const said = await ran('tools/bench/readsMain', { ...url, ...small, BENCH_UNITS: '50' });
        expect(said).to.include('ratio of CPU').and.not.include('NaN');
      });
    });
});
