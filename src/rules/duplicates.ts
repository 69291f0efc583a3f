import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import type { DuplicatesRule } from '../../domain/rules/checks.ts';
import {
  earlierSightings,
  keyOfFile,
  keyOfValues,
  type Sighting,
  sighting,
  sightingEvent,
  type SightingKind,
  sightingStream,
} from '../../domain/rules/sighting.ts';
import type { UsageState } from '../../domain/workEvents.ts';
import { streamsOf } from '../writer/commandHandler.ts';
import { metaOf } from '../writer/commandMeta.ts';

interface DuplicateDeps {
  readonly store: EventStore;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
  readonly usage: {
    readonly stateOf: (work: {
      readonly operation: 'extract';
      readonly operation_id: string;
    }) => Promise<UsageState>;
    readonly isErased: (documentId: string) => Promise<boolean>;
  };
}

/** A reading whose config tells duplicates. */
interface Read {
  readonly request: {
    readonly tenant_id: string;
    readonly caller: CommandMeta['actor'];
    readonly correlation_id: string;
    readonly opening: { readonly pages?: string | undefined };
    readonly file: { readonly sha256: string };
    readonly config: { readonly config_id: string } | null;
    readonly duplicates?: DuplicatesRule | undefined;
  };
  readonly work: { readonly operation_id: string; readonly document_id: string };
  readonly result: JsonObject;
}

/** An earlier document that says the same. */
export type Duplicate = Pick<Sighting, 'by' | 'document_id' | 'sighted_at'> & {
  readonly extraction_id: string;
};

interface Found {
  readonly kind: 'found';
  /** undefined: the config tells none. */
  readonly duplicates: readonly Duplicate[] | undefined;
}

const rules = { decider: sighting, codec: eventCodec(sightingEvent), streamOf: sightingStream };

const keysOf = ({ request, result }: Read) => {
  const { tenant_id, config, file, opening, duplicates } = request;
  const of = { tenant_id, config_id: config?.config_id ?? '' };
  const byValues = keyOfValues(of, duplicates?.values ?? [], result);
  return [
    { by: 'file' as const, key_sha256: keyOfFile(of, file.sha256, opening.pages ?? null) },
    ...(byValues === undefined ? [] : [{ by: 'values' as const, key_sha256: byValues }]),
  ];
};

/** Whether it still counts: work that failed was never delivered, and nothing is told of what is erased. */
const counts = async ({ usage }: DuplicateDeps, { work_id, document_id }: Sighting): Promise<boolean> => {
  const { end } = await usage.stateOf({ operation: 'extract', operation_id: work_id });
  return end?.happened !== 'Failed' && !(await usage.isErased(document_id));
};

/**
 * Earlier documents of the tenant that are the same file, or have the same values by the config. Each is sighted in
 * the log before its answer, so of two at once one is the earlier. `busy`: this cannot be told now.
 */
export const duplicatesOf = async (
  deps: DuplicateDeps,
  read: Read,
): Promise<Found | { readonly kind: 'busy' }> => {
  const { request, work } = read;
  if (request.duplicates === undefined) return { kind: 'found', duplicates: undefined };
  const { tenant_id, caller, correlation_id, opening } = request;
  const own = {
    document_id: work.document_id,
    work_id: work.operation_id,
    pages: opening.pages ?? null,
  };
  const duplicates: Duplicate[] = [];
  for (const { by, key_sha256 } of keysOf(read)) {
    const data = { tenant_id, key_sha256, by, ...own };
    const command = { type: 'Sight', data, meta: metaOf(deps, caller, correlation_id) } as const;
    const outcome = await streamsOf<SightingKind>(rules, deps.store).handle(key_sha256, command, tenant_id);
    if (outcome.kind !== 'done') return { kind: 'busy' };
    for (const one of earlierSightings(outcome.state, own))
      if (await counts(deps, one)) {
        const { document_id, work_id: extraction_id, sighted_at } = one;
        duplicates.push({ by, document_id, extraction_id, sighted_at });
      }
  }
  return { kind: 'found', duplicates };
};
