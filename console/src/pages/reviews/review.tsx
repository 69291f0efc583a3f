import type { Review } from '@quire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useReducer, useRef, useState, type KeyboardEvent } from 'react';
import { useChange, useRead } from '../../api/connection.ts';
import { connection } from '../../api/send.ts';
import { DocumentView } from '../../document/documentView.tsx';
import { valueRows, type SchemaPart, type ValueRow } from '../../document/values.ts';
import { reviews as texts } from '../../texts/reviews.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card, PageHeader } from '../../ui/card.tsx';
import { Go, useGo } from '../../ui/go.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { classes, CONTROL } from '../../ui/style.ts';
import { rowOf, stepped, typedValue, type Draft } from './draft.ts';

const MINUTE_MS = 60_000;
/** A lease lasts 15 minutes. */
const RENEW_MS = 5 * MINUTE_MS;

const fileOf = async (reviewId: string, document: NonNullable<Review['document']>): Promise<File> => {
  const response = await connection.fetch(`${connection.url}/v1/reviews/${reviewId}/file`);
  if (!response.ok) throw new Error(texts.noFault);
  const { file_name, mime_type: type } = document;
  return new File([await response.blob()], file_name ?? texts.document, { type });
};

/** Says that one looks at it, for as long as one does. */
const useLease = (reviewId: string, isOpen: boolean): unknown => {
  const { mutate, error } = useChange('leaseReview');
  useEffect(() => {
    if (!isOpen) return;
    const lease = (): void => mutate({ path: { review_id: reviewId } });
    lease();
    const timer = setInterval(lease, RENEW_MS);
    return () => clearInterval(timer);
  }, [reviewId, isOpen, mutate]);
  return error;
};

const draftOf = ({ result, citations, reasons }: Review): Draft => ({
  ...{ result: result ?? {}, citations, accepted: new Set<string>(), before: undefined },
  doubts: reasons.map(({ path }) => path),
});

const isAbout = (doubt: string, path: string): boolean => path === doubt || path.startsWith(`${doubt}/`);

interface FieldProps {
  readonly row: ValueRow;
  readonly isChosen: boolean;
  readonly isDoubtful: boolean;
  readonly isAccepted: boolean;
  /** What is being typed; undefined: nothing. */
  readonly typed: string | undefined;
  readonly onType: (text: string) => void;
  readonly onChoose: () => void;
}

/** One value with its name. What is chosen has the focus, so that its keys are heard. */
function Field({ row, isChosen, isDoubtful, isAccepted, typed, onType, onChoose }: FieldProps) {
  const { path, name, value, depth, errors } = row;
  const place = useRef<HTMLButtonElement & HTMLInputElement>(null);
  const isTyped = isChosen && typed !== undefined;
  useEffect(() => {
    if (isChosen) place.current?.focus();
  }, [isChosen, isTyped]);
  if (value === undefined)
    return (
      <p className="pt-2 font-medium" style={{ paddingLeft: `${String(depth)}rem` }}>
        {name.replaceAll('_', ' ')}
      </p>
    );
  return (
    <div className="flex min-w-0 flex-col" style={{ paddingLeft: `${String(depth)}rem` }}>
      {isTyped ? (
        <input
          ref={place}
          data-editing={path}
          aria-label={name}
          value={typed}
          onChange={({ target }) => onType(target.value)}
          className={CONTROL}
        />
      ) : (
        <button
          ref={place}
          type="button"
          data-field={path}
          data-doubtful={isDoubtful && !isAccepted ? '' : undefined}
          aria-pressed={isChosen}
          tabIndex={isChosen ? 0 : -1}
          onClick={onChoose}
          className={classes(
            'flex min-h-8 items-center gap-2 rounded-md border px-2 py-1 text-left hover:bg-sunken',
            isChosen ? 'border-accent bg-accent-soft' : 'border-transparent',
          )}
        >
          <span className="w-2/5 min-w-0 shrink-0 text-[13px] break-words text-soft">
            {name.replaceAll('_', ' ')}
          </span>
          <span className="min-w-0 flex-1 break-words">
            {value ?? <i className="text-soft">{texts.nothing}</i>}
          </span>
          {isDoubtful && (
            <Badge tone={isAccepted ? 'good' : 'warn'}>{isAccepted ? texts.accepted : texts.doubtful}</Badge>
          )}
        </button>
      )}
      {errors.map((fault) => (
        <p key={fault} className="px-2 text-[13px] text-bad">
          {fault}
        </p>
      ))}
    </div>
  );
}

