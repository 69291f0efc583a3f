import { open, rm, type FileHandle } from 'node:fs/promises';

/**
 * Makes a new file, for its owner alone, that `write` fills. It is closed when this settles, and gone where that
 * fails. A file that is removed while its opening is still on its way would be made after that, and stay: so the
 * opening is waited for, whatever has failed meanwhile. Throws where there is a file of that name.
 */
export const newFile = async <T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> => {
  const file = await open(path, 'wx', 0o600);
  try {
    return await write(file).finally(() => file.close());
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
};
