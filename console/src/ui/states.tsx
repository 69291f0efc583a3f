import { Inbox, CircleAlert } from './icons/icons.tsx';
import { useEffect, useState, type ReactNode } from 'react';
import { classes } from './style.ts';
import { shell, statusName } from '../texts/shell.ts';
import { faultOf } from '../api/faults.ts';
import { Button } from './button.tsx';
import { Badge, type Tone } from './card.tsx';
import { Copy } from './values.tsx';

/** Nothing is here yet: says what to do first. */
export function Empty({ title, say, children }: { title: string; say?: string; children?: ReactNode }) {
  return (
    <div
      className={classes(
        'flex flex-col items-center gap-2 rounded-lg',
        'border border-dashed border-line px-4 py-12 text-center',
      )}
    >
      <Inbox aria-hidden className="size-6 text-soft" />
      <p className="font-medium">{title}</p>
      {say !== undefined && <p className="max-w-prose text-soft">{say}</p>}
      {children}
    </div>
  );
}

/** Stands where something is being loaded. */
export function Skeleton({ className, lines = 1 }: { className?: string; lines?: number }) {
  return (
    <div role="status" aria-label={shell.loading} className="flex flex-col gap-2">
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className={classes('h-5 animate-pulse rounded bg-line/60', className)} />
      ))}
    </div>
  );
}

/** Of those that stand for neither well nor ill, nothing is said. */
const TONES: Readonly<Record<string, Tone>> = {
  pending: 'accent',
  running: 'accent',
  scoring: 'accent',
  leased: 'accent',
  cancelling: 'warn',
  interrupted: 'warn',
  partial: 'warn',
  needs_review: 'warn',
  open: 'warn',
  succeeded: 'good',
  ended: 'good',
  delivered: 'good',
  active: 'good',
  decided: 'good',
  failed: 'bad',
  rejected: 'bad',
};

/** The status of something, as a word with its colour. */
export function Status({ status }: { status: string }) {
  return <Badge tone={TONES[status] ?? 'neutral'}>{statusName(status)}</Badge>;
}

interface ProgressBarProps {
  readonly label: string;
  /** Left out: nothing is known of how far it is. */
  readonly value?: number;
  readonly max?: number;
}

/** How much of a whole is done or in use. */
export function ProgressBar({ label, value, max = 1 }: ProgressBarProps) {
  return (
    <progress
      aria-label={label}
      {...(value === undefined ? {} : { value })}
      max={Math.max(1, max)}
      className={classes(
        'h-2 w-full min-w-24 flex-1 appearance-none overflow-hidden rounded-full bg-line',
        value === undefined
          ? 'animate-pulse [&::-webkit-progress-bar]:bg-accent/40'
          : '[&::-webkit-progress-bar]:bg-line',
        '[&::-moz-progress-bar]:bg-accent [&::-webkit-progress-value]:bg-accent',
      )}
    />
  );
}

const secondsTo = (time: number | undefined): number =>
  time === undefined ? 0 : Math.max(0, Math.ceil((time - Date.now()) / 1_000));

/** Seconds until a time, counted down. */
const useCountdown = (time: number | undefined): number => {
  const [left, keep] = useState(() => secondsTo(time));
  useEffect(() => {
    const count = (): void => keep(secondsTo(time));
    count();
    const timer = setInterval(count, 500);
    return () => clearInterval(timer);
  }, [time]);
  return left;
};

function RetryButton({ retryAt, onRetry }: { retryAt: number | undefined; onRetry: () => void }) {
  const left = useCountdown(retryAt);
  return (
    <Button size="small" disabled={left > 0} onClick={onRetry}>
      {left > 0 ? shell.retryIn(left) : shell.retry}
    </Button>
  );
}

/** What went wrong, what to do, the request's ID, and "try again" after the wait that the service asks for. */
export function ProblemNote({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  if (error === null || error === undefined) return null;
  const { title, detail, requestId, retryAt, canRetry } = faultOf(error);
  return (
    <div role="alert" className="flex gap-2 rounded-lg border border-bad/40 bg-bad-soft p-3 text-ink">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="flex min-w-0 flex-1 flex-col items-start gap-1">
        <p className="font-medium">{title}</p>
        {detail !== undefined && <p className="break-words">{detail}</p>}
        {requestId !== undefined && (
          <p className="text-[13px] text-soft">
            {shell.request} <code>{requestId}</code> <Copy text={requestId} />
          </p>
        )}
        {onRetry !== undefined && canRetry && <RetryButton retryAt={retryAt} onRetry={onRetry} />}
      </div>
    </div>
  );
}
