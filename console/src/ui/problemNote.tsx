import { CircleAlert } from './icons/icons.tsx';
import { useEffect, useState } from 'react';
import { faultOf } from '../api/faults.ts';
import { shell } from '../texts/shell.ts';
import { Button } from './button.tsx';
import { Copy } from './values/copy.tsx';

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
