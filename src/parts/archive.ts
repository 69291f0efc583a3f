import { join } from 'node:path';
import { objectFolder } from '../../adapters/local/objectFolder.ts';
import type { ArchiveSource } from '../../adapters/sqlite/archive.ts';
import type { Config } from '../config.ts';

/** Where the archive of an embedded log is: with the objects, in a folder or in S3. */
export type ArchivePlace = Pick<Config, 'dataDir'> & Partial<Pick<Config, 's3'>>;

/** Reads files of the archive; the store is opened when one is asked for. */
export const archiveIn = ({ dataDir, s3 }: ArchivePlace): ArchiveSource => {
  const folder = objectFolder(join(dataDir, 'objects'));
  if (s3 === undefined) return (key) => folder.get(key);
  const opened = async () => {
    const { clientOf, objectsIn } = await import('../../adapters/minio.ts');
    return objectsIn(clientOf(s3), s3.bucket);
  };
  let store: ReturnType<typeof opened> | undefined;
  return async (key) => (await (store ??= opened())).get(key);
};
