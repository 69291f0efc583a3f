import { isProblem, type Review } from '@quire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { z } from 'zod';
import { useChange, useRead } from '../../api/connection.ts';
import { connection } from '../../api/send.ts';
import { reviews as texts } from '../../texts/reviews.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { Go, useGo } from '../../ui/go.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { Deciding, forgetDraft } from './deciding.tsx';

const MINUTE_MS = 60_000;
/** A lease lasts 15 minutes. */
const RENEW_MS = 5 * MINUTE_MS;
/** While somebody else has it. */
const LOOK_MS = 10_000;
/** Of a lease that ended, by another clock than ours. */
const ENDED_MS = 1_000;

const fileOf = async (reviewId: string, document: NonNullable<Review['document']>): Promise<File> => {
  const response = await connection.fetch(`${connection.url}/v1/reviews/${reviewId}/file`);
  if (!response.ok) throw new Error(texts.noFault);
  const { file_name, mime_type: type } = document;
  return new File([await response.blob()], file_name ?? texts.document, { type });
};

interface Lease {
  /** Somebody else has it; undefined: it is ours, or will be. */
  readonly theirs: Review['lease'];
  readonly error: unknown;
}

/** Says that one looks at it no longer; where that is lost, the lease ends by itself. */
const leave = (reviewId: string): void => {
  // the page may be closing, and the answer is nobody's
  const request = { method: 'DELETE', keepalive: true };
  connection
    .fetch(`${connection.url}/v1/reviews/${reviewId}/lease`, request)
    .catch((): undefined => undefined);
};

/** How long until it is asked for again, that is somebody else's until then; they may leave it earlier. */
const waitMs = (until: string): number =>
  Math.min(LOOK_MS, Math.max(ENDED_MS, Date.parse(until) - Date.now() + ENDED_MS));

/** Says that one looks at it, for as long as one does; takes it over once nobody else has it. */
const useLease = ({ review_id }: Review, isOpen: boolean, onChanged: () => void): Lease => {
  const { mutateAsync } = useChange('leaseReview');
  const [lease, tell] = useState<Lease>({ theirs: null, error: null });
  const changed = useRef(onChanged);
  useEffect(() => {
    changed.current = onChanged;
  });
  useEffect(() => {
    if (!isOpen) return;
    let timer = 0;
    let isGone = false;
    let isOurs = false;
    let seen: string | undefined;
    const askAfter = (ms: number): void => {
      timer = window.setTimeout(() => void ask(), ms);
    };
    const ask = async (): Promise<void> => {
      const answer = await mutateAsync({ path: { review_id } }).catch((error: unknown) => ({ error }));
      isOurs = !('error' in answer);
      if (isGone) {
        if (isOurs) leave(review_id);
        return;
      }
      if (!('error' in answer)) {
        tell({ theirs: null, error: null });
        askAfter(RENEW_MS);
        return;
      }
      const { error } = answer;
      if (!isProblem(error, 'review_leased')) {
        tell({ theirs: null, error });
        changed.current();
        return;
      }
      const { lease_until = new Date().toISOString() } = error.problem;
      tell({ theirs: { held_by: '', lease_until }, error: null });
      if (seen !== lease_until) changed.current();
      seen = lease_until;
      askAfter(waitMs(lease_until));
    };
    const go = (): void => {
      if (isOurs) leave(review_id);
    };
    const comeBack = ({ persisted }: PageTransitionEvent): void => {
      if (!persisted) return;
      clearTimeout(timer);
      void ask();
    };
    void ask();
    window.addEventListener('pagehide', go);
    window.addEventListener('pageshow', comeBack);
    return () => {
      isGone = true;
      clearTimeout(timer);
      window.removeEventListener('pagehide', go);
      window.removeEventListener('pageshow', comeBack);
      go();
    };
  }, [review_id, isOpen, mutateAsync]);
  return lease;
};

/** Names keys of a tenant as people know them: by their names, else as the list of keys shows them. */
export const useKeyNames = (tenant_id: string): ((keyId: string) => string) => {
  const { data } = useRead('listApiKeys', { path: { tenant_id } });
  return (keyId) => {
    const key = data?.items.find(({ key_id }) => key_id === keyId);
    return key === undefined ? keyId : (key.name ?? `${key.prefix}…${key.last4}`);
  };
};

