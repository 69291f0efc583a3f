import { useRef, useState, type ReactNode } from 'react';
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
  /** Below the button. */
  readonly children?: ReactNode;
}

/** Where a file is dropped or chosen. */
export function FileDrop({ title, say, choose, accept, onFile, children }: FileDropProps) {
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
        const [file] = event.dataTransfer.files;
        if (file !== undefined) onFile(file);
      }}
    >
      <FileUp aria-hidden className="size-8 text-soft" />
      <p className="text-base font-medium">{title}</p>
      <p className="max-w-prose text-soft">{say}</p>
      <input
        ref={input}
        type="file"
        accept={accept}
        className="sr-only"
        tabIndex={-1}
        aria-label={choose}
        onChange={({ target }) => {
          const file = target.files?.[0];
          if (file !== undefined) onFile(file);
        }}
      />
      <Button look="primary" onClick={() => input.current?.click()}>
        {choose}
      </Button>
      {children}
    </div>
  );
}
