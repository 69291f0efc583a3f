// Installs, once, what only some commands need: the checks of the interface, of packages and of links between
// documents, and the site of the docs. It stands in tools/package.json with a lock file of its own, for it is a quarter
// of a gigabyte that neither `npm start` nor `npm test` loads.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './workspaces.js';

const TOOLS = join(ROOT, 'tools');
const STAMP = join(TOOLS, 'node_modules/.stamp');

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
  writeSync(2, 'Installing into tools/node_modules what this command needs and the service does not …\n');
  if (npmCi() !== 0) process.exit(1);
  writeFileSync(STAMP, wanted);
}
