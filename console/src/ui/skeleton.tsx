import { shell } from '../texts/shell.ts';
import { classes } from './classes.ts';

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
