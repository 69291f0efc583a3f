import { FileUp } from '../../ui/icons/icons.tsx';
import { useRef, useState } from 'react';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/style.ts';
import invoiceUrl from './samples/invoice.pdf?url';
import twoPagesUrl from './samples/invoice-2-pages.pdf?url';
import { ForTenant } from '../../ui/forTenant.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { templateText } from './values.ts';
import { Workbench } from './workbench.tsx';

const { drop: dropTexts } = playground;

const SAMPLES = [
  { name: dropTexts.sample.invoice, file: 'invoice.pdf', url: invoiceUrl },
  { name: dropTexts.sample.twoPages, file: 'invoice-2-pages.pdf', url: twoPagesUrl },
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
function DropZone({ onFile, onFault }: DropZoneProps) {
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
      <p className="text-base font-medium">{dropTexts.title}</p>
      <p className="max-w-prose text-soft">{dropTexts.say}</p>
      <input
        ref={input}
        type="file"
        className="sr-only"
        tabIndex={-1}
        aria-label={dropTexts.choose}
        onChange={({ target }) => {
          const file = target.files?.[0];
          if (file !== undefined) onFile(file);
        }}
      />
      <Button look="primary" onClick={() => input.current?.click()}>
        {dropTexts.choose}
      </Button>
      <p className="mt-4 text-soft">{dropTexts.samples}</p>
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

function Playground() {
  const [given, give] = useState<File>();
  const [fault, keep] = useState<unknown>();
  const [schemaText, write] = useState(() => templateText('invoice'));
  if (given === undefined)
    return (
      <div className="flex flex-col gap-4">
        <ProblemNote error={fault} />
        <DropZone onFile={give} onFault={keep} />
      </div>
    );
  return (
    <Workbench
      file={given}
      schemaText={schemaText}
      onSchema={write}
      onOther={() => {
        give(undefined);
        keep(undefined);
      }}
    />
  );
}

/** A document, what is to be read from it, and what was read. */
export default function PlaygroundPage() {
  return (
    <>
      <PageHeader title={playground.title} say={playground.say} />
      <ForTenant>
        <Playground />
      </ForTenant>
    </>
  );
}
