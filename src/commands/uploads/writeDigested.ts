import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A stream had more bytes than it may have. What was written of it is still there. */
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

/** Streams to a new file, digesting on the way: it is never in memory as a whole. Throws TooManyBytes. */
export const writeDigested = async (
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  bytesMax: number = Number.POSITIVE_INFINITY,
): Promise<DigestedFile> => {
  const digest = createHash('sha256');
  let bytes = 0;
  const measure = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      digest.update(chunk);
      bytes += chunk.length;
      if (bytes > bytesMax) done(new TooManyBytes(`more than ${bytesMax} bytes`));
      else done(null, chunk);
    },
  });
  await pipeline(chunks, measure, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  return { path, sha256: digest.digest('hex'), bytes };
};
