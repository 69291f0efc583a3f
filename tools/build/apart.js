// Installs, once, what only some commands need: the linter, the checks of the interface, of packages and of links
// between documents, and the site of the docs. It stands in tools/apart with a lock file of its own, for it is a
// third of a gigabyte that neither `npm start` nor `npm test` loads. Arguments are one of its programs, which is run.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from './workspaces.js';

const TOOLS = join(ROOT, 'tools/apart');
const STAMP = join(TOOLS, 'node_modules/.stamp');
const BIN = join(TOOLS, 'node_modules/.bin');

const wanted = createHash('sha256')
  .update(readFileSync(join(TOOLS, 'package-lock.json')))
  .digest('hex');
const isThere = existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted;

/** npm itself where it runs this, so that no shell has to find it. */
const npmCi = () => {
  const npm = process.env.npm_execpath;
  const [program, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  return spawnSync(program, [...first, 'ci'], { cwd: TOOLS, stdio: ['ignore', 'ignore', 'inherit'] }).status;
};

if (!isThere) {
  writeSync(2, 'Installing into tools/apart what this command needs and the service does not …\n');
  if (npmCi() !== 0) process.exit(1);
  writeFileSync(STAMP, wanted);
}

const [program, ...args] = process.argv.slice(2);
if (program !== undefined) {
  // Such a program finds others of its kind beside itself.
  const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ''}` };
  process.exit(spawnSync(join(BIN, program), args, { cwd: ROOT, stdio: 'inherit', env }).status ?? 1);
}
