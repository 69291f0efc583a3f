import type { Api } from '@quire/client';
import { useState } from 'react';
import { useRead } from '../../api/hooks.ts';
import { useActing } from '../../api/useSession.ts';
import { configs } from '../../texts/configs.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Diff } from '../../ui/editor/diff.tsx';
import { JsonEditor } from '../../ui/editor/jsonEditor.tsx';
import { Select } from '../../ui/form/select.tsx';
import { Go } from '../../ui/go.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Copy } from '../../ui/values/copy.tsx';
import { Time } from '../../ui/values/time.tsx';
import { textOf, type Config } from './config.ts';
import { PublishDialog } from './publishDialog.tsx';
import { RevokeDialog } from './revokeDialog.tsx';

interface SideProps {
  readonly label: string;
  readonly versions: readonly Config[];
  readonly shown: Config;
  readonly onChoose: (version: string) => void;
}

function Side({ label, versions, shown, onChoose }: SideProps) {
  const choices = versions.map(({ version }) => ({ value: String(version), name: configs.version(version) }));
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-3">
      <span className="w-40">
        <Select label={label} choices={choices} value={String(shown.version)} onChange={onChoose} />
      </span>
      <span className="min-w-0 truncate text-[13px] text-soft">
        <Time at={shown.published_at} /> · {shown.published_by}
      </span>
    </div>
  );
}

/** Two versions side by side; the last two at first. */
function Compare({ versions }: { versions: readonly Config[] }) {
  const [left, setLeft] = useState<string>();
  const [right, setRight] = useState<string>();
  const versionOf = (chosen: string | undefined): Config | undefined =>
    versions.find(({ version }) => String(version) === chosen);
  const after = versionOf(right) ?? versions[0];
  const before = versionOf(left) ?? versions[1];
  if (after === undefined) return null;
  if (before === undefined)
    return (
      <>
        <p className="mb-3 text-soft">{configs.only}</p>
        <JsonEditor label={configs.version(after.version)} value={textOf(after)} />
      </>
    );
  return (
    <>
      <div className="mb-3 grid gap-4 sm:grid-cols-2">
        <Side label={configs.before} versions={versions} shown={before} onChoose={setLeft} />
        <Side label={configs.after} versions={versions} shown={after} onChoose={setRight} />
      </div>
      {textOf(before) === textOf(after) && <p className="text-soft">{configs.same}</p>}
      <Diff label={configs.compare} before={textOf(before)} after={textOf(after)} />
    </>
  );
}

function Actions({ latest }: { latest: Config }) {
  const [doing, onDo] = useState<'publish' | 'revoke'>();
  const onClose = (): void => onDo(undefined);
  return (
    <>
      <Button look="primary" onClick={() => onDo('publish')}>
        {configs.publish.next}
      </Button>
      <Button look="danger" onClick={() => onDo('revoke')}>
        {configs.revoke.open}
      </Button>
      {doing === 'publish' && <PublishDialog of={latest} onClose={onClose} />}
      {doing === 'revoke' && <RevokeDialog of={latest} onClose={onClose} />}
    </>
  );
}

type History = Awaited<ReturnType<Api['getConfig']>>;

function Shown({ of: { config_id, versions, revoked_at } }: { of: History }) {
  const { session } = useActing();
  const latest = versions[0];
  const isRevoked = revoked_at !== null;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="text-base font-semibold">{latest?.name ?? configs.unnamed}</h2>
        <code className="text-[13px]">{config_id}</code>
        <Copy text={config_id} />
        <Badge tone={isRevoked ? 'bad' : 'good'}>{isRevoked ? configs.revoked : configs.current}</Badge>
        <span className="ml-auto flex gap-2">
          {session.role === 'admin' && !isRevoked && latest !== undefined && <Actions latest={latest} />}
        </span>
      </div>
      <Card title={configs.compare}>
        <Compare versions={versions} />
      </Card>
    </>
  );
}

/** A config with its versions. */
export function OneConfig({ config_id }: { config_id: string }) {
  const { data, error, refetch } = useRead('getConfig', { path: { config_id } });
  return (
    <div className="flex flex-col gap-4">
      <Go to="/configs">← {configs.back}</Go>
      <ProblemNote error={error} onRetry={() => void refetch()} />
      {data === undefined && error === null && <Skeleton lines={6} />}
      {data !== undefined && <Shown of={data} />}
    </div>
  );
}
