import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './tempSpace.ts';

export interface TempFolder {
  readonly path: string;
  /** Writes a file and gives its path. */
  file(name: string, bytes: Uint8Array | string): string;
  remove(): void;
}

/** A folder of a test's own. */
export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'quire-test-'));
  return {
    path,
    file: (name, bytes) => {
      const file = join(path, name);
      writeFileSync(file, bytes);
      return file;
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
