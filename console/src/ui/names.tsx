import { useMemo, type ReactNode } from 'react';
import { useRead } from '../api/connection.ts';
import { useActing, useTenantId } from '../api/session.ts';
import { shell } from '../texts/shell.ts';
import { Go } from './go.tsx';
import { classes } from './style.ts';
import { Copy } from './values.tsx';

/** What something is called, with its ID to copy; without a name, the end of the ID. */
export function Named({ id, children }: { id: string; children?: ReactNode }) {
  return (
    // an ID is not cut, so that a column of them takes the room that it needs
    <span className={classes('flex items-center gap-1', children != null && 'min-w-0')}>
      {children == null ? (
        <code className="shrink-0 text-[13px] text-soft">{`…${id.slice(-6)}`}</code>
      ) : (
        <bdi className="min-w-0 truncate">{children}</bdi>
      )}
      <span onClick={(event) => event.stopPropagation()}>
        <Copy text={id} name={shell.copyId} />
      </span>
    </span>
  );
}

/** The most keys that one answer has. */
const KEYS_MAX = 1_000;

const useKeys = (tenant_id: string) => {
  const input = { path: { tenant_id }, query: { limit: KEYS_MAX } };
  return useRead('listApiKeys', input, { enabled: tenant_id !== '' });
};

/** What the keys of a tenant are called, by their IDs; one without a name by its first and last letters. */
export const useKeyNames = (tenantId: string): ReadonlyMap<string, string> => {
  const { data } = useKeys(tenantId);
  return useMemo(() => {
    const keys = data?.items ?? [];
    return new Map(keys.map(({ key_id, name, prefix, last4 }) => [key_id, name ?? `${prefix}…${last4}`]));
  }, [data]);
};

const SUBJECT = 'oidc:';

/** Names whoever acted for a tenant as people know them; a key that is none of the tenant's is an operator's. */
export const useActorNames = (tenantId: string): ((who: string | null) => string) => {
  const { session } = useActing();
  const { data, isPending } = useKeys(tenantId);
  const names = useKeyNames(tenantId);
  // where not all keys are known, an ID stays as it is
  const isWhole = data?.next_cursor === null;
  return (who) => {
    if (who === null) return shell.somebody;
    const name = names.get(who);
    if (name !== undefined) return name;
    if (who === session.subject) return shell.you;
    if (who.startsWith(SUBJECT)) return who.slice(SUBJECT.length);
    if (isPending) return '…';
    return isWhole ? shell.anOperator : who;
  };
};

/** Actors that are no key in a list: the service by itself, and the key that its environment names. */
const WORDS: Readonly<Record<string, string>> = {
  system: shell.theService,
  key_bootstrap: shell.bootstrapKey,
};

/** The operator who did something: the name of the key, whose ID is copied; else what the service says. */
export function Operator({ id }: { id: string }) {
  const { session } = useActing();
  const name = useKeyNames(session.tenant_id).get(id);
  if (name === undefined) return <bdi>{WORDS[id] ?? id}</bdi>;
  return <Named id={id}>{name}</Named>;
}

/** Names of the tenant's configs. */
export const useConfigNames = (tenant_id: string): ((id: string) => string) => {
  const { data } = useRead('listConfigs', { query: { tenant_id } });
  return (id) => data?.items.find(({ config_id }) => config_id === id)?.name ?? id;
};

/** The most jobs and artifacts whose names are looked up. */
const LEARNED_MAX = 200;

/** Artifacts by the names of the trainings that made them, else where they belong; several have one name. */
export const useArtifactNames = (tenant_id: string): ((id: string) => string) => {
  const query = { tenant_id, limit: LEARNED_MAX };
  const artifacts = useRead('listArtifacts', { query }).data?.items;
  const jobs = useRead('listTrainingJobs', { query }).data?.items;
  return (id) => {
    const artifact = artifacts?.find(({ artifact_id }) => artifact_id === id);
    if (artifact === undefined) return id;
    const { job_id, project_id, task_id } = artifact;
    const name = jobs?.find((job) => job.job_id === job_id)?.name ?? `${project_id}/${task_id}`;
    return `${name} · ${id.slice(-6)}`;
  };
};

/** The newest runs, whose documents are named; those of earlier ones are shown by their IDs. */
const RUNS_MAX = 200;

interface DocumentNameProps {
  readonly id: string | null | undefined;
  readonly tenantId: string;
}

/** The name of a document's file, which leads to its runs; null: there is no document. */
export function DocumentName({ id, tenantId: tenant_id }: DocumentNameProps) {
  const { data } = useRead('listRuns', { query: { tenant_id, limit: RUNS_MAX } }, { enabled: id != null });
  if (id == null) return '–';
  const name = data?.items.find((run) => run.document_id === id && run.file_name !== null)?.file_name;
  return (
    <Named id={id}>
      {name != null && <Go to={`/runs?document_id=${encodeURIComponent(id)}`}>{name}</Go>}
    </Named>
  );
}

interface MeasuredProps {
  readonly config_id: string | null;
  readonly artifact_id: string | null;
  readonly schema_sha256: string;
}

/** What an evaluation measured: a config or an artifact by its name, or a schema of its own. */
export function Measured({ config_id, artifact_id, schema_sha256 }: MeasuredProps) {
  const tenant_id = useTenantId();
  const configName = useConfigNames(tenant_id);
  const artifactName = useArtifactNames(tenant_id);
  const id = config_id ?? artifact_id;
  if (id === null) return <Named id={schema_sha256}>{shell.aSchema}</Named>;
  return <Named id={id}>{config_id === null ? artifactName(id) : configName(id)}</Named>;
}
