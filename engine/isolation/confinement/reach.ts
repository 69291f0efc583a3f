import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/*
 * Tries what a parser that was taken over would try, and prints a JSON list of what it reached. It is
 * started as children are, without Node's permission model: code in native parts does not ask that.
 */
const parent = Number(process.argv[2]);
const port = Number(process.argv[3]);

const attempts: Readonly<Record<string, () => unknown>> = {
  environment: () => readFileSync(`/proc/${parent}/environ`),
  files: () => [readFileSync('/etc/passwd'), readdirSync('/')],
  writing: () => {
    const path = join(tmpdir(), `quire-reach-${process.pid}`);
    writeFileSync(path, '');
    rmSync(path);
  },
  signals: () => process.kill(parent, 0),
};

const succeeds = (attempt: () => unknown): boolean => {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
};

const reached = Object.keys(attempts).filter((name) => succeeds(attempts[name] ?? (() => undefined)));
const tell = (network: readonly string[]): void => {
  process.stdout.write(JSON.stringify([...reached, ...network]), () => process.exit(0));
};
connect(port, '127.0.0.1')
  .on('connect', () => tell(['network']))
  .on('error', () => tell([]));
