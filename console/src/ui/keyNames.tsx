import { useMemo } from 'react';
import { useRead } from '../api/connection.ts';
import { useActing } from '../api/session.ts';
import { shell } from '../texts/shell.ts';
import { Copy } from './values.tsx';

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
  return (
    <span className="whitespace-nowrap" onClick={(event) => event.stopPropagation()}>
      <bdi>{name}</bdi> <Copy text={id} name={shell.copyId} />
    </span>
  );
}