/** The draft of a decision, and what keys do with it. */
const useDeciding = (review: Review, onDone: (result: Draft['result']) => void) => {
  const [draft, take] = useReducer(stepped, review, draftOf);
  const schema = (review.schema ?? {}) as SchemaPart;
  const rows = useMemo(
    () => valueRows(draft.result, schema, { citations: draft.citations, errors: null }),
    [draft, schema],
  );
  const fields = rows.filter(({ value }) => value !== undefined);
  const isDoubtful = ({ path }: ValueRow): boolean => draft.doubts.some((doubt) => isAbout(doubt, path));
  const left = fields.filter((row) => isDoubtful(row) && !draft.accepted.has(row.path));
  const [chosen, choose] = useState<string | undefined>(() => (left[0] ?? fields[0])?.path);
  const [typed, type] = useState<string>();
  const pick = (path: string | undefined): void => {
    type(undefined);
    choose(path);
  };
  const next = (among: readonly ValueRow[], by: 1 | -1): boolean => {
    const order = by === 1 ? fields : [...fields].reverse();
    const from = order.findIndex(({ path }) => path === chosen);
    const found = order.slice(from + 1).find((row) => among.includes(row));
    if (found === undefined) return false;
    pick(found.path);
    return true;
  };
  const set = (value: unknown): void => {
    if (chosen === undefined) return;
    take({ kind: 'set', path: chosen, value });
    if (
      !next(
        left.filter(({ path }) => path !== chosen),
        1,
      )
    )
      pick(chosen);
  };
  const say = (text: string): void => set(typedValue(schema, chosen ?? '', text.trim()));
  const accept = (): void => {
    if (chosen === undefined) return;
    take({ kind: 'accept', path: chosen });
    next(
      left.filter(({ path }) => path !== chosen),
      1,
    );
  };
  const changeRow = (kind: 'add' | 'remove' | 'join'): void => {
    const row = chosen === undefined ? undefined : rowOf(draft.result, chosen);
    if (row === undefined) return;
    take({ kind, ...row });
    if (kind !== 'add') pick(undefined);
  };
  const keys: Readonly<Record<string, () => unknown>> = {
    j: () => next(left, 1),
    k: () => next(left, -1),
    ArrowDown: () => next(fields, 1),
    ArrowUp: () => next(fields, -1),
    Enter: accept,
    n: () => set(null),
    e: () => type(fields.find(({ path }) => path === chosen)?.value ?? ''),
    a: () => changeRow('add'),
    d: () => changeRow('remove'),
    m: () => changeRow('join'),
  };
  const whileTyping = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') type(undefined);
    else if (event.key === 'Enter' || event.key === 'Tab') say(typed ?? '');
    else return;
    event.preventDefault();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key === 'Enter') onDone(draft.result);
    else if (isCommand && event.key === 'z' && typed === undefined) take({ kind: 'undo' });
    else if (isCommand || event.altKey) return;
    else if (typed !== undefined) {
      whileTyping(event);
      return;
    } else if (event.key === 'Tab') {
      // at the last doubtful field the key goes on to what follows
      if (!next(left, event.shiftKey ? -1 : 1)) return;
    } else if (Object.hasOwn(keys, event.key)) keys[event.key]?.();
    else if (event.key.length === 1 && event.key !== ' ') type(event.key);
    else return;
    event.preventDefault();
  };
  return { draft, rows, left, chosen, typed, isDoubtful, pick, type, say, take, changeRow, onKeyDown };
};

const NO_CONVERSION = {
  ...{ data: undefined, error: null, isPending: false, step: undefined, credits: undefined },
  convert: () => Promise.resolve(undefined),
  stop: () => undefined,
};

interface DecidingProps {
  readonly review: Review;
  readonly file: File | undefined;
  readonly onDone: (result: Draft['result']) => void;
  readonly isBusy: boolean;
}

