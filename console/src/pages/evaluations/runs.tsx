import type { Api } from '@quire/client';
import { usePages } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { evaluations as texts } from '../../texts/evaluations.ts';
import { statusName } from '../../texts/shell.ts';
import { Card } from '../../ui/card.tsx';
import { Curve } from '../../ui/charts.tsx';
import { useAddressValue } from '../../ui/go.tsx';
import { Measured } from '../../ui/names.tsx';
import { Empty, ProblemNote, Status } from '../../ui/states.tsx';
import { classes } from '../../ui/style.ts';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';
import { OpenedRun } from './run.tsx';

type RunItem = Awaited<ReturnType<Api['listEvaluationRuns']>>['items'][number];
type Artifact = Awaited<ReturnType<Api['listArtifacts']>>['items'][number];

const { columns: names } = texts;

const measuredBy = ({ config_id, artifact_id, schema_sha256 }: RunItem): string =>
  config_id ?? artifact_id ?? schema_sha256.slice(0, 12);

const SORTS = { status: 'status', documents: 'documents', accepted: 'accepted_at' } as const;

const RUN_COLUMNS: readonly Column<RunItem>[] = [
  { id: 'measured', name: names.measured, value: measuredBy, show: (run) => <Measured {...run} />, share: 2 },
  {
    id: 'examples',
    name: names.examples,
    value: ({ examples }) => examples ?? '',
    isNumber: true,
    share: 0.8,
  },
  {
    id: 'status',
    name: names.status,
    value: ({ status }) => statusName(status),
    show: ({ status }) => <Status status={status} />,
  },
  {
    id: 'f1',
    name: names.f1,
    value: ({ f1 }) => f1 ?? '',
    show: ({ f1 }) => texts.score(f1),
    isNumber: true,
    share: 0.8,
  },
  { id: 'documents', name: names.documents, value: ({ documents }) => documents, isNumber: true, share: 0.8 },
  {
    id: 'accepted',
    name: names.accepted,
    value: ({ accepted_at }) => accepted_at,
    show: ({ accepted_at }) => <Time at={accepted_at} />,
    isWhole: true,
    share: 1.5,
  },
];

const EACH_MS = 5_000;

type Scored = RunItem & { readonly f1: number };
const isScored = (run: RunItem): run is Scored => run.f1 !== null;

/** By how many examples were learned from: what the set says, and what the training said of what it held out. */
const byExamples = (runs: readonly Scored[], artifacts: readonly Artifact[]) => {
  const points = new Map<number, Record<string, number>>();
  const at = (examples: number): Record<string, number> => {
    const found = points.get(examples) ?? {};
    points.set(examples, found);
    return found;
  };
  // the oldest first: of several with as many examples the last one stands
  for (const { examples, artifact_id, f1 } of runs) {
    const point = at(examples ?? 0);
    point['set'] = f1;
    const learned = artifacts.find((one) => one.artifact_id === artifact_id);
    if (learned?.best_score != null) point['training'] = learned.best_score;
    if (learned?.baseline_score != null) at(0)['training'] = learned.baseline_score;
  }
  return [...points].sort(([a], [b]) => a - b).map(([examples, values]) => ({ at: examples, values }));
};

const SET = { id: 'set', name: texts.curve.set };
const TRAINING = { id: 'training', name: texts.curve.training };

/** How F1 moves from run to run of one set, and with the number of examples. */
function Curves({ items, of }: { items: readonly RunItem[]; of: RunItem }) {
  const tenant_id = useTenantId();
  const { items: artifacts = [] } = usePages('listArtifacts', { query: { tenant_id } });
  const runs = items
    .filter((run) => run.set_id === of.set_id)
    .filter(isScored)
    .reverse();
  if (runs.length < 2) return <p className="text-soft">{texts.curve.few}</p>;
  const learned = byExamples(runs, artifacts);
  const hasTraining = learned.some(({ values }) => values['training'] !== undefined);
  const format = (value: number): string => texts.score(value);
  return (
    <div className={classes('grid gap-4', learned.length > 1 && 'lg:grid-cols-2')}>
      <Curve
        label={texts.curve.byRun}
        along={texts.curve.run}
        series={[SET]}
        points={runs.map(({ f1 }, at) => ({ at: at + 1, values: { set: f1 } }))}
        format={format}
      />
      {learned.length > 1 && (
        <Curve
          label={texts.curve.byExamples}
          along={texts.curve.examples}
          series={hasTraining ? [SET, TRAINING] : [SET]}
          points={learned}
          format={format}
        />
      )}
    </div>
  );
}

/** The run that was chosen, else the newest, and how its set did over time. */
function Shown({ items, chosen }: { items: readonly RunItem[]; chosen: string | undefined }) {
  const opened = items.find(({ run_id }) => run_id === chosen) ?? items[0];
  // a run that was named is shown also where the list is not loaded as far as it
  const shown = chosen ?? opened?.run_id;
  return (
    <>
      {shown !== undefined && <OpenedRun key={shown} run_id={shown} />}
      {opened !== undefined && opened.run_id === shown && (
        <Card title={texts.curve.title}>
          <Curves items={items} of={opened} />
        </Card>
      )}
    </>
  );
}

/** What was measured, newest first. */
export function Runs() {
  const tenant_id = useTenantId();
  const list = usePages(
    'listEvaluationRuns',
    { query: { tenant_id } },
    { refetchInterval: EACH_MS, sorts: SORTS },
  );
  const [chosen, choose] = useAddressValue('run');
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <div className="flex flex-col gap-4">
      <DataTable
        label={texts.runs.list}
        columns={RUN_COLUMNS}
        list={list}
        idOf={({ run_id }) => run_id}
        onOpen={({ run_id }) => choose(run_id)}
        empty={<Empty title={texts.runs.empty.title} say={texts.runs.empty.say} />}
        height={320}
      />
      <Shown items={list.items ?? []} chosen={chosen} />
    </div>
  );
}
