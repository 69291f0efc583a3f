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

/** A value as it stands, with its name. */
function Standing({ row, isChosen, isDoubtful, isAccepted, onChoose }: FieldProps) {
  const { path, name, value } = row;
  const place = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isChosen) place.current?.focus();
  }, [isChosen]);
  return (
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
  );
}

function Typing({ row, typed, onType }: Pick<FieldProps, 'row' | 'onType'> & { typed: string }) {
  const place = useRef<HTMLInputElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <input
      ref={place}
      data-editing={row.path}
      aria-label={row.name}
      value={typed}
      onChange={({ target }) => onType(target.value)}
      className={CONTROL}
    />
  );
}

/** One value with its name. What is chosen has the focus, so that its keys are heard. */
function Field(props: FieldProps) {
  const { row, isChosen, typed, onType } = props;
  const { name, value, depth } = row;
  const style = { paddingLeft: `${String(depth)}rem` };
  if (value === undefined)
    return (
      <p className="pt-2 font-medium" style={style}>
        {name.replaceAll('_', ' ')}
      </p>
    );
  return (
    <div className="flex min-w-0 flex-col" style={style}>
      {isChosen && typed !== undefined ? (
        <Typing row={row} typed={typed} onType={onType} />
      ) : (
        <Standing {...props} />
      )}
    </div>
  );
}

/** The draft of a decision, and what keys do with it. */
const useDeciding = (review: Review, onDone: (result: Draft['result']) => void) => {
  const [draft, take] = useReducer(stepped, review, draftOf);
  const schema = useMemo(() => (review.schema ?? {}) as SchemaPart, [review.schema]);
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
  const undo = (): void => take({ kind: 'undo' });
  const whileTyping = ({ key }: KeyboardEvent): boolean => {
    if (key === 'Escape') type(undefined);
    else if (key === 'Enter' || key === 'Tab') say(typed ?? '');
    else return false;
    return true;
  };
  const whileChoosing = ({ key, shiftKey }: KeyboardEvent): boolean => {
    // at the last doubtful field the key goes on to what follows
    if (key === 'Tab') return next(left, shiftKey ? -1 : 1);
    if (Object.hasOwn(keys, key)) keys[key]?.();
    else if (key.length === 1 && key !== ' ') type(key);
    else return false;
    return true;
  };
  const onCommand = (key: string): boolean => {
    if (key === 'Enter') onDone(draft.result);
    else if (key === 'z' && typed === undefined) undo();
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey) return;
    const hear = typed === undefined ? whileChoosing : whileTyping;
    const isHeard = event.ctrlKey || event.metaKey ? onCommand(event.key) : hear(event);
    if (isHeard) event.preventDefault();
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
    page === null || bbox === null ? [] : [{ path, page, box: bbox }],
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
            conversion={NO_CONVERSION}
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

/** The file of a review, as soon as it is known what it is. */
const useFile = (reviewId: string, document: Review['document'] | undefined) =>
  useQuery({
    queryKey: ['reviewFile', reviewId],
    enabled: document != null,
    staleTime: Infinity,
    queryFn: () => (document == null ? undefined : fileOf(reviewId, document)),
  });

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
  const leaseError = useLease(review_id, isOpen);
  const decide = useChange('decideReview');
  const reopen = useChange('reopenReview');
  const file = useFile(review_id, document);
  const decided = async (): Promise<void> => {
    await cache.invalidateQueries({ queryKey: ['listReviews'] });
    go('/reviews');
  };
  const onDone = (result: Draft['result']): void => {
    if (decide.isPending || !isOpen) return;
    decide.mutate({ path, body: { result, generation } }, { onSuccess: () => void decided() });
  };
  return (
    <div className="flex flex-col gap-4">
      {[file.error, leaseError, decide.error, reopen.error].map((error, at) => (
        <ProblemNote key={at} error={error} />
      ))}
      {status === 'decided' && (
        <p className="flex items-center gap-3">
          {texts.decided}
          <Button isBusy={reopen.isPending} onClick={() => reopen.mutate({ path }, { onSuccess: readAgain })}>
            {texts.reopen}
          </Button>
        </p>
      )}
      <Deciding
        key={generation}
        review={review}
        file={file.data}
        onDone={onDone}
        isBusy={decide.isPending || !isOpen}
      />
    </div>
  );
}

/** One review. */
export function ReviewPage({ reviewId }: { reviewId: string }) {
  const { data: review, error, isPending, refetch } = useRead('getReview', { path: { review_id: reviewId } });
  return (
    <>
      <PageHeader title={review?.document?.file_name ?? texts.title} say={texts.say}>
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
