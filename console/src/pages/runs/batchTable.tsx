import type { BatchResult } from '@quire/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { fileAt, quire, XLSX } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { runs } from '../../texts/runs.ts';
import { statusName } from '../../texts/shell.ts';
import { Downloads } from '../../ui/download.tsx';
import { Go } from '../../ui/go.tsx';
import { Skeleton, Status } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { cellsOf, tableOf } from '../../document/files.ts';

const texts = runs.files;

const allLines = async (batchId: string, signal: AbortSignal): Promise<readonly BatchResult[]> => {
  const lines: BatchResult[] = [];
  for await (const line of quire.batches.results(batchId, { signal })) lines.push(line);
  return lines;
};

/** What became of each document, read again as soon as more have ended. */
export const useBatchLines = (batchId: string, ended: number) =>
  useQuery({
    queryKey: ['batchLines', batchId, ended],
    queryFn: ({ signal }) => allLines(batchId, signal),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });

const metaOf = ({ result }: BatchResult): Readonly<Record<string, unknown>> =>
  (result?.['meta'] ?? {}) as Readonly<Record<string, unknown>>;

/** Names of files by the IDs of their documents. */
export type Names = ReadonlyMap<string, string>;

/** Runs whose names are looked up at once. */
const NAMES_MAX = 200;

/** The list of runs follows what fails; after so many looks a document without a run is taken to have none. */
const AGAIN_MS = 1_500;
const LOOKS_MAX = 40;

interface Failed {
  readonly since: string;
  readonly count: number;
}

/** Names of documents that failed since a batch was accepted, as a result would say them. */
export const useFailedNames = (failed: Failed | undefined): Names => {
  const tenant_id = useTenantId();
  const query = { tenant_id, status: 'failed', from: failed?.since ?? '', limit: NAMES_MAX } as const;
  const least = Math.min(failed?.count ?? 0, NAMES_MAX);
  const { data } = useQuery({
    queryKey: ['listRuns', { query }],
    queryFn: ({ signal }) => quire.api.listRuns({ query }, { signal }),
    enabled: least > 0,
    refetchInterval: ({ state }) =>
      (state.data?.items.length ?? 0) < least && state.dataUpdateCount < LOOKS_MAX ? AGAIN_MS : false,
  });
  return useMemo(
    () =>
      new Map(
        data?.items.flatMap(({ document_id, file_name }) =>
          document_id === null || file_name === null ? [] : [[document_id, file_name] as const],
        ),
      ),
    [data],
  );
};

/** The name that the file was sent with; else the document's ID. */
export const nameOf = (line: BatchResult, names: Names): string => {
  const known = metaOf(line)['file_name'];
  if (typeof known === 'string') return known;
  const id = line.document_id ?? line.file_uri;
  return sessionStorage.getItem(`quire.name.${id}`) ?? names.get(id) ?? id;
};

const valuesOf = (line: BatchResult): ReadonlyMap<string, unknown> =>
  line.result === null ? new Map() : cellsOf(line.result['result'] ?? {});

const textOf = (value: unknown): string | number | null => {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
};

/** Values that stand beside the name in the table; the file has all. */
const SHOWN_MAX = 6;

const columnsFor = (lines: readonly BatchResult[], named: Names): readonly Column<BatchResult>[] => {
  const nameIn = (line: BatchResult): string => nameOf(line, named);
  const names = [...new Set(lines.flatMap((line) => [...valuesOf(line).keys()]))].slice(0, SHOWN_MAX);
  return [
    {
      id: 'file',
      name: texts.file,
      value: nameIn,
      share: 1.6,
      show: (line) =>
        line.operation_id === null ? nameIn(line) : <Go to={`/runs/${line.operation_id}`}>{nameIn(line)}</Go>,
    },
    {
      id: 'status',
      name: texts.status,
      value: ({ status }) => statusName(status),
      show: ({ status }) => <Status status={status} />,
    },
    { id: 'why', name: texts.why, value: ({ error }) => error?.detail ?? null, share: 1.4 },
    ...names.map((name) => ({
      id: `value ${name}`,
      name,
      value: (line: BatchResult) => textOf(valuesOf(line).get(name)),
    })),
  ];
};

const csvOf = (lines: readonly BatchResult[], named: Names): string =>
  tableOf(
    lines.map(
      (line) =>
        new Map<string, unknown>([
          [texts.file, nameOf(line, named)],
          [texts.status, statusName(line.status)],
          [texts.why, line.error?.detail ?? null],
          ...valuesOf(line),
        ]),
    ),
  );

interface BatchTableProps {
  readonly batchId: string;
  readonly lines: readonly BatchResult[] | undefined;
  readonly names: Names;
}

/** One table of all results of a batch, with its files. */
export function BatchTable({ batchId, lines, names }: BatchTableProps) {
  const columns = useMemo(() => columnsFor(lines ?? [], names), [lines, names]);
  if (lines === undefined) return <Skeleton lines={6} />;
  return (
    <>
      <Downloads
        files={[
          { name: texts.csv, file: 'results.csv', load: () => csvOf(lines, names) },
          {
            name: texts.xlsx,
            file: 'results.xlsx',
            load: () => fileAt(`/v1/batches/${batchId}/results`, XLSX),
          },
          {
            name: texts.json,
            file: 'results.json',
            load: () => JSON.stringify(lines, undefined, 2),
          },
        ]}
      />
      <DataTable
        label={texts.results}
        columns={columns}
        items={lines}
        idOf={({ index }) => String(index)}
        height={560}
      />
    </>
  );
}
