import { FileUp } from '../../ui/icons/icons.tsx';
import { useRef, useState } from 'react';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import invoiceUrl from './samples/invoice.pdf?url';
import twoPagesUrl from './samples/invoice-2-pages.pdf?url';

const { drop: texts } = playground;

const SAMPLES = [
  { name: texts.sample.invoice, file: 'invoice.pdf', url: invoiceUrl },
  { name: texts.sample.twoPages, file: 'invoice-2-pages.pdf', url: twoPagesUrl },
];

interface DropZoneProps {
  readonly onFile: (file: File) => void;
  readonly onFault: (error: unknown) => void;
}

/** A sample is a file of the console itself. */
const loadSample = async (url: string, name: string): Promise<File> => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${name}: ${String(answer.status)}`);
  return new File([await answer.blob()], name, { type: 'application/pdf' });
};

/** Where a document is dropped, chosen, or taken from the samples. */
export function DropZone({ onFile, onFault }: DropZoneProps) {
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
      <p className="text-base font-medium">{texts.title}</p>
      <p className="max-w-prose text-soft">{texts.say}</p>
      <input
        ref={input}
        type="file"
        className="sr-only"
        tabIndex={-1}
        aria-label={texts.choose}
        onChange={({ target }) => {
          const file = target.files?.[0];
          if (file !== undefined) onFile(file);
        }}
      />
      <Button look="primary" onClick={() => input.current?.click()}>
        {texts.choose}
      </Button>
      <p className="mt-4 text-soft">{texts.samples}</p>
      <div className="flex flex-wrap justify-center gap-2">
        {SAMPLES.map(({ name, file, url }) => (
          <Button key={file} onClick={() => void loadSample(url, file).then(onFile, onFault)}>
            {name}
          </Button>
        ))}
      </div>
    </div>
  );
}
