import { Inbox } from './icons/icons.tsx';
import type { ReactNode } from 'react';
import { classes } from './classes.ts';

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
