import type { ServiceState } from '@quire/client';
import { operation as texts } from '../../texts/operation.ts';
import { Card } from '../../ui/card.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Time } from '../../ui/values/time.tsx';

type Replica = ServiceState['replicas'][number];
const { replicaOf: names } = texts;

const COLUMNS: readonly Column<Replica>[] = [
  { id: 'id', name: names.id, value: ({ replica_id }) => replica_id, share: 2 },
  { id: 'version', name: names.version, value: ({ version }) => version },
  { id: 'roles', name: names.roles, value: ({ roles }) => roles.join(', '), share: 1.6 },
  {
    id: 'started',
    name: names.started,
    value: ({ started_at }) => started_at,
    show: ({ started_at }) => <Time at={started_at} />,
    share: 1.5,
  },
  {
    id: 'seen',
    name: names.seen,
    value: ({ seen_at }) => seen_at,
    show: ({ seen_at }) => <Time at={seen_at} />,
    share: 1.5,
  },
];

/** The processes of the service with their versions. */
export function Replicas({ replicas }: { replicas: readonly Replica[] }) {
  const versions = new Set(replicas.map(({ version }) => version));
  return (
    <Card title={texts.replicas}>
      <p className="mb-2 text-[13px] text-soft">
        {versions.size > 1 ? texts.versions(versions.size) : texts.replicasSay}
      </p>
      <DataTable
        label={texts.replicas}
        columns={COLUMNS}
        items={replicas}
        idOf={({ replica_id }) => replica_id}
      />
    </Card>
  );
}
