import type { ExtractionResult, Run, RunItem } from '@quire/client';
import { useState } from 'react';
import { useRead } from '../../api/connection.ts';
import { runs } from '../../texts/runs.ts';
import { modeName } from '../../texts/shell.ts';
import { ReadingTable, type ReadBySchema } from '../../document/readingTable.tsx';
import { Card } from '../../ui/card.tsx';
import { Go } from '../../ui/go.tsx';
import { Select } from '../../ui/select.tsx';
import { useConfigNames } from '../../ui/names.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { timeIn, useZone } from '../../ui/zone.ts';

const { compare: texts } = runs.one;
const NONE = 'none';
/** Runs of one document that can be chosen, the newest. */
const RUNS_MAX = 100;

/** A run as one of two that are compared; undefined: its result is gone. */
const readingOf = (run: Run, nameOf: (id: string) => string): ReadBySchema | undefined =>
  run.result === null
    ? undefined
    : {
        answer: run.result as unknown as ExtractionResult,
        schema: JSON.stringify(run.request?.['schema'] ?? {}),
        config: run.config_id === null ? undefined : nameOf(run.config_id),
      };

function Beside({ run, otherId }: { run: Run; otherId: string }) {
  const nameOf = useConfigNames(run.tenant_id);
  const read = useRead('getRun', { path: { run_id: otherId } });
  if (read.data === undefined)
    return read.error === null ? (
      <Skeleton lines={4} />
    ) : (
      <ProblemNote error={read.error} onRetry={() => void read.refetch()} />
    );
  const [one, other] = [readingOf(run, nameOf), readingOf(read.data, nameOf)];
  return one === undefined || other === undefined ? (
    <p role="status">{texts.gone}</p>
  ) : (
    <ReadingTable one={one} other={other} />
  );
}

function Choice({ run, others }: { run: Run; others: readonly RunItem[] }) {
  const [chosen, choose] = useState(NONE);
  const nameOf = useConfigNames(run.tenant_id);
  const zone = useZone();
  const choices = others.map(({ run_id, mode, model, config_id, requested_at }) => ({
    value: run_id,
    name: texts.run({
      how: [mode && modeName(mode), model].filter((one) => one != null).join(', '),
      at: timeIn(Date.parse(requested_at), zone),
      config: config_id === null ? undefined : nameOf(config_id),
    }),
  }));
  return (
    <div className="flex flex-col gap-3">
      <span className="max-w-xl">
        <Select
          label={texts.pick}
          choices={[{ value: NONE, name: texts.none }, ...choices]}
          value={chosen}
          onChange={choose}
        />
      </span>
      {chosen !== NONE && <Beside key={chosen} run={run} otherId={chosen} />}
    </div>
  );
}

/** A run beside another one of the same document; by another config or model it is run beside its document. */
export function CompareRuns({ run }: { run: Run }) {
  const { tenant_id, document_id, run_id } = run;
  const query = { tenant_id, document_id: document_id ?? '', kind: 'extract', limit: RUNS_MAX } as const;
  const list = useRead('listRuns', { query }, { enabled: document_id !== null });
  if (document_id === null || list.data === undefined) return <ProblemNote error={list.error} />;
  const others = list.data.items.filter((one) => one.run_id !== run_id && one.kept_until !== null);
  return (
    <Card title={texts.title}>
      {others.length > 0 ? (
        <Choice run={run} others={others} />
      ) : (
        <div className="flex flex-col items-start gap-1">
          <p>{texts.only}</p>
          <Go to={`/playground?run=${run_id}`}>{texts.again}</Go>
        </div>
      )}
    </Card>
  );
}
