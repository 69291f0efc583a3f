import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GENERATED, generatedFiles } from './generated.ts';

/*
 * npm run sdk:generate: writes the generated part of the client; with --check it only says which files differ from
 * what the description makes.
 */

const present = (): readonly string[] =>
  existsSync(GENERATED)
    ? readdirSync(GENERATED, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
    : [];

const files = await generatedFiles();
const orphans = present().filter((path) => !files.has(path));
const changed = [...files].filter(([path, text]) => {
  const file = join(GENERATED, path);
  return !existsSync(file) || readFileSync(file, 'utf8') !== text;
});

if (process.argv.includes('--check')) {
  for (const path of [...changed.map(([path]) => path), ...orphans])
    process.stderr.write(`${GENERATED}/${path} differs from the description: run npm run sdk:generate\n`);
  process.exitCode = changed.length + orphans.length === 0 ? 0 : 1;
} else {
  for (const path of orphans) rmSync(join(GENERATED, path));
  for (const [path, text] of changed) {
    const file = join(GENERATED, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  process.stdout.write(`${GENERATED}: ${String(changed.length)} of ${String(files.size)} files changed\n`);
}
