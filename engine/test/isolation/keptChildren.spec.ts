import { expect } from 'chai';
import type { Child } from '../../isolation/children/childProcess.ts';
import { keptChildren, type UsedChild } from '../../isolation/children/idleChildren.ts';
import { keptFile } from '../../ports/documentParser.ts';

/** A child that says what it was told. */
const childOf = (told: string[], isAlive = true): Child => ({
  run: () => Promise.resolve({ kind: 'died' }),
  alive: () => isAlive,
  putAway: () => told.push('put away'),
  pause: () => undefined,
  resume: () => undefined,
  cpuMs: () => undefined,
  kill: () => undefined,
  exited: Promise.resolve(),
});

describe('children that keep a file open', () => {
  const givenBack: UsedChild[] = [];
  const kept = () => keptChildren({ keptMs: 60_000, giveBack: (used) => givenBack.push(used) });
  const used = (told: string[] = [], isAlive = true): UsedChild => ({
    child: childOf(told, isAlive),
    jobs: 1,
  });
  const keeping = (share: string, openedMs: number, own = used()) => ({
    used: own,
    share,
    path: 'p',
    openedMs,
  });
  beforeEach(() => givenBack.splice(0));

  it('put it away when it is closed, and are free for others', () => {
    const all = kept();
    const told: string[] = [];
    const file = keptFile();
    const own = used(told);
    all.keep(file, keeping('acme', 5, own));
    file.close();
    expect([told, givenBack, all.count()]).to.deep.equal([['put away'], [own], 0]);
    all.keep(file, keeping('acme', 5, own));
    expect(all.count(), 'it was closed before').to.equal(0);
  });

  it('are taken by the same share for the same file alone, once', () => {
    const all = kept();
    const file = keptFile();
    const own = keeping('acme', 5);
    all.keep(file, own);
    expect(all.take(file, { share: 'bolt', path: 'p' })).to.equal(undefined);
    expect(all.take(file, { share: 'acme', path: 'q' })).to.equal(undefined);
    expect(all.take(keptFile(), { share: 'acme', path: 'p' })).to.equal(undefined);
    expect(all.take(file, { share: 'acme', path: 'p' })?.used).to.equal(own.used);
    expect(all.take(file, { share: 'acme', path: 'p' })).to.equal(undefined);
  });

  it('are not given once they have died', () => {
    const all = kept();
    const file = keptFile();
    all.keep(file, keeping('acme', 5, used([], false)));
    expect(all.take(file, { share: 'acme', path: 'p' })).to.equal(undefined);
    all.keep(file, keeping('acme', 5, used([], false)));
    expect([all.giveWay(false), all.count()]).to.deep.equal([undefined, 0]);
  });

  it('give way first where a share keeps most, and there what cost least to open', () => {
    const all = kept();
    const one = keeping('bolt', 1);
    const three = [keeping('acme', 30), keeping('acme', 10), keeping('acme', 20)];
    for (const each of [one, ...three]) all.keep(keptFile(), each);
    const order = Array.from({ length: 4 }, () => all.giveWay(false));
    expect(order).to.deep.equal([three[1]?.used, three[2]?.used, one.used, three[0]?.used]);
    expect(all.giveWay(false)).to.equal(undefined);
  });

  it('give way until that has cost as much as the start of another child, if one may be started', () => {
    const all = kept();
    for (let n = 0; n < 6; n += 1) all.keep(keptFile(), keeping('acme', 400));
    const gave = Array.from({ length: 5 }, () => all.giveWay(true) !== undefined);
    expect(gave).to.deep.equal([true, true, true, false, true]);
    for (let n = 0; n < 4; n += 1) all.keep(keptFile(), keeping('acme', 400));
    const forced = Array.from({ length: 4 }, () => all.giveWay(false) !== undefined);
    expect(forced).to.deep.equal([true, true, true, true]);
    for (const used of all.takeAll()) used.child.kill();
    expect(all.count()).to.equal(0);
  });
});
