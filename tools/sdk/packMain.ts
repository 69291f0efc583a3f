import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { packClient } from './built.ts';

/* npm run sdk:pack: builds the client and packs it into the folder that is named, or this one. */

const staged = mkdtempSync(join(tmpdir(), 'quire-pack-'));
try {
  const { path } = packClient(staged);
  const packed = resolve(process.argv[2] ?? '.', basename(path));
  copyFileSync(path, packed);
  process.stdout.write(`${packed}\n`);
} finally {
  rmSync(staged, { recursive: true, force: true });
}
