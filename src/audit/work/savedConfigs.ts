import { byType, type AuditedEventOf } from '../log/auditedEvent.ts';
import { wrong, type Findings } from '../findings.ts';

/** A saved config as far as the log was read. */
interface SeenConfig {
  readonly version: number;
  readonly tenant_id: string;
  readonly revoked: boolean;
}

type ConfigEvent = AuditedEventOf<'ConfigPublished' | 'ConfigRevoked'>;

/** Says why an event cannot follow the earlier ones of its config, if it cannot. */
const checkOrder = (
  { type, data }: ConfigEvent,
  seen: SeenConfig | undefined,
  say: ReturnType<typeof wrong>,
): void => {
  const due = (seen?.version ?? 0) + 1;
  if (seen?.revoked === true) say('It comes after the config was revoked.');
  else if (seen !== undefined && seen.tenant_id !== data.tenant_id)
    say('It gives the config to another tenant.', seen.tenant_id, data.tenant_id);
  else if (type === 'ConfigRevoked') {
    if (seen === undefined) say('It revokes a config that was never published.');
  } else if (data.version !== due)
    say(`Version ${data.version} was published where ${due} belongs.`, due, data.version);
};

/** A config after an event: its tenant is the first one's, and a revoked config stays revoked. */
const seenAfter = (event: ConfigEvent, seen: SeenConfig | undefined): SeenConfig => {
  const isRevocation = event.type === 'ConfigRevoked';
  return {
    version: isRevocation ? (seen?.version ?? 0) : event.data.version,
    tenant_id: seen?.tenant_id ?? event.data.tenant_id,
    revoked: isRevocation || seen?.revoked === true,
  };
};

/** Checks that each config's versions follow one another, for one tenant, and end with a revocation. */
export const savedConfigsCheck = (findings: Findings) => {
  const configs = new Map<string, SeenConfig>();
  const check = (event: ConfigEvent): void => {
    findings.checked('version');
    const seen = configs.get(event.stream);
    checkOrder(event, seen, wrong(findings, 'version', event));
    configs.set(event.stream, seenAfter(event, seen));
  };
  return byType({ ConfigPublished: check, ConfigRevoked: check });
};
