import { RETENTION_MODES, S3Error, type Client } from 'minio';
import { checkObjectKey } from '../../domain/ports/objectKey.ts';
import type { LockedObjects } from '../../domain/ports/lockedObjects.ts';
import { clientOf, type MinioOptions } from './objectStore.ts';

/** What servers answer where a bucket was made without the lock, or where they know no such thing. */
const NO_LOCK = new Set([
  'ObjectLockConfigurationNotFoundError',
  'NoSuchObjectLockConfiguration',
  'InvalidRequest',
  'MethodNotAllowed',
  'NotImplemented',
]);

/** The client's types say that this gives nothing; it gives what the bucket has. */
interface LockReader {
  getObjectLockConfig(bucket: string): Promise<{ readonly objectLockEnabled?: unknown } | undefined>;
}

const hasLock = async (client: Client, bucket: string): Promise<boolean> => {
  const reader = client as unknown as LockReader;
  try {
    return (await reader.getObjectLockConfig(bucket))?.objectLockEnabled === 'Enabled';
  } catch (error) {
    if (error instanceof S3Error && NO_LOCK.has(error.code ?? '')) return false;
    throw error;
  }
};

/** Objects of a bucket under S3 object lock, in compliance mode: not even the account's owner removes them. */
export const minioLockedObjects = (options: MinioOptions): LockedObjects => {
  const { bucket } = options;
  const client = clientOf(options);
  return {
    refusal: async () =>
      (await hasLock(client, bucket))
        ? null
        : `The bucket ${bucket} has no object lock, so seals in it could be removed. A lock is ` +
          'given to a bucket when it is made (mc mb --with-lock): name such a bucket with ' +
          'S3_BUCKET, or leave seals out of the object store.',
    putLocked: async (key, bytes, until) => {
      const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const { versionId } = await client.putObject(bucket, checkObjectKey(key), body, body.length);
      await client.putObjectRetention(bucket, key, {
        mode: RETENTION_MODES.COMPLIANCE,
        retainUntilDate: until,
        versionId: typeof versionId === 'string' ? versionId : '',
      });
    },
  };
};
