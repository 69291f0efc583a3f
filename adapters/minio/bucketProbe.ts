import { randomUUID } from 'node:crypto';
import { clientOf, objectsIn, type MinioOptions } from './objectStore.ts';
import { minioUploadTargets } from './uploadTargets.ts';

/** A bucket as it is, which is never made here. */
export interface BucketProbe {
  readonly exists: () => Promise<boolean>;
  /** undefined when there is no such object. */
  readonly get: (key: string) => Promise<Uint8Array | undefined>;
  /** Stores an object, reads it and removes it. Throws what the store says; an object that stays is named. */
  readonly tryOut: () => Promise<void>;
  /** Does the same with a file sent to a presigned URL, as clients do. */
  readonly tryUpload: (signal: AbortSignal) => Promise<void>;
}

const BODY = new TextEncoder().encode('quire doctor was here');

export const bucketProbe = (options: MinioOptions, now: () => string): BucketProbe => {
  const client = clientOf(options);
  const objects = objectsIn(client, options.bucket);
  /** Whatever `send` did, nothing of it stays. */
  const triedOut = async (send: (key: string) => Promise<void>): Promise<void> => {
    const key = `doctor/${randomUUID()}`;
    try {
      await send(key);
      const found = await objects.get(key);
      if (found === undefined || !Buffer.from(found).equals(BODY))
        throw new Error('the object that was stored is not the one that is read');
    } finally {
      await objects.remove(key).catch((error: unknown) => {
        throw new Error(`the object ${key} could not be removed again`, { cause: error });
      });
    }
  };
  return {
    exists: () => client.bucketExists(options.bucket),
    get: (key) => objects.get(key),
    tryOut: () => triedOut((key) => objects.put(key, BODY)),
    tryUpload: (signal) =>
      triedOut(async (key) => {
        const grant = { key, content_type: 'text/plain', bytes: BODY.length, bytes_max: BODY.length };
        const target = await minioUploadTargets(options).presign({
          ...{ ...grant, document_id: 'doctor', signed_at: now(), expires_seconds: 60 },
        });
        const answer = await fetch(target.url, {
          method: 'PUT',
          body: BODY,
          headers: target.headers,
          signal,
        });
        await answer.arrayBuffer();
        if (!answer.ok) throw new Error(`a file sent to a presigned URL is answered with ${answer.status}`);
      }),
  };
};
