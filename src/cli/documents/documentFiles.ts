import { access, constants, readdir, stat } from 'node:fs/promises';
import { basename, extname, join, posix, relative, resolve, sep } from 'node:path';
import { OperatorError } from '../../operator/protocol.ts';

/** A document that was asked for. */
export interface DocumentFile {
  /** As it is opened, and as answers and messages name it. */
  readonly path: string;
  /** Where it lies below the folder that was given, with `/`; its own name when it was given itself. */
  readonly below: string;
  readonly bytes: number;
}

/** Which files of a folder are documents. A file that is named itself is read whatever it is called. */
const EXTENSIONS = new Set(
  'pdf png jpg jpeg webp gif bmp tif tiff docx doc odt rtf xlsx xls ods csv tsv eml html htm md markdown txt'
    .split(' ')
    .map((extension) => `.${extension}`),
);

const byCode = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Hidden files and the lock files of office programs are no documents. */
const isDocument = (name: string): boolean =>
  !name.startsWith('.') && !name.startsWith('~$') && EXTENSIONS.has(extname(name).toLowerCase());

const readable = async (path: string): Promise<void> => {
  await access(path, constants.R_OK).catch(() => {
    throw new OperatorError(`${path}: it may not be read.`, 2);
  });
};

/** Linked files are followed, linked folders are not: they may lead back. */
const filesIn = async (folder: string, top: string): Promise<readonly DocumentFile[]> => {
  await readable(folder);
  const found: DocumentFile[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => byCode(a.name, b.name))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.')) found.push(...(await filesIn(path, top)));
    if (entry.isDirectory() || !isDocument(entry.name)) continue;
    const target = await stat(path).catch(() => undefined);
    if (target?.isFile() !== true) continue;
    found.push({ path, below: relative(top, path).split(sep).join('/'), bytes: target.size });
  }
  return found;
};

const documentsAt = async (path: string): Promise<readonly DocumentFile[]> => {
  const target = await stat(path).catch(() => undefined);
  if (target === undefined) throw new OperatorError(`${path}: there is no such file or folder.`, 2);
  if (target.isDirectory()) {
    const files = await filesIn(path, path);
    if (files.length === 0)
      throw new OperatorError(`${path}: no document is in this folder. Name a file to read it anyway.`, 2);
    return files;
  }
  if (!target.isFile()) throw new OperatorError(`${path}: it is neither a file nor a folder.`, 2);
  await readable(path);
  return [{ path, below: basename(path), bytes: target.size }];
};

/**
 * The documents at the given paths, each once: in the order given, those of a folder and of the folders
 * in it by name. Throws OperatorError for a path that leads nowhere.
 */
export const documentFiles = async (paths: readonly string[]): Promise<readonly DocumentFile[]> => {
  const files = new Map<string, DocumentFile>();
  for (const path of paths)
    for (const file of await documentsAt(path)) {
      const place = resolve(file.path);
      if (!files.has(place)) files.set(place, file);
    }
  return [...files.values()];
};

const withoutExtension = (name: string): string => name.slice(0, name.length - posix.extname(name).length);

/** Some file systems see no difference between `A` and `a`. */
const clashes = (names: readonly string[]): ReadonlySet<string> => {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const name of names.map((one) => one.toLowerCase())) (seen.has(name) ? twice : seen).add(name);
  return twice;
};

/**
 * A name for the answer to each document, below the folder for answers: `a/x.pdf` gives `a/x.md`. Where
 * two would be the same they keep their extension (`a/x.pdf.md`), and then they are numbered.
 */
export const answerNames = (files: readonly DocumentFile[], extension: string): readonly string[] => {
  const short = files.map(({ below }) => `${withoutExtension(below)}${extension}`);
  const twice = clashes(short);
  const full = files.map(({ below }, at) => {
    const name = short[at] ?? below;
    return twice.has(name.toLowerCase()) ? `${below}${extension}` : name;
  });
  const taken = new Set<string>();
  return full.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free.toLowerCase()); n += 1)
      free = `${withoutExtension(name)}-${String(n)}${extension}`;
    taken.add(free.toLowerCase());
    return free;
  });
};
