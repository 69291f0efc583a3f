import { placeOf, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import type { Findings } from '../findings.ts';

/** A saved config as far as the log was read. */
interface Seen {
  readonly version: number;
  readonly tenant_id: string;
  readonly revoked: boolean;
}

type ConfigEvent = AuditedEventOf<'ConfigPublished' | 'ConfigRevoked'>;

/** Why an event cannot follow the earlier ones of its config; undefined: it can. */
const wrongOf = ({ type, data }: ConfigEvent, seen: Seen | undefined) => {
  if (seen?.revoked === true) return { message: 'It comes after the config was revoked.' };
  if (seen !== undefined && seen.tenant_id !== data.tenant_id)
    return {
      message: 'It gives the config to another tenant.',
      expected: seen.tenant_id,
      found: data.tenant_id,
    };
  if (type === 'ConfigRevoked')
    return seen === undefined ? { message: 'It revokes a config that was never published.' } : undefined;
  const due = (seen?.version ?? 0) + 1;
  return data.version === due
    ? undefined
    : {
        message: `Version ${data.version} was published where ${due} belongs.`,
        expected: String(due),
        found: String(data.version),
      };
};

/** A config after an event: its tenant is the first one's, and a revoked config stays revoked. */
const seenAfter = (event: ConfigEvent, seen: Seen | undefined): Seen => {
  const isRevocation = event.type === 'ConfigRevoked';
  return {
    version: isRevocation ? (seen?.version ?? 0) : event.data.version,
    tenant_id: seen?.tenant_id ?? event.data.tenant_id,
    revoked: isRevocation || seen?.revoked === true,
  };
};

/** Checks that each config's versions follow one another, for one tenant, and end with a revocation. */
export const savedConfigsCheck = (findings: Findings) => {
  const configs = new Map<string, Seen>();
  return (event: AuditedEvent): void => {
    if (event.type !== 'ConfigPublished' && event.type !== 'ConfigRevoked') return;
    findings.checked('version');
    const seen = configs.get(event.stream);
    const wrong = wrongOf(event, seen);
    if (wrong !== undefined) findings.add({ check: 'version', ...placeOf(event), ...wrong });
    configs.set(event.stream, seenAfter(event, seen));
  };
};
