import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { absentAsUndefined, codeOf } from '../../domain/kernel/json.ts';
import { ok, problem, warning, type Verdict } from './check.ts';

const MIB = 1024 * 1024;
const FREE_LITTLE_BYTES = 1024 * MIB;
const FREE_TOO_LITTLE_BYTES = 100 * MIB;
const OTHERS = 0o077;

/** `f_type` of file systems over a network, on which the locks of SQLite do not hold. */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
]);

/** The folder itself, or the nearest one above it that is there. */
const nearest = async (folder: string): Promise<string> => {
  if ((await absentAsUndefined(stat(folder))) !== undefined) return folder;
  const parent = dirname(folder);
  return parent === folder ? folder : nearest(parent);
};

const mayWrite = async (folder: string): Promise<string | undefined> => {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
};

const whoHas = (owner: number): string => {
  const self = process.getuid?.();
  return self === undefined || self === owner ? '' : `, which belongs to user ${String(owner)}`;
};

const notWritable = (folder: string, code: string): Verdict =>
  problem(
    code === 'EROFS'
      ? `${folder} is mounted for reading only: mount it for writing, or set DATA_DIR to another folder.`
      : `${folder} cannot be written to by this user (${code}): give it the folder (chown), or ` +
          'set DATA_DIR to another one.',
  );

/** The folder, and who may look into it. */
export const dataFolderVerdict = async (dataDir: string): Promise<Verdict> => {
  const found = await absentAsUndefined(stat(dataDir));
  if (found === undefined) {
    const parent = await nearest(dataDir);
    const code = await mayWrite(parent);
    return code === undefined
      ? ok(`${dataDir} is not there yet: the first start makes it.`)
      : notWritable(parent, code);
  }
  if (!found.isDirectory()) return problem(`${dataDir} is no folder: set DATA_DIR to one.`);
  const code = await mayWrite(dataDir);
  if (code !== undefined) return notWritable(`${dataDir}${whoHas(found.uid)},`, code);
  if (whoHas(found.uid) !== '')
    return warning(
      `${dataDir} can be written to by this user${whoHas(found.uid)}: start service and commands as that user.`,
    );
  return (found.mode & OTHERS) === 0
    ? ok(dataDir)
    : warning(
        `${dataDir} can be entered by other users (mode ${(found.mode & 0o777).toString(8)}): ` +
          `chmod 700 ${dataDir}, because it holds documents and secrets.`,
      );
};

/** What a disk has left, and what that means. */
export const freeSpaceVerdict = (folder: string, freeBytes: number): Verdict => {
  const shown = `${(freeBytes / MIB).toLocaleString('en-US', { maximumFractionDigits: 0 })} MiB are free`;
  if (freeBytes < FREE_TOO_LITTLE_BYTES)
    return problem(
      `Only ${shown} for ${folder}: make room now. A log on a full disk takes no command until there is room.`,
    );
  return freeBytes < FREE_LITTLE_BYTES
    ? warning(`Only ${shown} for ${folder}: make room soon.`)
    : ok(`${shown} for ${folder}`);
};

export const diskVerdict = async (dataDir: string): Promise<Verdict> => {
  const folder = await nearest(dataDir);
  const { bavail, bsize, type } = await statfs(folder);
  const network = NETWORK.get(type);
  if (network !== undefined)
    return problem(
      `${folder} is on ${network}, where the locks of the embedded event log do not work: set ` +
        'DATA_DIR to a folder on a disk of this machine.',
    );
  return freeSpaceVerdict(folder, bavail * bsize);
};
