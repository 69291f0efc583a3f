import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { FileDrop } from '../../ui/fileDrop.tsx';
import { api } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { keptRun, type KeptRun } from '../../document/keptRun.ts';
import { useReading, VALUES } from '../../document/reading.ts';
import { useAddressValues } from '../../ui/go.tsx';
import { draftOf, isUnderWay, schemaOf } from './kept.ts';
import invoiceUrl from './samples/invoice.pdf?url';
import twoPagesUrl from './samples/invoice-2-pages.pdf?url';
import { ForTenant } from '../../ui/forTenant.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
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

/** A document that was given, and the run that it is of. */
interface Given {
  readonly file: File;
  readonly kept?: KeptRun | undefined;
  /** Told apart from others: a document that is given anew begins anew. */
  readonly id: string;
}

/** While work goes on, it is asked for again after so many milliseconds. */
const AGAIN_MS = 1_500;

/** What the address names, from the service; nothing where it was given here. */
const useNamed = (run: string | undefined, isGiven: boolean) =>
  useQuery({
    queryKey: ['keptRun', run],
    queryFn: ({ signal }) => keptRun(run ?? '', signal),
    enabled: run !== undefined && !isGiven,
    staleTime: Infinity,
    refetchInterval: ({ state }) => (isUnderWay(state.data?.run) ? AGAIN_MS : false),
  });

const givenOf = (named: KeptRun): Given => ({ file: named.file, kept: named, id: named.run.run_id });

type Draft = ReturnType<typeof draftOf>;

/** The schema that one begins with: as it was left, as it was run, or a template. */
const firstSchema = (draft: Draft, kept: KeptRun | undefined): string =>
  draft?.schema ?? (kept && schemaOf(kept.run)) ?? templateText('invoice');

function Playground() {
  const [{ run }, keep] = useAddressValues(['run']);
  const [own, give] = useState<Given>();
  const [fault, keepFault] = useState<unknown>();
  const [schemaText, write] = useState<string>();
  const tenant_id = useTenantId();
  const named = useNamed(run, own !== undefined);
  const told = { run: (id: string) => keep({ run: id }) };
  const values = useReading(VALUES, told);
  const begin = (file: File): void => give({ file, id: crypto.randomUUID() });
  /** Where its pages are free it is read at once; else one sees first what it costs. */
  const takeSample = async (sample: Sample): Promise<void> => {
    const { pages } = sample;
    const query = { operation: 'extract', billing_type: 'full_service', pages, tenant_id } as const;
    const [file, quote] = await Promise.all([loadSample(sample), api.getQuote({ query })]);
    const schema = schemaText ?? templateText('invoice');
    if (quote.credits === 0) values.reading.mutate({ file, schema, pages, tenant_id });
    begin(file);
  };
  const given = own ?? (named.data && givenOf(named.data));
  if (given === undefined) {
    if (run !== undefined && named.error === null) return <Skeleton lines={8} />;
    return (
      <div className="flex flex-col gap-4">
        <ProblemNote error={fault ?? named.error} />
        <DropZone onFile={begin} onSample={(sample) => void takeSample(sample).catch(keepFault)} />
      </div>
    );
  }
  const draft = draftOf(tenant_id, given.kept?.run.run_id);
  const first = firstSchema(draft, given.kept);
  return (
    <Workbench
      key={given.id}
      file={given.file}
      kept={given.kept}
      run={run}
      corrections={draft?.corrections}
      schemaText={schemaText ?? first}
      values={values}
      told={told}
      onSchema={write}
      onOther={() => {
        values.stop();
        give(undefined);
        write(schemaText ?? first);
        keepFault(undefined);
        keep({ run: undefined });
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
