import { useState } from 'react';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { FileDrop } from '../../ui/fileDrop.tsx';
import { api } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { useReading, VALUES } from '../../document/reading.ts';
import invoiceUrl from './samples/invoice.pdf?url';
import twoPagesUrl from './samples/invoice-2-pages.pdf?url';
import { ForTenant } from '../../ui/forTenant.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { templateText } from '../../document/values.ts';
import { Workbench } from './workbench.tsx';

const { drop: dropTexts } = playground;

interface Sample {
  readonly name: string;
  readonly file: string;
  readonly url: string;
  readonly pages: number;
}

const SAMPLES: readonly Sample[] = [
  { name: dropTexts.sample.invoice, file: 'invoice.pdf', url: invoiceUrl, pages: 1 },
  { name: dropTexts.sample.twoPages, file: 'invoice-2-pages.pdf', url: twoPagesUrl, pages: 2 },
];

interface DropZoneProps {
  readonly onFile: (file: File) => void;
  readonly onSample: (sample: Sample) => void;
}

/** A sample is a file of the console itself. */
const loadSample = async ({ url, file }: Sample): Promise<File> => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${file}: ${String(answer.status)}`);
  return new File([await answer.blob()], file, { type: 'application/pdf' });
};

/** Where a document is dropped, chosen, or taken from the samples. */
function DropZone({ onFile, onSample }: DropZoneProps) {
  return (
    <FileDrop title={dropTexts.title} say={dropTexts.say} choose={dropTexts.choose} onFile={onFile}>
      <p className="mt-4 text-soft">{dropTexts.samples}</p>
      <div className="flex flex-wrap justify-center gap-2">
        {SAMPLES.map((sample) => (
          <Button key={sample.file} onClick={() => onSample(sample)}>
            {sample.name}
          </Button>
        ))}
      </div>
    </FileDrop>
  );
}

function Playground() {
  const [given, give] = useState<File>();
  const [fault, keep] = useState<unknown>();
  const [schemaText, write] = useState(() => templateText('invoice'));
  const tenant_id = useTenantId();
  const values = useReading(VALUES);
  /** Where its pages are free it is read at once; else one sees first what it costs. */
  const takeSample = async (sample: Sample): Promise<void> => {
    const { pages } = sample;
    const query = { operation: 'extract', billing_type: 'full_service', pages, tenant_id } as const;
    const [file, quote] = await Promise.all([loadSample(sample), api.getQuote({ query })]);
    if (quote.credits === 0) values.reading.mutate({ file, schema: schemaText, pages, tenant_id });
    give(file);
  };
  if (given === undefined)
    return (
      <div className="flex flex-col gap-4">
        <ProblemNote error={fault} />
        <DropZone onFile={give} onSample={(sample) => void takeSample(sample).catch(keep)} />
      </div>
    );
  return (
    <Workbench
      file={given}
      schemaText={schemaText}
      values={values}
      onSchema={write}
      onOther={() => {
        values.stop();
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
