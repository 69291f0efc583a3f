import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The checkout, from the compiled module. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** What npm printed. It says by more than its exit code what came of it, so none is thrown. */
export const npm = (args: readonly string[]): Promise<{ readonly out: string; readonly err: string }> =>
  new Promise((resolve) => {
    execFile('npm', [...args], { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX }, (_, out, err) =>
      resolve({ out, err }),
    );
  });
