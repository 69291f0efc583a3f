import { useState } from 'react';
import { toast } from 'sonner';
import { XLSX } from '../api/connection.ts';
import { shell } from '../texts/shell.ts';
import { Download as DownloadIcon } from './icons/icons.tsx';
import { Button } from './button.tsx';
import { rowsIn, saveFile } from './csv.ts';
import { ProblemNote } from './states.tsx';

/** A file that can be kept. */
export interface FileToSave {
  /** Name of the file, with its ending. */
  readonly file: string;
  /** Makes it, or has the service write it. */
  readonly load: () => Promise<string | Blob> | string;
}

const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  json: 'application/json',
  md: 'text/markdown',
  txt: 'text/plain',
  xlsx: XLSX,
};

const save = async ({ file, load }: FileToSave): Promise<void> => {
  const content = await load();
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/pdf';
  saveFile(file, content, type);
  if (type !== 'text/csv') return;
  toast.success(shell.saved(file, await rowsIn(new Blob([content]))));
};

/** Saves files, one at a time, and says how many rows a table has. */
export const useSaving = () => {
  const [busy, setBusy] = useState<string>();
  const [error, setError] = useState<unknown>(null);
  const start = async (wanted: FileToSave): Promise<void> => {
    setBusy(wanted.file);
    setError(null);
    try {
      await save(wanted);
    } catch (fault) {
      setError(fault);
    } finally {
      setBusy(undefined);
    }
  };
  return { busy, error, save: (wanted: FileToSave) => void start(wanted) };
};

/** A file and the words on its button. */
export interface NamedFile extends FileToSave {
  readonly name: string;
}

/** A button for each of some files. */
export function Downloads({ files }: { files: readonly NamedFile[] }) {
  const saving = useSaving();
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        {files.map((one) => (
          <Button
            key={one.file}
            isBusy={saving.busy === one.file}
            disabled={saving.busy !== undefined}
            onClick={() => saving.save(one)}
          >
            <DownloadIcon aria-hidden className="size-4" />
            {one.name}
          </Button>
        ))}
      </div>
      <ProblemNote error={saving.error} />
    </div>
  );
}
