import { expect } from 'chai';
import { rankOf, releasesFor } from './jobs.ts';
import { pictureOf, runAll, type Job, type Outcome } from './queue.ts';

const PASSED: Outcome = { passed: 1, failed: [], wall: 1, cpu: 1, printed: '' };

/** Jobs that end when they are told to, and what of them runs now. */
const bench = () => {
  const ends = new Map<string, () => void>();
  const began: string[] = [];
  const job = (id: string, wall: number, cpu: number): Job => ({
    id,
    name: id,
    kind: 'unit',
    wall,
    cpu,
    rank: 0,
    run: () => {
      began.push(id);
      return new Promise((resolve) => ends.set(id, () => resolve(PASSED)));
    },
  });
  const end = async (id: string): Promise<void> => {
    ends.get(id)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { job, end, began };
};

describe('the queue of jobs', () => {
  it('begins with the longest, and with no more than the cores have room for', async () => {
    const { job, end, began } = bench();
    const all = runAll([job('short', 1, 1), job('long', 9, 9), job('middle', 5, 5)], { cores: 2 });
    expect(began).to.deep.equal(['long', 'middle']);
    await end('middle');
    expect(began).to.deep.equal(['long', 'middle', 'short']);
    await end('long');
    await end('short');
    expect((await all).map(({ job: { id } }) => id)).to.deep.equal(['middle', 'long', 'short']);
  });

  it('runs beside jobs that compute those that only wait', async () => {
    const { job, end, began } = bench();
    const all = runAll([job('computes', 9, 9), job('computes too', 8, 8), job('waits', 7, 0.5)], {
      cores: 1,
    });
    expect(began).to.deep.equal(['computes']);
    await end('computes');
    expect(began).to.deep.equal(['computes', 'computes too']);
    await end('computes too');
    await end('waits');
    const beside = runAll([job('a', 9, 7), job('b', 8, 0.5)], { cores: 1 });
    expect(began.slice(3)).to.deep.equal(['a', 'b']);
    await end('a');
    await end('b');
    expect(await all).to.have.length(3);
    expect(await beside).to.have.length(2);
  });

  it('runs a job that asks for more cores than there are, alone', async () => {
    const { job, end, began } = bench();
    const all = runAll([job('wide', 10, 40), job('narrow', 1, 1)], { cores: 2 });
    expect(began).to.deep.equal(['wide']);
    await end('wide');
    await end('narrow');
    expect((await all).map(({ job: { id } }) => id)).to.deep.equal(['wide', 'narrow']);
  });

  it('runs lower ranks first, and leaves out what would end later than it may', async () => {
    const { job, end, began } = bench();
    const leftOut: string[] = [];
    const [next, now] = [job('next turn', 90, 90), job('this turn', 40, 40)];
    const jobs = [{ ...next, rank: 2, until: 60 }, { ...now, rank: 1, until: 60 }, job('short', 1, 1)];
    const all = runAll(jobs, { cores: 1, leftOut: ({ id }) => leftOut.push(id) });
    await end('short');
    await end('this turn');
    expect((await all).map(({ job: { id } }) => id)).to.deep.equal(['short', 'this turn']);
    expect([began, leftOut]).to.deep.equal([['short', 'this turn'], ['next turn']]);
  });

  it('runs two jobs of one file one after the other', async () => {
    const { job, end, began } = bench();
    const all = runAll([job('twin', 9, 2), job('twin', 9, 2), job('other', 1, 1)], { cores: 2 });
    expect(began).to.deep.equal(['twin', 'other']);
    await end('twin');
    expect(began).to.deep.equal(['twin', 'other', 'twin']);
    await end('twin');
    await end('other');
    expect(await all).to.have.length(3);
  });

  it('asks for fillers only when nothing waits', async () => {
    const { job, end, began } = bench();
    const filler = () => (began.includes('filler') ? undefined : job('filler', 3, 3));
    const all = runAll([job('a', 2, 2), job('b', 1, 1)], { cores: 1, filler });
    expect(began).to.deep.equal(['a']);
    await end('a');
    expect(began).to.deep.equal(['a', 'b']);
    await end('b');
    expect(began).to.deep.equal(['a', 'b', 'filler']);
    await end('filler');
    expect(await all).to.have.length(3);
  });

  it('shows what ran when, a letter for each kind', () => {
    const run = (kind: string, lane: number, [began, ended]: [number, number]) => ({
      job: { ...bench().job('x', 1, 1), kind },
      lane,
      began,
      ended,
      outcome: { ...PASSED, cpu: ended - began },
    });
    const [first, second, load] = pictureOf([run('unit', 0, [0, 60]), run('web', 1, [0, 30])], 2).split('\n');
    expect(first).to.match(/^ 1 \|u{96}\|$/);
    expect(second).to.match(/^ 2 \|w{48} {48}\|$/);
    expect(load).to.match(/^ {3}\|9{48}5{48}\|/);
  });
});

describe('the release of Node that a spec file runs on', () => {
  const releases = [
    { node: 'node', label: 'v20' },
    { node: 'other', label: 'other' },
  ];
  const labels = (file: string, commits: number) =>
    releasesFor(file, releases, commits).map(({ label }) => label);

  it('is one, and the other one at the next commit', () => {
    const [now, next] = [labels('test/domain/golden.spec.ts', 7), labels('test/domain/golden.spec.ts', 8)];
    expect([...now, ...next]).to.have.members(['v20', 'other']);
  });

  it('is both within four commits for a long file, which has its turn with every second one', () => {
    const long = 'test/backup/backup.slow.spec.ts';
    const turns = [8, 9, 10, 11].filter((commits) => rankOf(long, commits) === 1);
    expect(turns).to.have.length(2);
    expect(turns.flatMap((commits) => labels(long, commits))).to.have.members(['v20', 'other']);
    expect([8, 9].map((commits) => rankOf('test/domain/golden.spec.ts', commits))).to.deep.equal([0, 0]);
  });

  it('is one where processes only read what is compared', () => {
    const file = 'engine/test/isolation/ranges.slow.spec.ts';
    expect([...labels(file, 7), ...labels(file, 9)]).to.have.members(['v20', 'other']);
  });

  it('is both where the subject differs between them', () => {
    expect(labels('test/contracts/objectStore.spec.ts', 7)).to.deep.equal(['v20', 'other']);
    expect(labels('engine/test/isolation/isolation.spec.ts', 7)).to.deep.equal(['v20', 'other']);
    expect(labels('engine/test/kernel/tempFolders.spec.ts', 8)).to.deep.equal(['v20', 'other']);
  });
});