/** The document at the left, its values at the right. */
function Deciding({ review, file, onDone, isBusy }: DecidingProps) {
  const deciding = useDeciding(review, onDone);
  const { draft, rows, left, chosen, typed, isDoubtful, pick, type, say, take, changeRow } = deciding;
  const marks = draft.citations.flatMap(({ path, page, bbox }) =>
    page === null || bbox === null
      ? []
      : [{ path, page, box: bbox as unknown as readonly [number, number, number, number] }],
  );
  const hasRow = chosen !== undefined && rowOf(draft.result, chosen) !== undefined;
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[3fr_2fr]">
      <Card title={texts.document}>
        {file === undefined ? (
          <Skeleton className="h-96" />
        ) : (
          <DocumentView
            file={file}
            rows={rows}
            marks={marks}
            chosen={chosen}
            onChoose={pick}
            conversion={NO_CONVERSION as never}
            onPages={() => undefined}
            onFault={() => undefined}
            onDrawn={(words) => {
              if (words !== '') say(words);
            }}
          />
        )}
      </Card>
      <Card
        title={texts.fields}
        actions={<Badge tone={left.length === 0 ? 'good' : 'warn'}>{texts.left(left.length)}</Badge>}
      >
        <div
          role="group"
          aria-label={texts.fields}
          onKeyDown={deciding.onKeyDown}
          className="flex max-h-[65vh] flex-col gap-0.5 overflow-auto"
        >
          {rows.map((row) => (
            <Field
              key={row.path}
              row={row}
              isChosen={row.path === chosen}
              isDoubtful={isDoubtful(row)}
              isAccepted={draft.accepted.has(row.path)}
              typed={typed}
              onType={type}
              onChoose={() => pick(row.path)}
            />
          ))}
        </div>
        <p className="mt-3 text-[13px] text-soft">{texts.keys}</p>
        <div className="mt-3 flex flex-wrap gap-2 border-t border-line pt-3">
          <Button look="primary" isBusy={isBusy} onClick={() => onDone(draft.result)}>
            {texts.done}
          </Button>
          <Button disabled={draft.before === undefined} onClick={() => take({ kind: 'undo' })}>
            {texts.undo}
          </Button>
          {hasRow &&
            (['add', 'remove', 'join'] as const).map((kind) => (
              <Button key={kind} look="quiet" onClick={() => changeRow(kind)}>
                {texts.row[kind]}
              </Button>
            ))}
        </div>
      </Card>
    </div>
  );
}

/** One review: to decide it, or as it was decided. */
export function ReviewPage({ reviewId }: { reviewId: string }) {
  const go = useGo();
  const cache = useQueryClient();
  const path = { review_id: reviewId };
  const read = useRead('getReview', { path });
  const review = read.data;
  const status = review?.status;
  const isOpen = status === 'open' || status === 'leased';
  const leaseError = useLease(reviewId, isOpen);
  const decide = useChange('decideReview');
  const reopen = useChange('reopenReview');
  const document = review?.document;
  const file = useQuery({
    queryKey: ['reviewFile', reviewId],
    enabled: document != null,
    staleTime: Infinity,
    queryFn: () => (document == null ? undefined : fileOf(reviewId, document)),
  });
  const onDone = (result: Draft['result']): void => {
    if (review === undefined || decide.isPending || !isOpen) return;
    const body = { result, generation: review.generation };
    decide.mutate(
      { path, body },
      {
        onSuccess: async () => {
          await cache.invalidateQueries({ queryKey: ['listReviews'] });
          go('/reviews');
        },
      },
    );
  };
  return (
    <>
      <PageHeader title={document?.file_name ?? texts.title} say={texts.say}>
        <Go to="/reviews">{texts.back}</Go>
        {status === 'decided' && (
          <Button
            isBusy={reopen.isPending}
            onClick={() => reopen.mutate({ path }, { onSuccess: () => void read.refetch() })}
          >
            {texts.reopen}
          </Button>
        )}
      </PageHeader>
      <div className="flex flex-col gap-4">
        {[read.error, file.error, leaseError, decide.error, reopen.error].map((error, at) => (
          <ProblemNote key={at} error={error} />
        ))}
        {read.isPending && <Skeleton lines={8} className="h-10" />}
        {status === 'expired' && <p>{texts.expired}</p>}
        {status === 'decided' && <p>{texts.decided}</p>}
        {review !== undefined && status !== 'expired' && (
          <Deciding
            key={review.generation}
            review={review}
            file={file.data}
            onDone={onDone}
            isBusy={decide.isPending || !isOpen}
          />
        )}
      </div>
    </>
  );
}
