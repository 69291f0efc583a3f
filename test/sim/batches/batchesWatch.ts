import { isDeepStrictEqual } from 'node:util';
import { spelledPages } from '@quire/engine/document/pages';
import { operationIdOfDocument } from '../../../domain/batch.ts';
import type { Json } from '../../../domain/kernel/json.ts';
import { reviewIdOf } from '../../../domain/review.ts';
import { batchIdOfSplit } from '../../../domain/split.ts';
import type { ProjectedEventOf } from '../../../projections/engine/ports.ts';
import { reviewFolderOf } from '../../../src/commands/reviews.ts';
import { operationFileKeyOf } from '../../../src/commands/operationInput.ts';
import type { FileFacts } from '../env.ts';
import type { started, Work } from '../known.ts';
import { EPOCH_MS } from '../scheduler.ts';
import type { WatchDeps } from '../told.ts';
import { SWEPT_MS } from '../worlds.ts';
import { partsIn } from './sortStack.ts';

interface Part {
  readonly pages: readonly number[];
  readonly class: string | null;
}

/** What a result says that a part was read from. */
interface Reading {
  readonly from?: string;
}

/**
 * Watches what batches say of their documents, and that each part of a stack is one document of one batch, once it is
 * told or decided, and is read as that.
 */
export const batchesWatch = (
  { raw, told, sched }: Pick<WatchDeps, 'raw' | 'told' | 'sched'>,
  {
    say,
    known,
    fileOf,
    isErased,
  }: {
    readonly say: (id: string, text: string) => void;
    readonly known: () => ReturnType<typeof started>;
    /** That an operation was asked for. */
    readonly fileOf: (work: Work) => FileFacts | undefined;
    readonly isErased: (work: Work) => boolean;
  },
) => {
  const accepted = ({ batch_id, split }: ProjectedEventOf<'BatchAccepted'>['data']): void => {
    if (split === undefined) return;
    for (const { accepted: other } of known().batches.values())
      if (other.split?.operation_id === split.operation_id && other.batch_id !== batch_id)
        say('parts-twice', `${split.operation_id} has become ${other.batch_id} and ${batch_id}`);
  };

  /** As a person has decided them; undefined: nobody has, or they were rejected, or are erased. */
  const decidedParts = async ({ id }: Work): Promise<readonly Part[] | undefined> => {
    const review_id = reviewIdOf(id);
    const digest = [...(known().reviews.get(review_id)?.decided.values() ?? [])].at(-1) ?? '';
    const bytes = digest === '' ? undefined : await raw.get(`${reviewFolderOf(review_id)}${digest}`);
    if (bytes === undefined) return undefined;
    const { result } = JSON.parse(new TextDecoder().decode(bytes)) as {
      readonly result: { documents: Json };
    };
    return result.documents as unknown as readonly Part[];
  };

  /** Pages of the parts that go on, in their order. */
  const dueOf = async (work: Work): Promise<readonly string[]> => {
    const file = fileOf(work);
    if (file === undefined || work.ended !== 'succeeded') return [];
    const parts = work.success?.review === undefined ? partsIn(file) : await decidedParts(work);
    return (parts ?? []).flatMap((part) => (part.class === null ? [] : [spelledPages(part.pages)]));
  };

  const stack = async (work: Work): Promise<void> => {
    const [due, batch_id] = [await dueOf(work), batchIdOfSplit(work.work_id)];
    const is = known().batches.get(batch_id)?.accepted.split?.pages ?? [];
    if (!isDeepStrictEqual(is, due))
      say('parts', `${work.id} is the documents ${is.join(' ')} of ${batch_id}, and not ${due.join(' ')}`);
  };

  /** Documents wait for a budget until its period ends or the batch does. */
  const waits = ({ tenant_id, expires_at }: ProjectedEventOf<'BatchAccepted'>['data']): boolean => {
    const resets = known().budgetResets.get(tenant_id);
    if (resets === undefined) return false;
    const until = Math.min(...[resets ?? expires_at, expires_at].map((at) => Date.parse(at)));
    return EPOCH_MS + sched.nowMs() < until + SWEPT_MS;
  };

  const batchSums = (): void => {
    for (const { accepted: data, ended: told_ } of known().batches.values()) {
      if (told_ === null && waits(data)) continue;
      if (told_ === null) {
        say('work-left', `${data.batch_id} has not ended`);
        continue;
      }
      const isMeasured = data.evaluated !== undefined && !known().cancelled.has(data.batch_id);
      if (isMeasured !== known().scored.has(data.batch_id))
        say(
          'scored',
          `${data.batch_id} is a run that was ${isMeasured ? 'never scored' : 'scored all the same'}`,
        );
      const works = data.document_ids.flatMap(
        (_, index) => known().works.get(operationIdOfDocument({ ...data, index })) ?? [],
      );
      const credits = works.reduce((sum, work) => sum + work.credits, 0);
      const succeeded = works.filter(({ ended: how }) => how === 'succeeded').length;
      if (credits !== told_.credits_charged || succeeded !== told_.succeeded + told_.partial)
        say(
          'batch-sum',
          `${data.batch_id} says ${String(told_.succeeded + told_.partial)} done for ` +
            `${String(told_.credits_charged)} credits; its documents say ${String(succeeded)} for ${String(credits)}`,
        );
    }
  };

  const removed = (key: string): void => {
    for (const { accepted: batch, ended } of known().batches.values()) {
      const id = batch.split?.operation_id ?? '';
      const split = known().works.get(id);
      if (ended !== null || split === undefined || isErased(split)) continue;
      if (key === operationFileKeyOf(id, batch.split?.file_sha256))
        say('stack-gone', `the file of ${id} is gone, and ${batch.batch_id} has not ended`);
    }
  };

  return {
    accepted,
    removed,
    /** Looks at the result of a part: it is of the pages of its place. */
    delivered: ({ id }: Work, result: string): void => {
      const batch = known().batchOf.get(id)?.accepted;
      if (batch?.split === undefined) return;
      const at = batch.document_ids.findIndex(
        (_, index) => operationIdOfDocument({ ...batch, index }) === id,
      );
      const { from } = JSON.parse(result) as Reading;
      if (from !== batch.split.pages[at])
        say(
          'wrong-pages',
          `${id} is of the pages ${String(batch.split.pages[at])}, and ${String(from)} were read`,
        );
    },
    look: async (): Promise<void> => {
      batchSums();
      if (told.restoredAt >= 0) return;
      for (const work of known().works.values())
        if (work.accepted?.kind === 'split' && !isErased(work)) await stack(work);
    },
  };
};
