import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from './supply.ts';
import { installedIn, totals } from './sizes.ts';

const MEGABYTE = 2 ** 20;

describe('what npm ci installs', () => {
  const packages = installedIn(ROOT);

  it('is at most 700 MB, and 330 MB in production', () => {
    const { all, production } = totals(packages);
    expect(all / MEGABYTE).to.be.within(200, 700);
    expect(production / MEGABYTE).to.be.within(100, 330);
  });

  it('has native code for this platform alone', () => {
    const others = ['darwin', 'win32', 'linux', 'android', 'freebsd'].filter(
      (one) => one !== process.platform,
    );
    const named = packages.filter(({ place }) => others.some((other) => place.includes(`-${other}-`)));
    expect(named.map(({ place }) => place)).to.deep.equal([]);
  });

  it('has each build for one C library only: libsql does not say which, the lock file does', () => {
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly libc?: readonly string[] }>>;
    };
    const silent = Object.entries(lock.packages)
      .filter(([place, { libc }]) => /libsql\/linux|-musl/.test(place) && libc === undefined)
      .map(([place]) => place);
    expect(silent).to.deep.equal([]);
  });
});
