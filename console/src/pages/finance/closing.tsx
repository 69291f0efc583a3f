import type { BooksResponse, ClosedMonth as Closed } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { useChange, useRead } from '../../api/connection.ts';
import { finance as texts } from '../../texts/finance.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Operator } from '../../ui/names.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';

const { closing: words } = texts;

/** After a closing: what was read of the books is read again. */
const useReadAgain = (): (() => void) => {
  const client = useQueryClient();
  return () => {
    for (const name of ['listClosedMonths', 'getMarginReport', 'listStatements', 'getStatement'])
      void client.invalidateQueries({ queryKey: [name] });
  };
};

interface AskProps {
  readonly month: string;
  readonly isOpen: boolean;
  readonly onDone: () => void;
}

/** Asks before a month is closed. */
function AskToClose({ month, isOpen, onDone }: AskProps) {
  const close = useChange('closeMonth');
  const readAgain = useReadAgain();
  const confirm = (): void =>
    close.mutate(
      { path: { month } },
      {
        onSuccess: () => {
          toast.success(words.closed(month));
          onDone();
        },
        onSettled: readAgain,
      },
    );
  return (
    <Dialog isOpen={isOpen} onOpenChange={onDone} title={words.askClose(month)} say={words.sayClose}>
      <ProblemNote error={close.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{shell.cancel}</Button>
        <Button look="primary" isBusy={close.isPending} onClick={confirm}>
          {words.close(month)}
        </Button>
      </div>
    </Dialog>
  );
}

const REASON_MAX = 500;
const reopening = z.object({ reason: z.string().trim().min(1, words.needsReason).max(REASON_MAX) });

/** Asks why a month is opened again. */
function AskToReopen({ month, isOpen, onDone }: AskProps) {
  const reopen = useChange('reopenMonth');
  const readAgain = useReadAgain();
  const confirm = ({ reason }: z.output<typeof reopening>): void =>
    reopen.mutate(
      { path: { month }, body: { reason } },
      {
        onSuccess: () => {
          toast.success(words.reopened(month));
          onDone();
        },
        onSettled: readAgain,
      },
    );
  return (
    <Dialog isOpen={isOpen} onOpenChange={onDone} title={words.askReopen(month)} say={words.sayReopen}>
      <Form schema={reopening} initial={{ reason: '' }} onSubmit={confirm}>
        <TextField name="reason" label={words.reason} say={words.reasonSay} />
        <ProblemNote error={reopen.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onDone}>{shell.cancel}</Button>
          <Button type="submit" look="primary" isBusy={reopen.isPending}>
            {words.reopen}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function ClosedBy({ closed }: { closed: Closed }) {
  const { closing, cut_off_at } = closed;
  if (closing === null)
    return (
      <p className="text-soft">
        {words.cutOff} <Time at={cut_off_at} />. {words.unfinished}
      </p>
    );
  return (
    <p className="break-words text-soft">
      {words.closedAt} <Time at={closing.closed_at} /> {words.by}{' '}
      {closing.closed_by === null ? words.erased : <Operator id={closing.closed_by} />} · {words.position}{' '}
      {closing.position} · {words.digest}{' '}
      <code className="break-all text-[13px]" title={closing.digest}>
        {closing.digest.slice(0, 12)}
      </code>
    </p>
  );
}

/** Why a month cannot be closed now; undefined: it can. */
const hindrance = (
  { next_month, items }: BooksResponse,
  month: string,
  isOver: boolean,
): string | undefined => {
  if (!isOver) return words.notOver;
  const first = items.at(-1)?.month;
  if (first !== undefined && month < first) return words.beforeFirst(first);
  return next_month !== null && month !== next_month ? words.notNext(next_month) : undefined;
};

/** Closings of a month that were taken back. */
function Reopened({ books, month }: { books: BooksResponse; month: string }) {
  return books.reopened
    .filter((one) => one.month === month)
    .map(({ number, reason, reopened_at, reopened_by }) => (
      <p key={number} className="break-words text-soft">
        {words.reopenedAt} <Time at={reopened_at} /> {words.by}{' '}
        {reopened_by === null ? words.erased : <Operator id={reopened_by} />}: {reason}
      </p>
    ));
}

interface ActProps {
  readonly month: string;
  /** It cannot be done now. */
  readonly isDisabled: boolean;
}

function Close({ month, isDisabled }: ActProps) {
  const [asks, ask] = useState(false);
  return (
    <>
      <Button look="primary" className="self-center" disabled={isDisabled} onClick={() => ask(true)}>
        {words.close(month)}
      </Button>
      <AskToClose month={month} isOpen={asks} onDone={() => ask(false)} />
    </>
  );
}

function Reopen({ month, isDisabled }: ActProps) {
  const [asks, ask] = useState(false);
  return (
    <>
      <Button className="self-center" disabled={isDisabled} onClick={() => ask(true)}>
        {words.reopen}
      </Button>
      {asks && <AskToReopen month={month} isOpen onDone={() => ask(false)} />}
    </>
  );
}

function Standing({ books, month, isOver }: { books: BooksResponse; month: string; isOver: boolean }) {
  const closed = books.items.find((one) => one.month === month);
  const isDone = closed?.status === 'closed';
  const why = hindrance(books, month, isOver);
  const isLast = books.items[0]?.month === month;
  return (
    <>
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {words.title(month)}
          <Badge tone={isDone ? 'good' : 'neutral'}>{isDone ? words.isClosed : words.isOpen}</Badge>
        </p>
        {closed === undefined ? (
          <p className="text-soft">{why ?? words.canClose}</p>
        ) : (
          <ClosedBy closed={closed} />
        )}
        {isDone && !isLast && <p className="text-soft">{words.notLast}</p>}
        <Reopened books={books} month={month} />
      </div>
      {isDone ? (
        <Reopen month={month} isDisabled={!isLast} />
      ) : (
        <Close month={month} isDisabled={why !== undefined} />
      )}
    </>
  );
}

/** Whether a month is closed, by whom and when; it is closed and opened again in place. */
export function Closing({ month, isOver }: { month: string; isOver: boolean }) {
  const read = useRead('listClosedMonths');
  return (
    <section
      aria-label={words.title(month)}
      className="flex gap-3 rounded-lg border border-line bg-surface p-3"
    >
      {read.data !== undefined && <Standing key={month} books={read.data} month={month} isOver={isOver} />}
      {read.data === undefined && read.error === null && <Skeleton lines={2} />}
      <ProblemNote error={read.error} onRetry={() => void read.refetch()} />
    </section>
  );
}
