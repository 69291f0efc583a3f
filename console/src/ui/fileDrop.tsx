import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { FileUp } from './icons/icons.tsx';
import { classes } from './style.ts';

interface FileDropProps {
  readonly title: string;
  readonly say: string;
  /** On the button. */
  readonly choose: string;
  /** Kinds of files that the browser offers first, as `.csv`. */
  readonly accept?: string;
  readonly onFile: (file: File) => void;
  /** On the button that chooses a folder; left out with `onFiles`, there is none. */
  readonly folder?: string;
  /** Told all files, those of folders too; left out: the first one counts. */
  readonly onFiles?: (files: readonly File[]) => void;
  /** Below the button. */
  readonly children?: ReactNode;
}

const readBatch = (reader: FileSystemDirectoryReader): Promise<readonly FileSystemEntry[]> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject));

/** The files of an entry; those of a folder with all below it, without what systems hide there. */
const filesIn = async (entry: FileSystemEntry): Promise<readonly File[]> => {
  if (entry.name.startsWith('.')) return [];
  if (entry.isFile)
    return [
      await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)),
    ];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const files: File[] = [];
  for (let some = await readBatch(reader); some.length > 0; some = await readBatch(reader))
    for (const one of some) files.push(...(await filesIn(one)));
  return files;
};

const droppedIn = async ({ items, files }: DataTransfer): Promise<readonly File[]> => {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return [...files];
  return (await Promise.all(entries.map(filesIn))).flat();
};

/** Chooses a folder. */
function FolderInput({ label, onFiles }: { label: string; onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // React has no attribute of this name
    if (input.current !== null) input.current.webkitdirectory = true;
  }, []);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        className="sr-only"
        tabIndex={-1}
        aria-label={label}
        onChange={({ target }) => onFiles([...(target.files ?? [])])}
      />
      <Button onClick={() => input.current?.click()}>{label}</Button>
    </>
  );
}

/** Where a file is dropped or chosen, or where many are. */
export function FileDrop({ title, say, choose, accept, onFile, folder, onFiles, children }: FileDropProps) {
  const take = (files: readonly File[]): void => {
    const [first] = files;
    if (first === undefined) return;
    if (onFiles === undefined) onFile(first);
    else onFiles(files);
  };
  const input = useRef<HTMLInputElement>(null);
  const [isOver, mark] = useState(false);
  return (
    <div
      className={classes(
        'flex flex-col items-center gap-3 rounded-lg border-2 border-dashed px-4 py-16 text-center',
        isOver ? 'border-accent bg-accent-soft' : 'border-line',
      )}
      onDragOver={(event) => {
        event.preventDefault();
        mark(true);
      }}
      onDragLeave={() => mark(false)}
      onDrop={(event) => {
        event.preventDefault();
        mark(false);
        void droppedIn(event.dataTransfer).then(take);
      }}
    >
      <FileUp aria-hidden className="size-8 text-soft" />
      <p className="text-base font-medium">{title}</p>
      <p className="max-w-prose text-soft">{say}</p>
      <input
        ref={input}
        type="file"
        accept={accept}
        multiple={onFiles !== undefined}
        className="sr-only"
        tabIndex={-1}
        aria-label={choose}
        onChange={({ target }) => take([...(target.files ?? [])])}
      />
      <Button look="primary" onClick={() => input.current?.click()}>
        {choose}
      </Button>
      {folder !== undefined && <FolderInput label={folder} onFiles={take} />}
      {children}
    </div>
  );
}
