import {
  batchIdOfRun,
  evaluationEvent,
  type EvaluationSetState,
  evaluationStream,
} from '../../domain/evaluation.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Clock } from '../../domain/ports/log.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { BatchCommands } from './batches.ts';
import {
  type EvaluationDeps,
  evaluationFolderOf,
  evaluationSets,
  expectedKeyOf,
  type KnownRun,
  reportKeyOf,
  reports,
  schemaKeyOf,
} from './evaluations.ts';
import { dropAll } from './operationInput.ts';

/** Whether an object of a set or run is named by an event, or by what an event names. */
type IsNamed = (key: string) => boolean;

/** What versions of a set expect of documents that were not taken out since. */
const namedInSet = (set_id: string, { versions }: Pick<EvaluationSetState, 'versions'>): IsNamed => {
  const names = new Map<string, Set<string>>();
  for (const version of versions)
    if ('examples' in version)
      for (const { document_id, expected_sha256 } of version.examples)
        names.set(
          document_id,
          (names.get(document_id) ?? new Set()).add(expectedKeyOf(set_id, document_id, expected_sha256)),
        );
    else for (const id of version.document_ids) names.delete(id);
  const all = new Set([...names.values()].flatMap((keys) => [...keys]));
  return (key) => all.has(key);
};

const runCodec = eventCodec(evaluationEvent);

/** When a run was scored, and what it keeps since; undefined: it is not, or its report is not there. */
const namedInRun = async (
  { store, objects }: Pick<EvaluationDeps, 'store' | 'objects'>,
  run_id: string,
  { schema_sha256 }: Pick<KnownRun['evaluated'], 'schema_sha256'>,
): Promise<{ readonly scored_at: string; readonly isNamed: IsNamed } | undefined> => {
  for await (const recorded of store.read(evaluationStream(run_id), { limit: 1 })) {
    const { scored_at, report_sha256 } = runCodec.decode(recorded).data;
    const report = await reports(objects).get(run_id, report_sha256);
    if (report === undefined) return undefined;
    const found = report.documents.flatMap(({ document_id, wrong_sha256 }) =>
      wrong_sha256 === null ? [] : [expectedKeyOf(run_id, document_id, wrong_sha256)],
    );
    const names = new Set([schemaKeyOf(run_id, schema_sha256), reportKeyOf(run_id, report_sha256), ...found]);
    return { scored_at, isNamed: (key) => names.has(key) };
  }
  return undefined;
};

/** A run was scored so long ago that what no event names of it is gone, ms. */
const SETTLED_MS = 3 * 24 * 3_600_000;

interface FateDeps extends Pick<EvaluationDeps, 'store' | 'objects'> {
  readonly clock: Pick<Clock, 'now'>;
  readonly batches: Pick<BatchCommands['streams'], 'stateOf'>;
}

/** What a sweeper of objects is told of a set or run. */
type EvaluationFate =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'open'; readonly stays: 'hours' | 'permanently'; readonly isNamed?: IsNamed }
  | { readonly kind: 'ended'; readonly at: string; readonly tenant_id: string };

/** What the log says of the objects of sets and of runs: both stay, and what no event names of them goes. */
export const evaluationFates = ({ store, objects, clock, batches }: FateDeps) => {
  const sets = evaluationSets(store);
  const unknown = { kind: 'unknown' } as const;
  return {
    set: async (id: string): Promise<EvaluationFate> => {
      const state = await sets.stateOf(id);
      const [first] = state.versions;
      if (first === undefined) return unknown;
      return state.removed_at === null
        ? { kind: 'open', stays: 'hours', isNamed: namedInSet(id, state) }
        : { kind: 'ended', at: state.removed_at, tenant_id: first.tenant_id };
    },
    evr: async (id: string): Promise<EvaluationFate> => {
      const { accepted } = await batches.stateOf(batchIdOfRun(id));
      if (accepted?.evaluated === undefined) return unknown;
      const found = await namedInRun({ store, objects }, id, accepted.evaluated);
      if (found === undefined) return { kind: 'open', stays: 'hours' };
      const { scored_at, isNamed } = found;
      const isSettled = scored_at < laterBy(clock.now(), -SETTLED_MS);
      return { kind: 'open', stays: isSettled ? 'permanently' : 'hours', isNamed };
    },
  };
};

interface ForgetDeps extends EvaluationDeps {
  /** Sets and runs that keep something of a document, as the read models know. */
  readonly keeping: (
    documentId: string,
  ) => Promise<readonly { readonly id: string; readonly tenant_id: string }[]>;
}

/** Takes a document out of a set: its next version is without it. */
const takeOut = async (
  { store, wrote }: Pick<EvaluationDeps, 'store' | 'wrote'>,
  { id, tenant_id, document_id }: Readonly<Record<'id' | 'tenant_id' | 'document_id', string>>,
  meta: CommandMeta,
): Promise<void> => {
  const data = { document_ids: [document_id] };
  const outcome = await evaluationSets(store).handle(id, { type: 'TakeOut', data, meta }, tenant_id);
  if (outcome.kind !== 'done') throw new Error(`${document_id} could not be taken out of ${id} now`);
  if (outcome.position !== undefined) wrote(tenant_id, outcome.position);
};

/** Removes what sets and runs keep of a document whose file is gone. Once more does no harm. */
export const forgetInEvaluations =
  ({ keeping, ...deps }: ForgetDeps) =>
  async (document_id: string): Promise<void> => {
    for (const { id, tenant_id } of await keeping(document_id)) {
      const meta = systemMeta(deps, `erase-${document_id}`);
      if (id.startsWith('set_')) await takeOut(deps, { id, tenant_id, document_id }, meta);
      await dropAll(deps.objects, `${evaluationFolderOf(id)}${document_id}/`);
    }
  };
