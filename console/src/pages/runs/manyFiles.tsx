import type { Batch, BatchResult, Run } from '@quire/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, quire, useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { sendUpload } from '../../api/uploads.ts';
import { playground } from '../../texts/playground.ts';
import { runs } from '../../texts/runs.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { JsonEditor } from '../../ui/editor.tsx';
import { FileDrop } from '../../ui/fileDrop.tsx';
import { useAddressValues } from '../../ui/go.tsx';
import { Select } from '../../ui/select.tsx';
import { ProblemNote, ProgressBar } from '../../ui/states.tsx';
import { ModelText, ModePicker, optionsOf, type Mode, type RunOptions } from '../../document/runOptions.tsx';
import { readSchema, TEMPLATE_NAMES, templateText } from '../../document/values.ts';
import { BatchTable, nameOf, type Names, useBatchLines, useFailedNames } from './batchTable.tsx';

const texts = runs.files;

/** Files that are sent at once. */
const AT_ONCE = 3;
/** Documents that one call counts. */
const COUNT_MAX = 100;

/** A file that the service has. */
interface SentFile {
  readonly name: string;
  readonly file_uri: string;
  readonly document_id: string;
}

/** The names of a batch's files, in this browser session: the service lists a document once it was read. */
const keepNames = (sent: readonly SentFile[]): void => {
  for (const { document_id, name } of sent) sessionStorage.setItem(`quire.name.${document_id}`, name);
};

