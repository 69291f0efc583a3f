import type { ReactNode } from 'react';
import { classes } from './classes.ts';

interface CardProps {
  readonly title?: string;
  /** Beside the title, at the right. */
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A part of a page with a frame and, mostly, a title. */
export function Card({ title, actions, className, children }: CardProps) {
  return (
    <section className={classes('min-w-0 rounded-lg border border-line bg-surface p-4', className)}>
      {(title !== undefined || actions !== undefined) && (
        <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
          <h2 className="font-semibold">{title}</h2>
          {actions}
        </div>
      )}
      {children}
    </section>
  );
}
