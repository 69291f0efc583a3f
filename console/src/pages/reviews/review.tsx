import { isProblem, type Review } from '@quire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { quire, useChange, useRead } from '../../api/connection.ts';
import { connection } from '../../api/send.ts';
import { useActing } from '../../api/session.ts';
import { reviews as texts } from '../../texts/reviews.ts';
import { shell, statusName } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHeader } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { Go, useAddressValue, useGo } from '../../ui/go.tsx';
import { useActorNames } from '../../ui/names.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { comeBackTo } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';
import { Deciding } from './deciding.tsx';
import { isOver, useLease } from './lease.ts';
import { forgetDraft, type Deciding as Given } from './moves.ts';

const fileOf = async (reviewId: string, document: NonNullable<Review['document']>): Promise<File> => {
  const response = await connection.fetch(`${connection.url}/v1/reviews/${reviewId}/file`);
  if (!response.ok) throw new Error(texts.noFault);
  const { file_name, mime_type: type } = document;
  return new File([await response.blob()], file_name ?? texts.document, { type });
};

/** Who has it, and until when. */
function Theirs({ review, lease_until }: { review: Review; lease_until: string }) {
  const nameOf = useActorNames(review.tenant_id);
  const name = nameOf(review.lease?.held_by ?? null);
  return (
    <p role="status" className="rounded-lg border border-line bg-warn-soft p-3">
      <b className="font-medium">{texts.theirs(name)}</b> {texts.until} <Time at={lease_until} />.{' '}
      {texts.canLook}
    </p>
  );
}

/** The file of a review, as soon as it is known what it is. */
const useFile = (reviewId: string, document: Review['document'] | undefined) =>
  useQuery({
    queryKey: ['reviewFile', reviewId],
    enabled: document != null,
    staleTime: Infinity,
    queryFn: () => (document == null ? undefined : fileOf(reviewId, document)),
  });

type Move = Review['history'][number];

const sayOf = ({ kind, counts, reason }: Move): string => {
  if (kind === 'decided' && counts !== null) return texts.history.decided(counts);
  return reason === null ? texts.history.reopened : texts.history.rejected(texts.reject.reasons[reason]);
};

/** What a person did to it last. */
function Last({ review }: { review: Review }) {
  const nameOf = useActorNames(review.tenant_id);
  const last = review.history.at(-1);
  if (last === undefined) return null;
  return (
    <>
      <bdi>{nameOf(last.by)}</bdi> {sayOf(last)} · <Time at={last.at} />
    </>
  );
}

/** Who did what to a review, the last one first. */
function History({ review }: { review: Review }) {
  const { history, opened_at, decision, rejection } = review;
  const nameOf = useActorNames(review.tenant_id);
  const note = (rejection ?? decision)?.note;
  return (
    <Card title={texts.history.title}>
      <ol className="flex flex-col gap-1">
        {history.toReversed().map((move, at) => (
          <li key={at}>
            <b className="font-medium">
              <bdi>{nameOf(move.by)}</bdi>
            </b>{' '}
            {sayOf(move)} · <Time at={move.at} />
            {at === 0 && note != null && <p className="text-soft">{texts.history.note(note)}</p>}
          </li>
        ))}
        <li>
          {texts.history.opened} · <Time at={opened_at} />
        </li>
      </ol>
    </Card>
  );
}

const rejecting = z.object({
  reason: z.enum(['illegible', 'wrong_document', 'value_missing', 'other']),
  note: z.string().trim().max(2_000, texts.reject.tooLong),
});
const REASONS = Object.entries(texts.reject.reasons).map(([value, name]) => ({ value, name }));

interface RejectProps {
  readonly review: Review;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly onDone: () => void;
}