/** Sends all, some at once; what cannot be sent ends it. */
const sendAll = async (
  files: readonly File[],
  tenant_id: string,
  onSent: (done: number) => void,
): Promise<readonly SentFile[]> => {
  const sent: (SentFile | undefined)[] = files.map(() => undefined);
  let [next, done] = [0, 0];
  const work = async (): Promise<void> => {
    for (let at = next++; at < files.length; at = next++) {
      const file = files[at];
      if (file === undefined) return;
      const { file_uri, document_id } = await sendUpload(file, { tenant_id });
      sent[at] = { name: file.webkitRelativePath || file.name, file_uri, document_id };
      onSent((done += 1));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return sent.filter((one) => one !== undefined);
};

/** What a batch would read, and what it cannot. */
interface Counted {
  readonly readable: readonly SentFile[];
  readonly pages: number;
  readonly unreadable: readonly SentFile[];
}

const countAll = async (sent: readonly SentFile[]): Promise<Counted> => {
  const found = new Map<string, number>();
  for (let from = 0; from < sent.length; from += COUNT_MAX) {
    const documents = sent.slice(from, from + COUNT_MAX).map(({ document_id }) => ({ document_id }));
    const { items } = await api.countPages({ body: { documents } });
    for (const { document_id, status, pages } of items)
      if (status === 'ok' && document_id !== null) found.set(document_id, pages ?? 0);
  }
  const isReadable = ({ document_id }: SentFile): boolean => found.has(document_id);
  return {
    readable: sent.filter(isReadable),
    unreadable: sent.filter((one) => !isReadable(one)),
    pages: [...found.values()].reduce((sum, pages) => sum + pages, 0),
  };
};

/** What the documents are read by, a template, a config, or a schema that one writes; and how. */
interface By extends Pick<RunOptions, 'mode' | 'model'> {
  readonly choice: string;
  readonly schema: string;
}

const CONFIG = 'config ';
/** As an earlier batch was read. */
const SAME = 'same';

const keyOf = (batchId: string): string => `quire.by.${batchId}`;

/** How a batch is read, in this browser session: the service tells it with the results alone. */
const keepBy = (batchId: string, by: By): void => sessionStorage.setItem(keyOf(batchId), JSON.stringify(by));

/** How a document of a batch was read, by its request or, where none is kept, by its run. */
const byOfRun = ({ request, ...run }: Run): By | undefined => {
  const { config, ...how } = optionsOf(request ?? run);
  if (config !== '') return { ...how, choice: `${CONFIG}${config}`, schema: '' };
  const schema = request?.['schema'];
  if (typeof schema !== 'object' || schema === null) return undefined;
  return { ...how, choice: SAME, schema: JSON.stringify(schema, undefined, 2) };
};

/**
 * How a batch was read: as it was begun here, or as one of its documents tells; undefined: nobody knows any more. A
 * document with a result tells all, one that failed its config and mode.
 */
const byOf = async (batchId: string, lines: readonly BatchResult[]): Promise<By | undefined> => {
  const kept = sessionStorage.getItem(keyOf(batchId));
  if (kept !== null) return { ...FIRST, ...(JSON.parse(kept) as By) };
  const begun = lines.filter(({ operation_id }) => operation_id !== null);
  const run_id = (begun.find(({ result }) => result !== null) ?? begun[0])?.operation_id;
  return run_id == null ? undefined : byOfRun(await api.getRun({ path: { run_id } }));
};

const fieldsOf = ({ choice, schema, mode, model }: By) => ({
  ...(choice.startsWith(CONFIG)
    ? { config_id: choice.slice(CONFIG.length) }
    : { schema: JSON.parse(schema) as Record<string, unknown> }),
  mode,
  ...(model === '' ? {} : { llm: { provider_model: model } }),
});

function ReadBy({ by, onChange }: { by: By; onChange: (by: By) => void }) {
  const tenant_id = useTenantId();
  const configs = useRead('listConfigs', { query: { tenant_id } }).data?.items ?? [];
  const templates = TEMPLATE_NAMES.map((value) => ({ value, name: playground.schema.templates[value] }));
  const same = by.choice === SAME ? [{ value: SAME, name: texts.same }] : [];
  const saved = configs.map(({ config_id, name }) => ({
    value: `${CONFIG}${config_id}`,
    name: name ?? config_id,
  }));
  const choose = (choice: string): void => {
    const template = TEMPLATE_NAMES.find((name) => name === choice);
    const mode = configs.find(({ config_id }) => choice === `${CONFIG}${config_id}`)?.mode ?? by.mode;
    onChange({ ...by, choice, mode, schema: template === undefined ? by.schema : templateText(template) });
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="w-56">
          <Select
            label={texts.by}
            choices={[...same, ...templates, ...saved]}
            value={by.choice}
            onChange={choose}
          />
        </span>
        <ModePicker mode={by.mode} onChange={(mode) => onChange({ ...by, mode })} />
        <ModelText model={by.model} onChange={(model) => onChange({ ...by, model })} />
      </div>
      {!by.choice.startsWith(CONFIG) && (
        <JsonEditor
          label={texts.schema}
          value={by.schema}
          onChange={(schema) => onChange({ ...by, schema })}
        />
      )}
    </div>
  );
}

function Price({ pages, mode: extraction_mode }: { pages: number; mode: Mode }) {
  const tenant_id = useTenantId();
  const query = { operation: 'extract', billing_type: 'full_service', pages, tenant_id } as const;
  const { data } = useRead('getQuote', { query: { ...query, extraction_mode } });
  if (data === undefined) return null;
  return (
    <p className="text-soft">
      {texts.price(data.credits, pages)}
      {!data.sufficient && <span className="text-bad"> {texts.short}</span>}
    </p>
  );
}

/** Files to send, or documents that the service has and how they were read before. */
type Wanted =
  | { readonly files: readonly File[] }
  | { readonly sent: readonly SentFile[]; readonly by: By | undefined };

interface StartProps {
  readonly wanted: Wanted;
  readonly onStart: (batchId: string) => void;
}

const FIRST: By = { ...optionsOf(undefined), choice: 'invoice', schema: templateText('invoice') };

const countOf = (wanted: Wanted): number => ('sent' in wanted ? wanted.sent.length : wanted.files.length);

/** Sends what was not sent yet, and counts the pages of all. */
const useReady = (wanted: Wanted, key: string) => {
  const tenant_id = useTenantId();
  const [sent, tell] = useState(0);
  const ready = useQuery({
    queryKey: ['manyFiles', key],
    queryFn: async () => {
      const all = 'sent' in wanted ? wanted.sent : await sendAll(wanted.files, tenant_id, tell);
      keepNames(all);
      return countAll(all);
    },
    staleTime: Infinity,
  });
  return { ...ready, sent };
};

/** How far the files are sent; then what they cost, and which cannot be read. */
function Ready({ wanted, ready, mode }: { wanted: Wanted; ready: ReturnType<typeof useReady>; mode: Mode }) {
  const { data, error, sent } = ready;
  const count = countOf(wanted);
  return (
    <Card title={'sent' in wanted ? texts.failedOnes(count) : texts.chosen(count)}>
      {data === undefined && error === null && (
        <span role="status" className="flex items-center gap-2">
          <ProgressBar label={texts.title} value={sent} max={count} />
          {texts.sent(sent, count)}
        </span>
      )}
      <ProblemNote error={error} onRetry={() => void ready.refetch()} />
      {data !== undefined && (
        <div className="flex flex-col gap-1">
          <Price pages={data.pages} mode={mode} />
          {data.unreadable.length > 0 && (
            <p role="alert" className="text-warn">
              {texts.unreadable(data.unreadable.length)} {data.unreadable.map(({ name }) => name).join(', ')}
            </p>
          )}
        </div>
      )}
    </Card>
  );
}

/** Sends the files, says what they cost, and begins their batch. */
function Start({ wanted, onStart }: StartProps) {
  const tenant_id = useTenantId();
  const [by, choose] = useState<By>(('sent' in wanted ? wanted.by : undefined) ?? FIRST);
  const [fault, keepFault] = useState<unknown>(null);
  const key = useRef(crypto.randomUUID());
  const ready = useReady(wanted, key.current);
  const file_uris = (ready.data?.readable ?? []).map(({ file_uri }) => file_uri);
  const begin = async (): Promise<void> => {
    const body = { tenant_id, file_uris, allow_partial: true, ...fieldsOf(by) };
    const { batch_id } = await api.createBatch({ body }, { idempotencyKey: key.current });
    keepBy(batch_id, by);
    onStart(batch_id);
  };
  const isGood = by.choice.startsWith(CONFIG) || readSchema(by.schema).schema !== undefined;
  return (
    <div className="flex flex-col gap-4">
      <Ready wanted={wanted} ready={ready} mode={by.mode} />
      <Card title={texts.by}>
        <ReadBy by={by} onChange={choose} />
      </Card>
      <ProblemNote error={fault} />
      <Button
        look="primary"
        className="self-start"
        disabled={!isGood || file_uris.length === 0}
        onClick={() => void begin().catch(keepFault)}
      >
        {texts.run}
      </Button>
    </div>
  );
}

const AGAIN_MS = 1_500;
const OPEN = new Set(['queued', 'running', 'cancelling']);

interface BatchProps {
  readonly batchId: string;
  readonly onOther: () => void;
  readonly onAgain: (wanted: Wanted) => void;
}

/** Begins a batch of the documents that failed; those whose file is gone are left out when they are counted. */
function RunFailedAgain({
  batchId,
  lines,
  names,
  onAgain,
}: Pick<BatchProps, 'batchId' | 'onAgain'> & {
  readonly lines: readonly BatchResult[];
  readonly names: Names;
}) {
  const again = useMutation({
    mutationFn: () => byOf(batchId, lines),
    onSuccess: (by) =>
      onAgain({
        by,
        sent: lines.flatMap((line) => {
          const { status, document_id, file_uri } = line;
          return status !== 'failed' || document_id === null
            ? []
            : [{ document_id, file_uri, name: nameOf(line, names) }];
        }),
      }),
  });
  return (
    <>
      <Button size="small" isBusy={again.isPending} onClick={() => again.mutate()}>
        {texts.retry}
      </Button>
      <ProblemNote error={again.error} />
    </>
  );
}

const endedIn = ({ succeeded, partial, failed, cancelled }: Batch['documents']): number =>
  succeeded + partial + failed + cancelled;

/** How far a batch is, and what one does next. */
function Progress({
  counts,
  ...props
}: BatchProps & {
  readonly counts: Batch['documents'];
  readonly lines: readonly BatchResult[] | undefined;
  readonly names: Names;
}) {
  const { batchId, lines, names, onAgain, onOther } = props;
  const ended = endedIn(counts);
  return (
    <div className="flex flex-wrap items-center gap-3" role="status">
      <ProgressBar label={texts.title} value={ended} max={counts.total} />
      <span>{texts.done(ended, counts.total)}</span>
      {counts.failed > 0 && <span className="text-bad">{texts.failed(counts.failed)}</span>}
      {counts.failed > 0 && ended === counts.total && lines !== undefined && (
        <RunFailedAgain batchId={batchId} lines={lines} names={names} onAgain={onAgain} />
      )}
      <Button size="small" onClick={onOther}>
        {texts.more}
      </Button>
    </div>
  );
}

/** A batch: how far it is, and one table of all that came of it. */
function BatchView(props: BatchProps) {
  const { batchId } = props;
  const batch = useQuery({
    queryKey: ['getBatch', batchId],
    queryFn: ({ signal }) => quire.api.getBatch({ path: { batch_id: batchId } }, { signal }),
    refetchInterval: ({ state }) => (OPEN.has(state.data?.status ?? 'queued') ? AGAIN_MS : false),
  });
  const { data } = batch;
  const counts = data?.documents;
  const lines = useBatchLines(batchId, counts === undefined ? 0 : endedIn(counts));
  const names = useFailedNames(data && { since: data.accepted_at, count: data.documents.failed });
  return (
    <div className="flex flex-col gap-4">
      <ProblemNote error={batch.error ?? lines.error} onRetry={() => void batch.refetch()} />
      {counts !== undefined && <Progress {...props} counts={counts} lines={lines.data} names={names} />}
      <BatchTable batchId={batchId} lines={lines.data} names={names} />
    </div>
  );
}

/** Many files at once: dropped, sent, read as a batch, and one table of all results. */
export function ManyFiles() {
  const [{ batch }, keep] = useAddressValues(['batch']);
  const [wanted, give] = useState<Wanted>();
  if (batch !== undefined)
    return (
      <BatchView
        key={batch}
        batchId={batch}
        onOther={() => {
          give(undefined);
          keep({ batch: undefined });
        }}
        onAgain={(next) => {
          give(next);
          keep({ batch: undefined });
        }}
      />
    );
  if (wanted !== undefined) return <Start wanted={wanted} onStart={(id) => keep({ batch: id })} />;
  return (
    <FileDrop
      title={texts.drop}
      say={texts.dropSay}
      choose={texts.choose}
      folder={texts.folder}
      onFile={(file) => give({ files: [file] })}
      onFiles={(files) => give({ files })}
    />
  );
}