/** Who has it, and until when. */
function Theirs({ review, lease_until }: { review: Review; lease_until: string }) {
  const nameOf = useKeyNames(review.tenant_id);
  const holder = review.lease?.held_by;
  const name = holder == null ? texts.somebody : nameOf(holder);
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

/** When it was decided; or when it was rejected, and why. */
function Ended({ review: { decision, rejection } }: { review: Review }) {
  if (rejection === null)
    return (
      <span>
        {texts.decided} <Time at={decision?.decided_at} />.
      </span>
    );
  return (
    <span>
      {texts.reject.done} <Time at={rejection.rejected_at} />: {texts.reject.reasons[rejection.reason]}.{' '}
      {rejection.note}
    </span>
  );
}

const rejecting = z.object({
  reason: z.enum(['illegible', 'wrong_document', 'value_missing', 'other']),
  note: z.string().trim().max(2_000, texts.reject.tooLong),
});
const REASONS = Object.entries(texts.reject.reasons).map(([value, name]) => ({ value, name }));

/** Rejects the result, with a reason: nobody can say what the document says. */
function Reject({ review, onDone }: { review: Review; onDone: () => void }) {
  const { review_id, generation } = review;
  const [isOpen, open] = useState(false);
  const reject = useChange('rejectReview');
  const send = async ({ reason, note }: z.infer<typeof rejecting>): Promise<void> => {
    const body = { reason, generation, ...(note !== '' && { note }) };
    const answer = await reject.mutateAsync({ path: { review_id }, body }).catch(() => undefined); // the note says it
    if (answer !== undefined) onDone();
  };
  return (
    <p>
      <Button onClick={() => open(true)}>{texts.reject.open}</Button>
      <Dialog isOpen={isOpen} onOpenChange={open} title={texts.reject.title} say={texts.reject.say}>
        <Form schema={rejecting} initial={{ reason: 'illegible', note: '' }} onSubmit={send}>
          <SelectField name="reason" label={texts.reject.reason} choices={REASONS} />
          <TextField name="note" label={texts.reject.note} autoComplete="off" />
          <ProblemNote error={reject.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={() => open(false)}>{shell.cancel}</Button>
            <Button look="danger" type="submit" isBusy={reject.isPending}>
              {texts.reject.submit}
            </Button>
          </div>
        </Form>
      </Dialog>
    </p>
  );
}

interface OpenedProps {
  readonly review: Review;
  readonly readAgain: () => void;
}

/** A review that is there: to decide it, or as it was decided. */
function Opened({ review, readAgain }: OpenedProps) {
  const { review_id, status, generation, document } = review;
  const go = useGo();
  const cache = useQueryClient();
  const path = { review_id };
  const isOpen = status === 'open' || status === 'leased';
  const lease = useLease(review, isOpen, readAgain);
  const decide = useChange('decideReview');
  const reopen = useChange('reopenReview');
  const file = useFile(review_id, document);
  const decided = async (): Promise<void> => {
    forgetDraft(review);
    await cache.invalidateQueries({ queryKey: ['listReviews'] });
    go('/reviews');
  };
  const canDecide = isOpen && lease.theirs === null;
  const onDone = ({
    result,
    absent,
  }: {
    result: Record<string, unknown>;
    absent: readonly string[];
  }): void => {
    if (decide.isPending) return;
    const body = { result, generation, ...(absent.length > 0 && { absent: [...absent] }) };
    decide.mutate({ path, body }, { onSuccess: () => void decided(), onError: readAgain });
  };
  const { error: refusal, variables: sent } = decide;
  const refused = useMemo(
    () =>
      isProblem(refusal, 'output_schema_mismatch') && sent !== undefined
        ? { result: sent.body.result, faults: refusal.problem.validation_errors ?? [] }
        : null,
    [refusal, sent],
  );
  return (
    <div className="flex flex-col gap-4">
      {[file.error, lease.error, decide.error, reopen.error].map((error, at) => (
        <ProblemNote key={at} error={error} />
      ))}
      {lease.theirs !== null && isOpen && <Theirs review={review} lease_until={lease.theirs.lease_until} />}
      {canDecide && <Reject review={review} onDone={() => void decided()} />}
      {(status === 'decided' || status === 'rejected') && (
        <p className="flex flex-wrap items-center gap-3">
          <Ended review={review} />
          <Button isBusy={reopen.isPending} onClick={() => reopen.mutate({ path }, { onSuccess: readAgain })}>
            {texts.reopen}
          </Button>
        </p>
      )}
      <Deciding
        key={`${String(generation)} ${String(isOpen)}`}
        review={review}
        refused={refused}
        file={file.data}
        onDone={onDone}
        isOpen={isOpen}
        canDecide={canDecide}
        isBusy={decide.isPending}
      />
    </div>
  );
}

/** One review. */
export function ReviewPage({ reviewId }: { reviewId: string }) {
  const { data: review, error, isPending, refetch } = useRead('getReview', { path: { review_id: reviewId } });
  return (
    <>
      <PageHeader title={review?.document?.file_name ?? texts.title} say={texts.sayOne}>
        <Go to="/reviews">{texts.back}</Go>
      </PageHeader>
      <ProblemNote error={error} />
      {isPending && <Skeleton lines={8} className="h-10" />}
      {review?.status === 'expired' && <p>{texts.expired}</p>}
      {review !== undefined && review.status !== 'expired' && (
        <Opened review={review} readAgain={() => void refetch()} />
      )}
    </>
  );
}