/** Rejects the result, with a reason: nobody can say what the document says. */
function Reject({ review, isOpen, onOpenChange, onDone }: RejectProps) {
  const { review_id, generation } = review;
  const reject = useChange('rejectReview');
  const send = async ({ reason, note }: z.infer<typeof rejecting>): Promise<void> => {
    const body = { reason, generation, ...(note !== '' && { note }) };
    const answer = await reject.mutateAsync({ path: { review_id }, body }).catch(() => undefined); // the note says it
    if (answer !== undefined) onDone();
  };
  return (
    <Dialog isOpen={isOpen} onOpenChange={onOpenChange} title={texts.reject.title} say={texts.reject.say}>
      <Form schema={rejecting} initial={{ reason: 'illegible', note: '' }} onSubmit={send}>
        <SelectField name="reason" label={texts.reject.reason} choices={REASONS} />
        <TextField name="note" label={texts.reject.note} autoComplete="off" />
        <ProblemNote error={reject.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={() => onOpenChange(false)}>{shell.cancel}</Button>
          <Button look="danger" type="submit" isBusy={reject.isPending}>
            {texts.reject.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const isTaken = ({ lease }: Pick<Review, 'lease'>, who: string): boolean =>
  lease !== null && lease.held_by !== who;

/** The next review in the list that this person can decide, or the one before; undefined: none is left. */
const findNext = async (review: Review, who: string, by: 1 | -1): Promise<string | undefined> => {
  const { review_id, tenant_id, opened_at } = review;
  let first: string | undefined;
  let before: string | undefined;
  let last: string | undefined;
  for await (const item of quire.lists.listReviews({ query: { tenant_id, decided: false, limit: PAGE } })) {
    if (item.review_id === review_id || isTaken(item, who)) continue;
    if (item.opened_at < opened_at) {
      const found = by === 1 ? item.review_id : before;
      if (found !== undefined) return found;
    } else before = item.review_id;
    first ??= item.review_id;
    last = item.review_id;
  }
  // past an end it goes on at the other one
  return by === 1 ? first : last;
};
const PAGE = 200;

/** Ways from a review: to another one that is open, or to the list. */
const useWays = (review: Review) => {
  const { session } = useActing();
  const go = useGo();
  const cache = useQueryClient();
  const [show] = useAddressValue('show');
  const query = show === undefined ? '' : `?show=${show}`;
  const toNext = async (by: 1 | -1): Promise<void> => {
    const next = await findNext(review, session.subject, by).catch(() => undefined); // the list says why
    if (next !== undefined) comeBackTo(texts.all, next);
    go(next === undefined ? '/reviews' : `/reviews/${next}`);
  };
  return {
    toNext,
    toList: () => go(`/reviews${query}`),
    /** Says what was done, and goes on. */
    done: async (said: string): Promise<void> => {
      forgetDraft(review);
      toast(said);
      // what was decided does not stand among what waits until the list is read again
      cache.removeQueries({ queryKey: ['listReviews'] });
      await cache.invalidateQueries({ queryKey: ['getReview'], refetchType: 'none' });
      await toNext(1);
    },
  };
};

interface OpenedProps {
  readonly review: Review;
  readonly readAgain: () => void;
}

/** Sends decisions. What cannot be decided any more is read again, and shows how it stands. */
const useDecision = (review: Review, { readAgain, done }: { readAgain: () => void; done: () => void }) => {
  const decide = useChange('decideReview');
  const { review_id, generation } = review;
  const { error: refusal, variables: sent } = decide;
  const onDone: Given['onDone'] = ({ result, absent }) => {
    if (decide.isPending) return;
    const body = { result, generation, ...(absent.length > 0 && { absent: [...absent] }) };
    decide.mutate({ path: { review_id }, body }, { onSuccess: done, onError: readAgain });
  };
  const refused = useMemo(
    () =>
      isProblem(refusal, 'output_schema_mismatch') && sent !== undefined
        ? { result: sent.body.result, faults: refusal.problem.validation_errors ?? [] }
        : null,
    [refusal, sent],
  );
  return { onDone, refused, error: isOver(refusal) ? null : refusal, isBusy: decide.isPending };
};

const STILL_OPEN: ReadonlySet<string> = new Set(['open', 'leased']);

/** A review that is there: to decide it, or as it was decided. */
function Opened({ review, readAgain }: OpenedProps) {
  const { review_id, status, generation, document, tenant_id } = review;
  const isOpen = STILL_OPEN.has(status);
  const ways = useWays(review);
  const lease = useLease(review, isOpen, readAgain);
  const reopen = useChange('reopenReview');
  const file = useFile(review_id, document);
  const nameOf = useActorNames(tenant_id);
  const [isRejecting, reject] = useState(false);
  const done = (said: string) => () => void ways.done(said);
  const { error, ...decision } = useDecision(review, { readAgain, done: done(texts.submitted) });
  const canDecide = isOpen && lease.theirs === null;
  return (
    <div className="flex flex-col gap-4">
      {[file.error, lease.error, error, reopen.error].map((one, at) => (
        <ProblemNote key={at} error={one} />
      ))}
      {lease.theirs !== null && isOpen && <Theirs review={review} lease_until={lease.theirs.lease_until} />}
      {!isOpen && (
        <p role="status" className="flex flex-wrap items-center gap-3">
          <span>
            {statusName(status)}: <Last review={review} />
          </span>
          <Button
            isBusy={reopen.isPending}
            onClick={() => reopen.mutate({ path: { review_id } }, { onSuccess: readAgain })}
          >
            {texts.reopen}
          </Button>
        </p>
      )}
      <Deciding
        key={`${String(generation)} ${String(isOpen)}`}
        {...decision}
        review={review}
        file={file.data}
        isOpen={isOpen}
        canDecide={canDecide}
        onReject={() => reject(canDecide)}
        onGo={(by) => void ways.toNext(by)}
        onLeave={ways.toList}
        nameOf={nameOf}
      />
      <History review={review} />
      <Reject review={review} isOpen={isRejecting} onOpenChange={reject} onDone={done(texts.rejected)} />
    </div>
  );
}

/** How many reviews of a tenant can be decided. */
function Waiting({ tenant_id }: { tenant_id: string }) {
  const query = { tenant_id, decided: false, limit: 1 };
  const { data } = useRead('listReviews', { query });
  return data === undefined ? null : <span className="text-soft">{texts.waiting(data.total)}</span>;
}

/** A review as it stands; of one that has expired there is nothing to see. */
function Standing(props: OpenedProps) {
  return props.review.status === 'expired' ? <p>{texts.expired}</p> : <Opened {...props} />;
}

/** One review. */
export function ReviewPage({ reviewId }: { reviewId: string }) {
  const [show] = useAddressValue('show');
  const { data: review, error, isPending, refetch } = useRead('getReview', { path: { review_id: reviewId } });
  return (
    <>
      <PageHeader title={review?.document?.file_name ?? texts.title} say={texts.sayOne}>
        {review !== undefined && <Waiting tenant_id={review.tenant_id} />}
        <Go to={show === undefined ? '/reviews' : `/reviews?show=${show}`}>{texts.back}</Go>
      </PageHeader>
      <ProblemNote error={error} />
      {isPending && <Skeleton lines={8} className="h-10" />}
      {review !== undefined && <Standing review={review} readAgain={() => void refetch()} />}
    </>
  );
}
