import { Plus } from '../../ui/icons/icons.tsx';
import { useState } from 'react';
import { faultOf } from '../../api/faults.ts';
import { usePages } from '../../api/usePages.ts';
import { useActing, useTenantId } from '../../api/useSession.ts';
import { configs as texts } from '../../texts/configs.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { useGo, useRest } from '../../ui/go.tsx';
import { PageHeader } from '../../ui/pageHeader.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Time } from '../../ui/values/time.tsx';
import { fieldsOf, type Config } from './config.ts';
import { OneConfig } from './oneConfig.tsx';
import { PublishDialog } from './publishDialog.tsx';

const { columns: names } = texts;

const COLUMNS: readonly Column<Config>[] = [
  { id: 'name', name: names.name, value: ({ name }) => name ?? texts.unnamed, share: 1.6 },
  { id: 'id', name: names.id, value: ({ config_id }) => config_id, share: 2 },
  { id: 'version', name: names.version, value: ({ version }) => version, isNumber: true, share: 0.7 },
  { id: 'mode', name: names.mode, value: ({ mode }) => mode, share: 0.8 },
  { id: 'fields', name: names.fields, value: fieldsOf, isNumber: true, share: 0.7 },
  {
    id: 'published',
    name: names.published,
    value: ({ published_at }) => published_at,
    show: ({ published_at }) => <Time at={published_at} />,
    share: 1.5,
  },
  { id: 'by', name: names.by, value: ({ published_by }) => published_by, share: 1.5 },
];

function ConfigList() {
  const tenant_id = useTenantId();
  const { session } = useActing();
  const go = useGo();
  const list = usePages('listConfigs', { query: { tenant_id } });
  const [isPublishing, publish] = useState(false);
  const isNew = list.error !== null && faultOf(list.error).code === 'tenant_not_found';
  const isAdmin = session.role === 'admin';
  const open = isAdmin && (
    <Button look="primary" onClick={() => publish(true)}>
      <Plus aria-hidden className="size-4" />
      {texts.publish.first}
    </Button>
  );
  if (list.error !== null && !isNew) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <>
      <DataTable
        label={texts.list}
        columns={COLUMNS}
        items={isNew ? [] : list.items}
        idOf={({ config_id }) => config_id}
        onOpen={({ config_id }) => go(`/configs/${encodeURIComponent(config_id)}`)}
        onMore={list.more}
        isLoadingMore={list.isLoadingMore}
        actions={open}
        empty={
          <Empty title={texts.empty.title} say={isAdmin ? texts.empty.say : texts.empty.tenantSay}>
            {open}
          </Empty>
        }
      />
      {isPublishing && <PublishDialog of={undefined} onClose={() => publish(false)} />}
    </>
  );
}

function OfTenant() {
  const config_id = useRest();
  return config_id === undefined ? <ConfigList /> : <OneConfig config_id={config_id} />;
}

/** Saved configs with their versions. */
export default function ConfigsPage() {
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <OfTenant />
      </ForTenant>
    </>
  );
}
