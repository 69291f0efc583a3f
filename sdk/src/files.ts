import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

/** A file of the disk, with its name: for Node, Deno and Bun. */
export const fileAt = async (path: string): Promise<File> =>
  new File([new Uint8Array(await readFile(path))], basename(path));
