import { Check, CircleDashed, OctagonX, TriangleAlert } from '../../../ui/icons/icons.tsx';
import { audit as texts } from '../../../texts/audit.ts';
import { classes } from '../../../ui/classes.ts';
import { Time } from '../../../ui/values/time.tsx';
import type { Verdict } from '../verification/verifier.ts';
import type { SeenEvent } from './useEvents.ts';
import { wordsOf } from './words.ts';

/** Pixels of each event. */
export const LINE_HEIGHT = 60;

const MARKS = {
  verified: { icon: Check, look: 'bg-good-soft text-good' },
  waiting: { icon: CircleDashed, look: 'bg-sunken text-soft' },
  broken: { icon: OctagonX, look: 'bg-bad text-surface' },
  behind: { icon: TriangleAlert, look: 'bg-bad-soft text-bad' },
} as const;

/** A verdict as a sign with its name. */
export function Mark({ verdict }: { verdict: Verdict }) {
  const { icon: Icon, look } = MARKS[verdict.kind];
  return (
    <span
      role="img"
      aria-label={texts.verdict[verdict.kind]}
      title={texts.verdict[verdict.kind]}
      className={classes('z-10 inline-flex size-6 shrink-0 items-center justify-center rounded-full', look)}
    >
      <Icon aria-hidden className="size-3.5" />
    </span>
  );
}

interface EventLineProps {
  readonly id: string;
  readonly seen: SeenEvent;
  readonly verdict: Verdict;
  readonly top: number;
  readonly isActive: boolean;
  readonly onOpen: () => void;
}

/** One event of the timeline. */
export function EventLine({ id, seen, verdict, top, isActive, onOpen }: EventLineProps) {
  const { event } = seen;
  const { what, who, why, when } = wordsOf(event);
  const isBad = verdict.kind === 'broken' || verdict.kind === 'behind';
  return (
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      data-verdict={verdict.kind}
      data-position={event.position}
      onClick={onOpen}
      className={classes(
        'absolute inset-x-0 flex items-center gap-3 border-b border-line/60 px-4 hover:bg-sunken',
        isBad && 'bg-bad-soft/60',
        isActive && 'group-focus-visible/list:bg-accent-soft',
      )}
      style={{ height: LINE_HEIGHT, transform: `translateY(${String(top)}px)` }}
    >
      <span aria-hidden className="absolute inset-y-0 left-[27px] w-px bg-line" />
      <Mark verdict={verdict} />
      <span className="min-w-0 flex-1">
        <span className={classes('block truncate font-medium', verdict.kind === 'broken' && 'text-bad')}>
          {what}
        </span>
        <span className="block truncate text-[13px] text-soft">
          <span className="sm:hidden">
            <Time at={when} /> ·{' '}
          </span>
          {event.stream} · {texts.list.revision(event.revision)}
          {who !== undefined && ` · ${texts.list.by} ${who}`}
          {why !== undefined && ` · ${why}`}
        </span>
      </span>
      <span className="hidden shrink-0 text-right text-[13px] text-soft sm:block">
        <Time at={when} />
      </span>
    </div>
  );
}
