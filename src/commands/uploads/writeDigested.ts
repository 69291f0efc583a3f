import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newFile } from '../../newFile.ts';

/** A stream, or a file, had more bytes than it may have. */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/** A file that was written, and what identifies it. */
export interface DigestedFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** What identifies a file that lies on the disk already. Throws TooManyBytes before it reads one. */
export const digestFile = async (path: string, bytesMax: number): Promise<DigestedFile> => {
  const { size: bytes } = await stat(path);
  if (bytes > bytesMax) throw new TooManyBytes(`more than ${bytesMax} bytes`);
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return { path, sha256: digest.digest('hex'), bytes };
};

/**
 * Streams to a new file, digesting on the way: it is never in memory as a whole. Throws TooManyBytes, and what
 * `chunks` throw; the file is gone then.
 */
export const writeDigested = (
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  bytesMax: number = Number.POSITIVE_INFINITY,
): Promise<DigestedFile> => {
  // It may break off before it is read: who reads it then is told.
  if (chunks instanceof Readable) chunks.on('error', () => undefined);
  return newFile(path, async (file) => {
    const digest = createHash('sha256');
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new TooManyBytes(`more than ${bytesMax} bytes`);
      digest.update(chunk);
      await file.writeFile(chunk);
    }
    return { path, sha256: digest.digest('hex'), bytes };
  });
};
