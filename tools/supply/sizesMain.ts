import { ROOT } from './supply.ts';
import { installedIn, totals } from './sizes.ts';

/** `npm run install:sizes -- [packages]`: what `npm ci` has put on the disk, package by package, the largest first. */
const [shown = '40'] = process.argv.slice(2);
const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
const packages = installedIn(ROOT);
const { all, production } = totals(packages);
console.log(`all ${megabytes(all)} MB, production ${megabytes(production)} MB\n`);
console.log('| MB | in production | package | version |\n| ---: | --- | --- | --- |');
for (const { place, version, bytes, isForDevelopment } of packages.slice(0, Number(shown))) {
  const name = place.replace(/^node_modules\//, '').replaceAll('/node_modules/', ' > ');
  console.log(`| ${megabytes(bytes)} | ${isForDevelopment ? '' : 'yes'} | ${name} | ${version} |`);
}
